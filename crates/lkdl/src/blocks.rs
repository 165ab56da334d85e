//! Data that come in blocks, and sums over blocks that do not depend on who added them.
//!
//! What the method learns from the data are sums: they can be formed block by block, on one machine
//! or on many, and added. Floating-point sums depend on their order, so [`BlockSums`] fixes it: the
//! blocks are the leaves of one binary tree, numbered from 0, and every inner node is the sum of its
//! two halves. A shard that has seen blocks 3 to 7 holds the nodes {3}, {4…7}; merged with the shard
//! that has seen 0 to 2 it holds {0…7}, the same bits as one pass over all of them, in any order.
//!
//! At most 2·log₂(blocks) nodes are held, one per set bit of the block count when blocks come in
//! order.

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

/// Samples that come block after block, the same blocks every time.
pub trait Source<T: Real> {
    /// The next block; `None` after the last.
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError>;

    /// Back to the first block.
    fn rewind(&mut self) -> Result<(), LkdlError>;
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

/// Sums over numbered blocks, the same bits whatever the order or the shards they came in.
#[derive(Debug, Clone)]
pub struct BlockSums<S> {
    /// By first block: how many levels above the leaves, and the sum.
    nodes: BTreeMap<usize, (u32, S)>,
}

impl<S> Default for BlockSums<S> {
    fn default() -> Self {
        Self { nodes: BTreeMap::new() }
    }
}

impl<S: Add> BlockSums<S> {
    /// The sum of one block, which must not have been added before.
    pub fn add_block(&mut self, block: usize, sum: S) -> Result<(), LkdlError> {
        self.check_free(block, 0)?;
        self.place(block, 0, sum);
        Ok(())
    }

    /// All blocks of another shard.
    pub fn merge(&mut self, other: Self) -> Result<(), LkdlError> {
        for (&first, (level, _)) in &other.nodes {
            self.check_free(first, *level)?;
        }
        for (first, (level, sum)) in other.nodes {
            self.place(first, level, sum);
        }
        Ok(())
    }

    /// How many blocks have been added.
    pub fn n_blocks(&self) -> usize {
        self.nodes.values().map(|(level, _)| 1 << level).sum()
    }

    /// The sum over all blocks; `None` without any. Every block up to the last must be there.
    pub fn finish(self) -> Result<Option<S>, LkdlError> {
        let (mut next, mut total): (usize, Option<S>) = (0, None);
        for (first, (level, sum)) in self.nodes {
            if first != next {
                return Err(LkdlError::MissingBlock { block: next });
            }
            next = first + (1 << level);
            match &mut total {
                Some(total) => total.add(sum),
                None => total = Some(sum),
            }
        }
        Ok(total)
    }

    /// The nodes that are held: first block, level, sum.
    pub(crate) fn nodes(&self) -> impl ExactSizeIterator<Item = (usize, u32, &S)> {
        self.nodes.iter().map(|(first, (level, sum))| (*first, *level, sum))
    }

    /// The sums of the nodes that are held.
    pub(crate) fn sums_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.nodes.values_mut().map(|(_, sum)| sum)
    }

    /// Sums that held these nodes.
    pub(crate) fn from_nodes(
        nodes: impl IntoIterator<Item = (usize, u32, S)>,
    ) -> Result<Self, LkdlError> {
        let mut sums = Self::default();
        for (first, level, sum) in nodes {
            sums.check_free(first, level)?;
            sums.place(first, level, sum);
        }
        Ok(sums)
    }

    fn check_free(&self, first: usize, level: u32) -> Result<(), LkdlError> {
        let before = self.nodes.range(..=first).next_back();
        let covered = before.filter(|(start, (level, _))| *start + (1 << level) > first);
        let within = self.nodes.range(first..first + (1 << level)).next();
        match (covered, within) {
            (Some(_), _) => Err(LkdlError::RepeatedBlock { block: first }),
            (None, Some((&block, _))) => Err(LkdlError::RepeatedBlock { block }),
            (None, None) => Ok(()),
        }
    }

    /// Adds siblings up for as long as both are there.
    fn place(&mut self, mut first: usize, mut level: u32, mut sum: S) {
        while self.nodes.get(&(first ^ (1 << level))).is_some_and(|node| node.0 == level) {
            let sibling = first ^ (1 << level);
            let Some((_, other)) = self.nodes.remove(&sibling) else { break };
            let (mut left, right) = if sibling < first { (other, sum) } else { (sum, other) };
            left.add(right);
            (first, level, sum) = (first.min(sibling), level + 1, left);
        }
        self.nodes.insert(first, (level, sum));
    }
}

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

    /// The tree by its definition, from the top.
    fn naive(first: usize, last: usize) -> f64 {
        let n = last - first;
        if n == 1 {
            return value(first);
        }
        let half = n.next_power_of_two() / 2;
        naive(first, first + half) + naive(first + half, last)
    }

    fn sum_of(blocks: impl IntoIterator<Item = usize>) -> BlockSums<f64> {
        let mut sums = BlockSums::default();
        blocks.into_iter().for_each(|block| sums.add_block(block, value(block)).unwrap());
        sums
    }

    #[test]
    fn powers_of_two_are_summed_by_halves() {
        for n in [1, 2, 8, 64] {
            assert_eq!(sum_of(0..n).finish().unwrap(), Some(naive(0, n)));
        }
        assert_eq!(BlockSums::<f64>::default().finish(), Ok(None));
        let sequential: f64 = (0..64).map(value).sum();
        assert_ne!(naive(0, 64), sequential, "else the order would not show");
    }

    #[test]
    fn blocks_without_a_sum_have_their_place_in_the_tree() {
        let mut sums = BlockSums::<Option<f64>>::default();
        for block in 0..8 {
            sums.add_block(block, (block % 3 != 0).then(|| value(block))).unwrap();
        }
        let by_hand = (value(1) + value(2)) + ((value(4) + value(5)) + value(7));
        assert_eq!(sums.finish().unwrap(), Some(Some(by_hand)));
    }

    #[test]
    fn blocks_in_order_hold_one_node_per_bit_of_their_count() {
        for n in [1usize, 7, 8, 100] {
            let sums = sum_of(0..n);
            assert_eq!((sums.nodes.len(), sums.n_blocks()), (n.count_ones() as usize, n));
        }
    }

    #[test]
    fn repeated_and_missing_blocks_are_named() {
        let mut sums = sum_of(0..6);
        assert_eq!(sums.add_block(3, 1.0), Err(LkdlError::RepeatedBlock { block: 3 }));
        let before = sums.clone().finish();
        assert_eq!(sums.merge(sum_of([8, 9, 4])), Err(LkdlError::RepeatedBlock { block: 4 }));
        assert_eq!(sums.clone().finish(), before, "a refused merge changes nothing");
        assert_eq!(sum_of(8..16).merge(sum_of([9])), Err(LkdlError::RepeatedBlock { block: 9 }));
        assert_eq!(sum_of([9]).merge(sum_of(8..16)), Err(LkdlError::RepeatedBlock { block: 9 }));
        sums.merge(sum_of([8, 9])).unwrap();
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
            let mut merged = BlockSums::default();
            for shard in shards {
                merged.merge(sum_of(shard)).unwrap();
            }
            prop_assert_eq!(merged.n_blocks(), n);
            let (merged, one) = (merged.finish().unwrap().unwrap(), sum_of(0..n).finish().unwrap());
            prop_assert_eq!(merged.to_bits(), one.unwrap().to_bits());
        }
    }
}
