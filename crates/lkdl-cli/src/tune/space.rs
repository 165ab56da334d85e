//! What is searched: kernels and their width or degree, no kernel at all, the preparation of samples,
//! and the sizes of map and dictionaries.
//!
//! A [`Point`] is one choice; its [`Settings`] are the flags that `fit` takes for it. Widths are in
//! multiples of the median distance, so that they mean the same on any data. Flags that the user
//! holds fixed replace those of every point, and their axes are not walked.

use super::fixed::method_flags;
use crate::failure::Failure;
pub use lkdl_recipe::Settings; // flags of `fit`, without dashes, and their values
use lkdl_recipe::{Chosen, KernelName, MapName, Method, Named};

/// Landmarks, rank, atoms per class and sparsity where the search starts, data permitting. Sound on
/// sets of digits, and quick.
const START: [(Axis, usize); 4] =
    [(Axis::Landmarks, 256), (Axis::Rank, 256), (Axis::Atoms, 50), (Axis::Sparsity, 5)];
/// Preparations, in the order they are tried.
const PREPARATIONS: [&str; 4] = ["center,l2", "l2", "standardize", "none"];
/// Those that leave no value negative that was not: chi2 kernels need that.
const NON_NEGATIVE: [&str; 2] = ["none", "l2"];
/// Degrees and widths tried first; finer steps follow around the best.
const DEGREES: [u32; 2] = [2, 4];
const WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
/// Beyond this degree kernel values of different samples are all but zero or all but infinite.
const MAX_DEGREE: u32 = 10;
/// Widths beyond these are a diagonal kernel matrix and a constant one.
const WIDTH_RANGE: std::ops::RangeInclusive<f64> = 1.0 / 64.0..=64.0;
/// c² memory and c³ time stay small up to here, as in the library's automatic count.
const MAX_LANDMARKS: usize = 4096;

/// A direction in which a point can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Degree or width.
    Kernel,
    /// Atoms per class.
    Atoms,
    /// Atoms per code.
    Sparsity,
    /// Landmarks and, in step, the rank.
    Map,
    /// Landmarks alone.
    Landmarks,
    /// The rank alone.
    Rank,
}

impl Axis {
    /// In the order they are walked: what changes most first.
    pub const ALL: [Self; 6] =
        [Self::Kernel, Self::Atoms, Self::Sparsity, Self::Map, Self::Landmarks, Self::Rank];

    /// Whether less of it is cheaper.
    pub fn is_size(self) -> bool {
        self != Self::Kernel
    }
}

/// A kernel with what there is to choose about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// No kernel: `--map none`.
    NoMap,
    /// Nothing.
    Plain(&'static str),
    /// `--degree`.
    Degree(u32),
    /// `--sigma`, in medians.
    Width(&'static str, f64),
}

/// Kernels by the name `fit` knows them by, in the order they are tried.
pub const KERNELS: [&str; 8] = [
    "linear",
    "polynomial",
    "gaussian",
    "exponential",
    "laplacian",
    "cosine",
    "chi2",
    "chi2-additive",
];
/// Those searched when nothing is said.
pub const STANDARD_KERNELS: [&str; 3] = ["linear", "polynomial", "gaussian"];

impl Choice {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::NoMap => None,
            Self::Plain(name) | Self::Width(name, _) => Some(name),
            Self::Degree(_) => Some("polynomial"),
        }
    }

    fn is_chi2(self) -> bool {
        self.name().is_some_and(|name| name.starts_with("chi2"))
    }

    /// The coarse grid of one kernel.
    fn coarse(name: &'static str) -> Vec<Self> {
        match name {
            "polynomial" => DEGREES.map(Self::Degree).to_vec(),
            "gaussian" | "exponential" => WIDTHS.map(|width| Self::Width(name, width)).to_vec(),
            _ => vec![Self::Plain(name)],
        }
    }

    fn step(self, up: bool, factor: f64) -> Option<Self> {
        match self {
            Self::NoMap | Self::Plain(_) => None,
            Self::Degree(degree) => {
                let next = if up { degree + 1 } else { degree.saturating_sub(1) };
                (1..=MAX_DEGREE).contains(&next).then_some(Self::Degree(next))
            }
            Self::Width(name, width) => {
                let next = three_digits(if up { width * factor } else { width / factor });
                WIDTH_RANGE.contains(&next).then_some(Self::Width(name, next))
            }
        }
    }
}

