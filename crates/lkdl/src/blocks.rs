//! Data that come in blocks, and sums over blocks that do not depend on who added them.
//!
//! What the method learns from the data are sums: they can be formed block by block, on one machine
//! or on many, and added. Floating-point sums depend on their order, so [`BlockSums`] fixes it: the
//! blocks are the leaves of a tree, numbered from 0, whose nodes have r children each, added from the
//! left. A shard that has seen blocks 3 to 7 holds what it can add of them; merged with the shard that
//! has seen 0 to 2 it holds the sum over 0 to 7, the same bits as one pass over all of them, in any
//! order.
//!
//! Who knows how many blocks there are, B, takes r = ⌈√B⌉ ([`Order::of`]): blocks are added up to
//! groups, and groups to the total. When blocks come in order, these two sums are all that is held,
//! however many blocks there are; and 2r additions one after the other are the most that workers wait
//! for. Who does not know it has r = 16, and one sum for every digit of the count.

use crate::error::LkdlError;
use crate::real::Real;
use faer::Mat;
use std::collections::BTreeMap;

/// Some of the samples, one per column.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<T: Real> {
    /// X, p×n.
    pub samples: Mat<T>,
    /// Their class indices; empty where there are none.
    pub labels: Vec<usize>,
}

/// Samples that come block after block, the same blocks every time. The next one is asked for, maybe on
/// another thread, while the last one is worked on.
pub trait Source<T: Real>: Send {
    /// The next block; `None` after the last.
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError>;

    /// Back to the first block.
    fn rewind(&mut self) -> Result<(), LkdlError>;
}

/// Calls `each` with all blocks that are left, in their order, and reads the next one meanwhile.
pub(crate) fn for_each_block<T: Real>(
    source: &mut dyn Source<T>,
    mut each: impl FnMut(Block<T>) -> Result<(), LkdlError> + Send,
) -> Result<(), LkdlError> {
    let mut next = source.next_block()?;
    while let Some(block) = next {
        let (done, read) = rayon::join(|| each(block), || source.next_block());
        // what is wrong with a block comes before what is wrong with the one after it
        done?;
        next = read?;
    }
    Ok(())
}

/// Something that adds.
pub trait Add {
    /// Adds the sum over later blocks.
    fn add(&mut self, later: Self);
}

/// A block that has nothing to add is `None`, and still has its place in the tree.
impl<S: Add> Add for Option<S> {
    fn add(&mut self, later: Self) {
        match (self, later) {
            (Some(sum), Some(later)) => sum.add(later),
            (sum @ None, later) => *sum = later,
            (Some(_), None) => {}
        }
    }
}

/// The order in which sums over blocks are added: r neighbours at a time, from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    radix: usize,
}

impl Default for Order {
    /// For a number of blocks that is not known before.
    fn default() -> Self {
        Self { radix: 16 }
    }
}

impl Order {
    /// For so many blocks: groups of ⌈√B⌉ of them.
    pub fn of(n_blocks: usize) -> Self {
        let root = n_blocks.isqrt();
        let radix = if root * root < n_blocks { root + 1 } else { root };
        Self { radix: radix.max(2) }
    }

    /// Neighbours that are added up at a time.
    pub fn radix(self) -> usize {
        self.radix
    }

    /// Sums that are held at most while so many blocks come in order.
    pub fn n_held(self, n_blocks: usize) -> usize {
        // a sum per digit, of all counts before the last block
        let digits =
            std::iter::successors(Some(n_blocks.saturating_sub(1)), |n| Some(n / self.radix));
        digits.take_while(|&n| n > 0).count().max(1)
    }

    /// Blocks of a full node so many levels above the leaves.
    fn width(self, level: u32) -> usize {
        self.radix.saturating_pow(level)
    }
}

/// The sum over the first children of a node.
#[derive(Debug, Clone)]
struct Part<S> {
    /// Of the children, above the leaves.
    level: u32,
    /// How many of them.
    count: usize,
    sum: S,
}

/// Sums over numbered blocks, the same bits whatever the order or the shards they came in.
#[derive(Debug, Clone)]
pub struct BlockSums<S> {
    order: Order,
    /// By first block. A node that is full is the first child of its parent, or waits for those before.
    parts: BTreeMap<usize, Part<S>>,
}

impl<S> Default for BlockSums<S> {
    fn default() -> Self {
        Self::new(Order::default())
    }
}

impl<S> BlockSums<S> {
    /// Sums over no blocks yet.
    pub fn new(order: Order) -> Self {
        Self { order, parts: BTreeMap::new() }
    }

    /// The order they are added in.
    pub fn order(&self) -> Order {
        self.order
    }
}