/// Rounded to three significant digits: a width that a person can read, and find again in a log.
fn three_digits(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    // divided by the inverse, whose multiples print short
    (value / unit).round() / (1.0 / unit).round().max(1.0)
}

/// One choice of everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub kernel: Choice,
    pub prepare: &'static str,
    pub landmarks: usize,
    pub rank: usize,
    pub atoms: usize,
    pub sparsity: usize,
}

/// What the data allow.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Samples that a fold leaves to learn from, at least.
    pub n_samples: usize,
    pub n_features: usize,
    /// The same for the largest class.
    pub class_size: usize,
    /// Whether each sample may be centred: whether it has features enough, of one unit.
    pub are_signals: bool,
}

/// What the data allow, and what the user holds fixed.
#[derive(Debug, Clone)]
pub struct Space {
    /// Kernels to try, and no kernel.
    choices: Vec<Choice>,
    method: Method,
    /// The map of those with a kernel.
    map: MapName,
    fixed: Settings,
    limits: Limits,
}

impl Space {
    /// For data within these limits; an error if a flag is fixed that no choice takes.
    pub fn new(kernels: &[String], fixed: Settings, limits: Limits) -> Result<Self, Failure> {
        let find = |name: &String| {
            KERNELS.into_iter().find(|known| known == name).ok_or_else(|| {
                let known = KERNELS.join(", ");
                Failure::usage(format!("--kernels has \"{name}\", but must be one of {known}"))
            })
        };
        let said = method_flags(&fixed)?;
        let map = said.map.unwrap_or(MapName::Nystroem);
        let mut names = match (map, fixed.get("kernel")) {
            (MapName::None, _) => Vec::new(),
            // random features are those of the Gaussian kernel
            (MapName::Fourier | MapName::Fastfood, _) => vec!["gaussian"],
            (MapName::Nystroem, Some(only)) => vec![find(only)?],
            (MapName::Nystroem, None) if kernels.is_empty() => STANDARD_KERNELS.to_vec(),
            (MapName::Nystroem, None) => kernels.iter().map(find).collect::<Result<_, _>>()?,
        };
        names.dedup();
        let mut choices: Vec<Choice> = names.into_iter().flat_map(Choice::coarse).collect();
        let is_open =
            said.map.is_none() && kernels.is_empty() && !said.wishes().kernel.says_anything();
        if map == MapName::None || is_open {
            choices.push(Choice::NoMap);
        }
        let space = Self { choices, method: said.wishes().method, map, fixed, limits };
        for flag in space.fixed.keys() {
            if !space.choices.iter().any(|&choice| space.chosen(choice).takes(flag)) {
                space.chosen(space.choices[0]).check(flag)?;
            }
        }
        Ok(space)
    }

    /// What flags depend on, for a choice.
    fn chosen(&self, choice: Choice) -> Chosen {
        let kernel = choice.name().and_then(KernelName::named);
        let map = if choice == Choice::NoMap { MapName::None } else { self.map };
        Chosen { method: self.method, map, kernel, kernel_is_said: true }
    }

    fn has_landmarks(&self) -> bool {
        self.map == MapName::Nystroem
    }

    /// The flags of a point.
    pub fn settings(&self, point: &Point) -> Settings {
        let mut settings = Settings::from([
            ("prepare".into(), point.prepare.into()),
            ("landmarks".into(), point.landmarks.to_string()),
            ("rank".into(), point.rank.to_string()),
            ("atoms".into(), point.atoms.to_string()),
            ("sparsity".into(), point.sparsity.to_string()),
        ]);
        match (point.kernel, self.map) {
            (Choice::NoMap, _) => settings.insert("map".into(), "none".into()),
            (choice, MapName::Nystroem) => {
                choice.name().and_then(|name| settings.insert("kernel".into(), name.into()))
            }
            _ => None,
        };
        match point.kernel {
            Choice::NoMap | Choice::Plain(_) => None,
            Choice::Degree(degree) => settings.insert("degree".into(), degree.to_string()),
            Choice::Width(_, width) => settings.insert("sigma".into(), format!("{width}median")),
        };
        settings.extend(self.fixed.clone());
        let chosen = self.chosen(point.kernel);
        settings.retain(|flag, _| chosen.takes(flag));
        settings
    }