impl<S: Add> BlockSums<S> {
    /// The sum of one block, which must not have been added before.
    pub fn add_block(&mut self, block: usize, sum: S) -> Result<(), LkdlError> {
        self.check_free(block, 1)?;
        self.place(block, 0, sum);
        Ok(())
    }

    /// [`BlockSums::add_block`] without the block's own sum, if there is one to go on with: `add` adds
    /// the block to it, in one rounding per value, or to `zero`.
    pub fn fold_block(
        &mut self,
        block: usize,
        zero: impl FnOnce() -> S,
        add: impl FnOnce(&mut S),
    ) -> Result<(), LkdlError> {
        self.check_free(block, 1)?;
        let (first, mut part) = match self.open(block, 0) {
            Some(open) => open,
            None => (block, Part { level: 0, count: 0, sum: zero() }),
        };
        add(&mut part.sum);
        part.count += 1;
        self.settle(first, part);
        Ok(())
    }

    /// All blocks of another shard.
    pub fn merge(&mut self, other: Self) -> Result<(), LkdlError> {
        if self.order != other.order {
            return Err(LkdlError::Unsupported {
                what: "merging sums over blocks",
                problem: "needs the same order of addition on both sides",
                fix: "tell every shard how many blocks there are",
            });
        }
        for (&first, part) in &other.parts {
            self.check_free(first, self.covered(part))?;
        }
        other.parts.into_iter().for_each(|(first, part)| self.put(first, part));
        Ok(())
    }

    /// How many blocks have been added.
    pub fn n_blocks(&self) -> usize {
        self.parts.values().map(|part| self.covered(part)).sum()
    }

    /// The sum over all blocks; `None` without any. Every block up to the last must be there.
    pub fn finish(self) -> Result<Option<S>, LkdlError> {
        let (order, mut next, mut total): (_, usize, Option<S>) = (self.order, 0, None);
        for (first, Part { level, count, sum }) in self.parts {
            if first != next {
                return Err(LkdlError::MissingBlock { block: next });
            }
            next = first + count * order.width(level);
            match &mut total {
                Some(total) => total.add(sum),
                None => total = Some(sum),
            }
        }
        Ok(total)
    }

    /// The sums that are held, each with its first block, its level and how many children of that
    /// level it is over.
    pub(crate) fn parts(&self) -> impl ExactSizeIterator<Item = ([usize; 3], &S)> {
        let place = |first, part: &Part<S>| [first, part.level as usize, part.count];
        self.parts.iter().map(move |(&first, part)| (place(first, part), &part.sum))
    }

    /// The sums that are held.
    pub(crate) fn sums_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.parts.values_mut().map(|part| &mut part.sum)
    }

    /// Takes back a sum that was held.
    pub(crate) fn put_back(&mut self, place: [usize; 3], sum: S) -> Result<(), LkdlError> {
        let [first, level, count] = place;
        let unfit = || LkdlError::parameter("sum over blocks", format!("{place:?}"), "in the tree");
        let level = u32::try_from(level).map_err(|_| unfit())?;
        let (width, parent) = (self.order.width(level), self.order.width(level.saturating_add(1)));
        let fits = (1..self.order.radix).contains(&count)
            && first.saturating_add(count.saturating_mul(width)) < MAX_BLOCKS
            && first.is_multiple_of(if count == 1 { width } else { parent });
        if !fits {
            return Err(unfit());
        }
        self.check_free(first, count * width)?;
        self.put(first, Part { level, count, sum });
        Ok(())
    }

    /// Blocks that a part is over.
    fn covered(&self, part: &Part<S>) -> usize {
        part.count * self.order.width(part.level)
    }

    fn check_free(&self, first: usize, n_blocks: usize) -> Result<(), LkdlError> {
        let before = self.parts.range(..=first).next_back();
        let taken = before.filter(|(start, part)| *start + self.covered(part) > first);
        let within = self.parts.range(first..first.saturating_add(n_blocks)).next();
        match (taken, within) {
            (Some(_), _) => Err(LkdlError::RepeatedBlock { block: first }),
            (None, Some((&block, _))) => Err(LkdlError::RepeatedBlock { block }),
            (None, None) => Ok(()),
        }
    }

    /// Takes out the part that a child of this level, from block `first` on, is the next one of.
    fn open(&mut self, first: usize, level: u32) -> Option<(usize, Part<S>)> {
        let parent = first - first % self.order.width(level + 1);
        let part = self.parts.get(&parent)?;
        let goes_on = part.level == level && parent + self.covered(part) == first;
        if goes_on { self.parts.remove(&parent).map(|part| (parent, part)) } else { None }
    }

    /// A part as another shard held it: a single child goes on with what is here.
    fn put(&mut self, first: usize, part: Part<S>) {
        if part.count == 1 {
            self.place(first, part.level, part.sum)
        } else {
            self.settle(first, part)
        }
    }

    /// Adds a full node to those before it, if they are all there.
    fn place(&mut self, first: usize, level: u32, sum: S) {
        match self.open(first, level) {
            Some((parent, mut part)) => {
                part.sum.add(sum);
                part.count += 1;
                self.settle(parent, part);
            }
            None => self.settle(first, Part { level, count: 1, sum }),
        }
    }

    /// Adds to the first children of a node those that have waited for them; a node that is full
    /// goes to those before it.
    fn settle(&mut self, first: usize, mut part: Part<S>) {
        let starts = first.is_multiple_of(self.order.width(part.level + 1));
        while starts && part.count < self.order.radix {
            let next = first + self.covered(&part);
            let waits = |part: &Part<S>, level| part.level == level && part.count == 1;
            if !self.parts.get(&next).is_some_and(|next| waits(next, part.level)) {
                break;
            }
            let Some(next) = self.parts.remove(&next) else { break };
            part.sum.add(next.sum);
            part.count += 1;
        }
        if part.count == self.order.radix {
            self.place(first, part.level + 1, part.sum);
        } else {
            self.parts.insert(first, part);
        }
    }
}