    /// Preparations that suit a choice, the usual one first.
    fn preparations(&self, choice: Choice) -> Vec<&'static str> {
        if choice.is_chi2() {
            return NON_NEGATIVE.to_vec();
        }
        let signals = self.limits.are_signals;
        let mut all: Vec<&'static str> =
            PREPARATIONS.into_iter().filter(|prepare| signals || *prepare != "center,l2").collect();
        let usual = if signals { "center,l2" } else { "standardize" };
        all.sort_by_key(|prepare| *prepare != usual);
        all
    }

    /// The same point under every other preparation; none where the user holds it fixed.
    pub fn prepared_otherwise(&self, point: &Point) -> Vec<Point> {
        let others = self.preparations(point.kernel).into_iter();
        let others = others.filter(|prepare| *prepare != point.prepare);
        let points = others.map(|prepare| Point { prepare, ..point.clone() });
        points.filter(|other| self.settings(other) != self.settings(point)).collect()
    }

    /// Where the search starts: every kernel, at sizes that are quick.
    pub fn coarse(&self) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for &choice in &self.choices {
            let [landmarks, rank, atoms, sparsity] =
                START.map(|(axis, size)| size.min(self.most(axis, choice)).max(1));
            let prepare = self.preparations(choice)[0];
            let mut point = Point { kernel: choice, prepare, landmarks, rank, atoms, sparsity };
            self.reconcile(&mut point);
            // a fixed degree or width leaves one of several
            if points.iter().all(|known| self.settings(known) != self.settings(&point)) {
                points.push(point);
            }
        }
        points
    }

    /// Sizes that the user holds fixed take their values; the rank is at most the landmarks, and
    /// the sparsity at most the atoms.
    fn reconcile(&self, point: &mut Point) {
        // what is chosen from the data binds nothing
        let landmarks =
            if self.has_landmarks() { self.fixed("landmarks") } else { Some(usize::MAX) };
        let (rank, atoms) = (self.fixed("rank"), self.fixed("atoms"));
        let sparsity = self.fixed("sparsity");
        point.landmarks = landmarks.unwrap_or(point.landmarks.max(rank.unwrap_or(0)));
        point.rank = rank.unwrap_or(point.rank.min(point.landmarks));
        point.atoms = atoms.unwrap_or(point.atoms.max(sparsity.unwrap_or(0)));
        point.sparsity = sparsity.unwrap_or(point.sparsity.min(point.atoms));
    }

    /// A size that the user holds fixed. Where it is left to the data (`auto`) it is 0 as a lower
    /// bound of another and no upper bound.
    fn fixed(&self, flag: &str) -> Option<usize> {
        let text = self.fixed.get(flag)?;
        let share = text.strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok());
        let of_share =
            share.map(|percent| (percent / 100.0 * self.limits.n_samples as f64) as usize);
        let open = if matches!(flag, "landmarks" | "atoms") { usize::MAX } else { 0 };
        Some(text.parse().ok().or(of_share).unwrap_or(open))
    }

    /// The largest size the data allow.
    fn most(&self, axis: Axis, kernel: Choice) -> usize {
        match axis {
            // the rank of random features is not bound by samples
            Axis::Landmarks | Axis::Rank if !self.has_landmarks() => MAX_LANDMARKS,
            Axis::Landmarks => self.limits.n_samples.min(MAX_LANDMARKS),
            // a linear kernel matrix has no more directions than samples have features
            Axis::Rank if kernel.name() == Some("linear") => {
                self.limits.n_features.min(self.limits.n_samples)
            }
            Axis::Rank => self.limits.n_samples.min(MAX_LANDMARKS),
            Axis::Atoms | Axis::Sparsity => self.limits.class_size,
            Axis::Kernel | Axis::Map => 0,
        }
    }

    /// The point one step along an axis; `None` where the space ends or the user holds it fixed.
    pub fn step(&self, point: &Point, axis: Axis, up: bool, factor: f64) -> Option<Point> {
        let mut next = point.clone();
        let sized = |size: usize, most: usize| {
            let scaled = size as f64 * if up { factor } else { 1.0 / factor };
            let scaled = scaled.round() as usize;
            let moved = if up { scaled.max(size + 1) } else { scaled.min(size.saturating_sub(1)) };
            moved.min(most).max(1)
        };
        let most = |axis| self.most(axis, point.kernel);
        match axis {
            Axis::Kernel => next.kernel = point.kernel.step(up, factor)?,
            Axis::Atoms => next.atoms = sized(point.atoms, most(axis)),
            Axis::Sparsity => next.sparsity = sized(point.sparsity, most(axis).min(point.atoms)),
            Axis::Map => {
                next.landmarks = sized(point.landmarks, most(Axis::Landmarks));
                next.rank = sized(point.rank, most(Axis::Rank));
            }
            Axis::Landmarks => next.landmarks = sized(point.landmarks, most(axis)).max(point.rank),
            Axis::Rank => next.rank = sized(point.rank, most(axis).min(point.landmarks)),
        }
        self.reconcile(&mut next);
        (self.settings(&next) != self.settings(point)).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(fixed: &[(&str, &str)]) -> Space {
        let fixed = fixed.iter().map(|(flag, value)| (flag.to_string(), value.to_string()));
        Space::new(&[], fixed.collect(), LIMITS).unwrap()
    }

    const LIMITS: Limits =
        Limits { n_samples: 400, n_features: 20, class_size: 50, are_signals: true };

    #[test]
    fn the_coarse_grid_holds_every_kernel_within_the_data() {
        let points = space(&[]).coarse();
        assert_eq!(points.len(), 1 + DEGREES.len() + WIDTHS.len() + 1);
        assert_eq!(points.last().unwrap().kernel, Choice::NoMap);
        for point in &points {
            assert!(point.landmarks <= 400 && point.rank <= point.landmarks);
            assert!(point.atoms <= 50 && point.sparsity <= point.atoms);
        }
        assert_eq!(points[0].rank, 20, "linear: no more than features");
        let limits = Limits { n_samples: 3, n_features: 1, class_size: 1, are_signals: false };
        let tiny = Space::new(&[], Settings::new(), limits).unwrap().coarse();
        assert!(tiny.iter().all(|p| (p.landmarks, p.atoms, p.sparsity) == (3, 1, 1)));
    }

    #[test]
    fn fixed_flags_are_kept_and_their_axes_not_walked() {
        let space = space(&[("sigma", "3"), ("kernel", "gaussian"), ("atoms", "7")]);
        let points = space.coarse();
        assert_eq!(points.len(), 1);
        let settings = space.settings(&points[0]);
        assert_eq!((settings["sigma"].as_str(), settings["atoms"].as_str()), ("3", "7"));
        assert_eq!(space.step(&points[0], Axis::Kernel, true, 2.0), None);
        assert_eq!(space.step(&points[0], Axis::Atoms, true, 2.0), None);
        assert!(space.step(&points[0], Axis::Rank, false, 2.0).is_some());
    }

    #[test]
    fn sizes_that_are_searched_suit_those_that_are_fixed() {
        let start = |fixed: &[(&str, &str)]| {
            let space = space(fixed);
            let mut points = space.coarse();
            points.retain(|point| point.kernel != Choice::NoMap);
            let settings = space.settings(&points.pop().unwrap());
            ["landmarks", "rank", "atoms", "sparsity"].map(|flag| settings[flag].clone()).join(" ")
        };
        assert_eq!(start(&[("landmarks", "100")]), "100 100 50 5");
        assert_eq!(start(&[("landmarks", "10%")]), "10% 40 50 5");
        assert_eq!(start(&[("landmarks", "auto")]), "auto 256 50 5");
        assert_eq!(start(&[("rank", "300")]), "300 300 50 5");
        assert_eq!(start(&[("rank", "auto")]), "256 auto 50 5");
        assert_eq!(start(&[("atoms", "3")]), "256 256 3 3");
        assert_eq!(start(&[("atoms", "auto"), ("sparsity", "7")]), "256 256 auto 7");
        let space = space(&[("landmarks", "100")]);
        let point = space.coarse().pop().unwrap();
        assert_eq!(space.step(&point, Axis::Map, true, 2.0), None);
        assert_eq!(space.step(&point, Axis::Map, false, 2.0).unwrap().landmarks, 100);
    }

    #[test]
    fn steps_end_at_the_limits_and_keep_sizes_consistent() {
        let space = space(&[]);
        for start in space.coarse() {
            for axis in Axis::ALL {
                for (up, factor) in [(true, 2.0), (false, 2.0), (true, 1.1), (false, 1.1)] {
                    let (mut point, mut steps) = (start.clone(), 0);
                    while let Some(next) = space.step(&point, axis, up, factor) {
                        assert!(next.rank <= next.landmarks && next.landmarks <= 400);
                        assert!(next.sparsity <= next.atoms && next.atoms <= 50);
                        assert!(next.rank >= 1 && next.sparsity >= 1);
                        (point, steps) = (next, steps + 1);
                        assert!(steps < 500, "{axis:?} has no end");
                    }
                }
            }
        }
    }

    #[test]
    fn widths_read_well() {
        let mut width = Choice::Width("gaussian", 1.0);
        let mut texts = Vec::new();
        for _ in 0..4 {
            width = width.step(false, std::f64::consts::SQRT_2).unwrap();
            let Choice::Width(_, value) = width else { unreachable!() };
            texts.push(value.to_string());
        }
        assert_eq!(texts, ["0.707", "0.5", "0.354", "0.25"]);
        assert_eq!(three_digits(14.142), 14.1);
    }

    #[test]
    fn each_map_has_flags_of_its_own() {
        let flags = |map: &str| {
            let space = space(&[("map", map)]);
            let points = space.coarse();
            let settings = space.settings(&points[0]);
            (points.len(), settings.into_keys().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(flags("none"), (1, "atoms map prepare sparsity".into()));
        assert_eq!(flags("fourier"), (3, "atoms map prepare rank sigma sparsity".into()));
        assert_eq!(flags("nystroem").0, 6);
        let fourier = space(&[("map", "fourier")]);
        let more = fourier.step(&fourier.coarse()[0], Axis::Rank, true, 2.0).unwrap();
        assert_eq!(fourier.settings(&more)["rank"], "512");
    }

    #[test]
    fn unknown_kernels_are_named() {
        let error = Space::new(&["rbf".into()], Settings::new(), LIMITS).unwrap_err();
        assert_eq!(error.code(), 2);
    }

    #[test]
    fn a_fixed_flag_is_kept_where_it_means_something_and_refused_where_nowhere() {
        let fixed = |pairs: &[(&str, &str)]| -> Settings {
            pairs.iter().map(|(flag, value)| (flag.to_string(), value.to_string())).collect()
        };
        let space = space(&[("offset", "1")]);
        let flags: Vec<bool> = space
            .coarse()
            .iter()
            .map(|point| space.settings(point).contains_key("offset"))
            .collect();
        assert_eq!(flags, [false, true, true, false, false, false], "polynomial alone takes it");
        let none = Space::new(&[], fixed(&[("map", "none"), ("landmarks", "9")]), LIMITS);
        let text = none.unwrap_err().to_string();
        assert!(text.contains("--landmarks does not go with --map none"), "{text}");
        let linear = Space::new(&["linear".into()], fixed(&[("sigma", "2")]), LIMITS);
        assert!(
            linear.unwrap_err().to_string().contains("--sigma does not go with --kernel linear")
        );
    }

    #[test]
    fn every_preparation_that_suits_is_an_alternative() {
        let of = |space: &Space, point: &Point| -> Vec<&'static str> {
            space.prepared_otherwise(point).iter().map(|other| other.prepare).collect()
        };
        let signals = space(&[]);
        let point = &signals.coarse()[0];
        assert_eq!(point.prepare, "center,l2");
        assert_eq!(of(&signals, point), ["l2", "standardize", "none"]);
        let limits = Limits { are_signals: false, ..LIMITS };
        let table = Space::new(&[], Settings::new(), limits).unwrap();
        let point = &table.coarse()[0];
        assert_eq!(point.prepare, "standardize");
        assert_eq!(of(&table, point), ["l2", "none"]);
        let chi2 = Space::new(&["chi2".into()], Settings::new(), LIMITS).unwrap();
        assert_eq!(of(&chi2, &chi2.coarse()[0]), ["l2"]);
        let fixed = space(&[("prepare", "l2")]);
        assert!(of(&fixed, &fixed.coarse()[0]).is_empty());
    }
}