/// More blocks than any source has.
const MAX_BLOCKS: usize = 1 << 48;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Add for f64 {
        fn add(&mut self, later: Self) {
            *self += later;
        }
    }

    /// Values whose sum depends on its order.
    fn value(block: usize) -> f64 {
        (block as f64 * 0.7).sin() * 10f64.powi((block % 7) as i32 - 3)
    }

    /// The tree by its definition, from the top: the blocks from `first` on, in nodes of `width`.
    fn naive(radix: usize, width: usize, first: usize, last: usize) -> f64 {
        if width == 1 {
            return value(first);
        }
        let child = width / radix;
        let children = (first..last.min(first + width)).step_by(child);
        let sums = children.map(|start| naive(radix, child, start, last));
        sums.reduce(|sum, next| sum + next).unwrap()
    }

    fn sum_of(order: Order, blocks: impl IntoIterator<Item = usize>) -> BlockSums<f64> {
        let mut sums = BlockSums::new(order);
        blocks.into_iter().for_each(|block| sums.add_block(block, value(block)).unwrap());
        sums
    }

    fn orders(n_blocks: usize) -> [Order; 4] {
        [Order { radix: 2 }, Order { radix: 3 }, Order::default(), Order::of(n_blocks)]
    }

    #[test]
    fn nodes_are_summed_from_the_left() {
        for n in [1, 2, 8, 9, 16, 64, 81, 256] {
            for order in orders(n) {
                let width = (0..).map(|level| order.width(level)).find(|&w| w >= n).unwrap();
                let expected = naive(order.radix, width, 0, n);
                let got = sum_of(order, 0..n).finish().unwrap().unwrap();
                // the last node of a tree that is not full is added to all before it
                let is_full = width == n || order == Order::of(n);
                assert!(!is_full || got.to_bits() == expected.to_bits(), "{n} {order:?}");
                assert!((got - expected).abs() < 1e-9);
            }
        }
        assert_eq!(BlockSums::<f64>::default().finish(), Ok(None));
        let sequential: f64 = (0..64).map(value).sum();
        assert_ne!(naive(8, 64, 0, 64), sequential, "else the order would not show");
    }

    #[test]
    fn groups_have_the_root_of_all_blocks() {
        let radix = |n| Order::of(n).radix;
        assert_eq!([0, 1, 2, 4, 5, 9, 10, 66, 10_000].map(radix), [2, 2, 2, 2, 3, 3, 4, 9, 100]);
        assert!(Order::of(usize::MAX).radix > 1 << 31);
    }

    /// The same bits, without a sum of the block's own.
    #[test]
    fn folding_is_adding() {
        for n in [1, 5, 17, 60] {
            for order in orders(n) {
                let mut folded = BlockSums::new(order);
                for block in (0..n).rev().chain(n..2 * n) {
                    folded.fold_block(block, || 0.0, |sum| *sum += value(block)).unwrap();
                }
                let again = folded.fold_block(3 % n, || 0.0, |_| panic!("was added before"));
                assert_eq!(again, Err(LkdlError::RepeatedBlock { block: 3 % n }));
                assert_eq!(folded.finish(), sum_of(order, 0..2 * n).finish());
            }
        }
    }

    #[test]
    fn blocks_without_a_sum_have_their_place_in_the_tree() {
        let mut sums = BlockSums::<Option<f64>>::new(Order::of(8));
        for block in 0..8 {
            sums.add_block(block, (block % 3 != 0).then(|| value(block))).unwrap();
        }
        let by_hand = (value(1) + value(2)) + (value(4) + value(5)) + value(7);
        assert_eq!(sums.finish().unwrap(), Some(Some(by_hand)));
    }

    #[test]
    fn blocks_in_order_hold_two_sums_however_many_they_are() {
        for n in [1usize, 2, 3, 7, 8, 9, 100, 101, 10_000] {
            for order in orders(n) {
                let (mut sums, mut held) = (BlockSums::new(order), 0);
                for block in 0..n {
                    sums.fold_block(block, || 0.0, |sum| *sum += value(block)).unwrap();
                    held = held.max(sums.parts.len());
                }
                assert_eq!(sums.n_blocks(), n);
                assert!((held..=held + 1).contains(&order.n_held(n)), "{n} {order:?}: {held}");
            }
            assert_eq!(Order::of(n).n_held(n), if n > 2 { 2 } else { 1 });
        }
    }

    #[test]
    fn what_was_held_can_be_put_back_and_nothing_else() {
        let order = Order { radix: 3 };
        for n in [1, 3, 5, 13, 26] {
            let (held, mut back) = (sum_of(order, 0..n), BlockSums::new(order));
            held.parts().for_each(|(place, sum)| back.put_back(place, *sum).unwrap());
            for sums in [&mut back, &mut held.clone()] {
                sums.add_block(n, value(n)).unwrap();
            }
            assert_eq!(back.finish(), sum_of(order, 0..=n).finish());
        }
        let bad = [[0, 0, 0], [0, 0, 3], [1, 0, 2], [2, 1, 1], [0, 99, 1], [usize::MAX, 0, 1]];
        for place in bad.into_iter().chain([[0, usize::MAX, 1]]) {
            let refused = BlockSums::new(order).put_back(place, 1.0);
            assert!(matches!(refused, Err(LkdlError::Parameter { .. })), "{place:?}: {refused:?}");
        }
        let wide = BlockSums::new(Order::of(usize::MAX)).put_back([0, 1, 1 << 31], 1.0);
        assert!(matches!(wide, Err(LkdlError::Parameter { .. })), "{wide:?}");
        let mut sums = sum_of(order, 0..4);
        assert_eq!(sums.put_back([3, 0, 2], 1.0), Err(LkdlError::RepeatedBlock { block: 3 }));
    }

    #[test]
    fn repeated_and_missing_blocks_are_named() {
        let order = Order { radix: 2 };
        let sum_of = |blocks: &[usize]| sum_of(order, blocks.iter().copied());
        let mut sums = sum_of(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(sums.add_block(3, 1.0), Err(LkdlError::RepeatedBlock { block: 3 }));
        let before = sums.clone().finish();
        assert_eq!(sums.merge(sum_of(&[8, 9, 4])), Err(LkdlError::RepeatedBlock { block: 4 }));
        assert_eq!(sums.clone().finish(), before, "a refused merge changes nothing");
        let full: Vec<usize> = (8..16).collect();
        assert_eq!(sum_of(&full).merge(sum_of(&[9])), Err(LkdlError::RepeatedBlock { block: 9 }));
        assert_eq!(sum_of(&[9]).merge(sum_of(&full)), Err(LkdlError::RepeatedBlock { block: 9 }));
        let other = BlockSums::new(Order { radix: 3 });
        assert!(matches!(sums.merge(other), Err(LkdlError::Unsupported { .. })));
        sums.merge(sum_of(&[8, 9])).unwrap();
        assert_eq!(sums.finish(), Err(LkdlError::MissingBlock { block: 6 }));
    }

    proptest! {
        #[test]
        fn any_shards_in_any_order_give_the_same_bits(n in 1usize..60, seed in any::<u64>()) {
            let mut shards = vec![Vec::new(); 1 + (seed % 9) as usize];
            let mut state = seed;
            for block in 0..n {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let shard = (state >> 33) as usize % shards.len();
                if state & 1 << 40 == 0 { shards[shard].push(block) } else { shards[shard].insert(0, block) }
            }
            for order in orders(n) {
                let mut merged = BlockSums::new(order);
                for shard in &shards {
                    merged.merge(sum_of(order, shard.iter().copied())).unwrap();
                }
                prop_assert_eq!(merged.n_blocks(), n);
                let one = sum_of(order, 0..n).finish().unwrap().unwrap();
                prop_assert_eq!(merged.finish().unwrap().unwrap().to_bits(), one.to_bits());
            }
        }
    }
}
