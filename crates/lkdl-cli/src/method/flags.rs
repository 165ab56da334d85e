//! The flags that describe a method, shared by every command that trains one.

use super::named::by_name;
use clap::{Args, ValueEnum};
use lkdl::map::{Indefinite, Variant};
use lkdl::prepare::PrepareParams;
use lkdl::sampling::{LandmarkCount, Sampler};
use lkdl_recipe::{
    Bytes, Count, KernelName, KernelWishes, MapName, Method, OwnWishes, RuleName, Width, Wishes,
    indefinite, landmarks, variant,
};

/// How a model is learned; what is not said is chosen from the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodFlags {
    /// What is learned from virtual samples, or from the samples themselves with --map none
    /// [default: ksvd; online with --stream]
    #[arg(long, value_parser = by_name::<Method>())]
    pub method: Option<Method>,
    /// How samples become virtual samples; `none` gives the linear method [default: nystroem, or
    /// none if held-out samples are clearly for it]
    #[arg(long, value_parser = by_name::<MapName>())]
    pub map: Option<MapName>,
    /// What is done to every sample first: center, l2, standardize, joined by commas, or none
    /// [default: center,l2 for signals, standardize for measurements]
    #[arg(long, value_name = "STEPS")]
    pub prepare: Option<PrepareParams>,
    /// Atoms per class, or `auto`: two thirds of the samples of the typical class (all of 50), at
    /// most 700
    #[arg(long, value_name = "M", default_value = "auto")]
    pub atoms: Count,
    /// Atoms that may represent a sample, or `auto`: one of every 60, but 5 to 11, unless held-out
    /// samples are clearly for another number up to 30 (ksvd, mod, online, rls); 30 for codes over the atoms of
    /// all classes (lc-ksvd1, lc-ksvd2, d-ksvd, src, kernel-src), or fewer with --map none: one for
    /// every ten features
    #[arg(long, value_name = "Q", default_value = "auto")]
    pub sparsity: Count,
    /// Atoms per code while dictionaries are learned [default: --sparsity, or one of every
    /// 60 where that is auto]
    #[arg(long, value_name = "Q")]
    pub learning_sparsity: Option<usize>,
    /// Iterations at most [default: 5; 50 for lc-ksvd1, lc-ksvd2 and d-ksvd]
    #[arg(long, value_name = "T")]
    pub iters: Option<usize>,
    /// Stop earlier when the error falls by less than this share; 0 never [default: 0.0001]
    #[arg(long, value_name = "X")]
    pub tol: Option<f64>,
    /// Samples of a mini-batch (online, rls) [default: 256; with --stream at least --atoms]
    #[arg(long, value_name = "B")]
    pub batch: Option<usize>,
    /// Refit atoms by their leading singular pair, not by one power step (ksvd, kernel-ksvd)
    #[arg(long)]
    pub exact_update: bool,
    /// Precision of the arithmetic
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    pub precision: Precision,
    /// Memory the fit may use beside the data [default: about half of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Kernel, landmarks and rank.
    #[command(flatten)]
    pub kernel: KernelFlags,
    /// What only some methods have.
    #[command(flatten)]
    pub own: OwnFlags,
}

/// The kernel and its approximation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Kernel")]
pub struct KernelFlags {
    /// The kernel [default: polynomial for images, spectra and other signals (16 features or more
    /// of one unit), gaussian for measurements]
    #[arg(long, value_parser = by_name::<KernelName>())]
    pub kernel: Option<KernelName>,
    /// Degree of the polynomial kernel [default: 2]
    #[arg(long, value_name = "D")]
    pub degree: Option<f64>,
    /// Offset of the polynomial or sigmoid kernel [default: 0]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub offset: Option<f64>,
    /// Width of the Gaussian or exponential kernel: a number, `median`, or `0.5median` [default:
    /// median]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true)]
    pub sigma: Option<Width>,
    /// Rate of the Laplacian or chi2 kernel [default: 1/median distance], scale of the sigmoid [1]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Divide the kernel by the square root of its diagonal
    #[arg(long)]
    pub normalized: bool,
    /// How landmarks are chosen [default: hybrid]
    #[arg(long, value_name = "NAME", value_parser = sampler())]
    pub sampler: Option<Sampler>,
    /// Landmarks: a count, a share such as 20%, or `auto` [default: auto]
    #[arg(long, value_name = "C", value_parser = landmarks)]
    pub landmarks: Option<LandmarkCount>,
    /// Dimension of the virtual samples, or `auto`: 256, or all landmarks where they are fewer (512
    /// for random features)
    #[arg(long, value_name = "K")]
    pub rank: Option<Count>,
    /// How the projection is made: standard, cholesky or optimal [default: standard]
    #[arg(long, value_name = "NAME", value_parser = variant)]
    pub variant: Option<Variant>,
    /// Subtract the mean virtual sample
    #[arg(long)]
    pub centered: bool,
    /// What to do with a kernel that is not positive: reject, clip, flip or shift [default: reject]
    #[arg(long, value_name = "POLICY", value_parser = indefinite)]
    pub indefinite: Option<Indefinite>,
}

/// Weights and rules of single methods.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Single methods")]
pub struct OwnFlags {
    /// Weight of label consistency, its square root (lc-ksvd1, lc-ksvd2); 0 leaves it out [default:
    /// 0.033, for unit samples]
    #[arg(long, value_name = "X")]
    pub sqrt_alpha: Option<f64>,
    /// Weight of the linear classifier, its square root (lc-ksvd2, d-ksvd); 0 leaves it out [default:
    /// 0.011, for unit samples]
    #[arg(long, value_name = "X")]
    pub sqrt_beta: Option<f64>,
    /// Atoms of a code to decide by, where they differ from --sparsity, which the dictionary is learned
    /// with (lc-ksvd1, lc-ksvd2, d-ksvd)
    #[arg(long, value_name = "Q")]
    pub decision_sparsity: Option<usize>,
    /// Weight of the codes' l1 norm (fddl, fddl-simplified) [default: 0.1]
    #[arg(long, value_name = "X")]
    pub lambda1: Option<f64>,
    /// Weight of the codes' scatters (fddl, fddl-simplified) [default: 0.001]
    #[arg(long, value_name = "X")]
    pub lambda2: Option<f64>,
    /// How fddl decides: by a code over each class, or one over all [default: local]
    #[arg(long, value_parser = by_name::<RuleName>())]
    pub rule: Option<RuleName>,
    /// Code by the lasso, its penalty as a share of the largest correlation, not by OMP (src,
    /// kernel-src)
    #[arg(long, value_name = "SHARE")]
    pub lasso: Option<f64>,
    /// Do as the published program does where it departs from the paper (kernel-ksvd, lc-ksvd1,
    /// lc-ksvd2, d-ksvd, fddl-simplified)
    #[arg(long)]
    pub compat: bool,
}

impl MethodFlags {
    /// The flags as the recipe takes them; a budget that was not said is the machine's.
    pub fn wishes(&self) -> Wishes {
        Wishes {
            method: self.method.unwrap_or(Method::Ksvd),
            map: self.map,
            prepare: self.prepare.clone(),
            atoms: self.atoms.exact(),
            sparsity: self.sparsity.exact(),
            learning_sparsity: self.learning_sparsity,
            iters: self.iters,
            tol: self.tol,
            batch: self.batch,
            exact_update: self.exact_update,
            memory: self.memory.map(|bytes| bytes.0).or_else(usual_budget),
            kernel: KernelWishes::from(&self.kernel),
            own: OwnWishes::from(&self.own),
        }
    }
}

impl From<&KernelFlags> for KernelWishes {
    fn from(flags: &KernelFlags) -> Self {
        Self {
            kernel: flags.kernel,
            custom: None,
            degree: flags.degree,
            offset: flags.offset,
            sigma: flags.sigma,
            rate: flags.rate,
            normalized: flags.normalized,
            sampler: flags.sampler.clone(),
            landmarks: flags.landmarks,
            rank: flags.rank,
            variant: flags.variant,
            centered: flags.centered,
            indefinite: flags.indefinite,
        }
    }
}

impl From<&OwnFlags> for OwnWishes {
    fn from(flags: &OwnFlags) -> Self {
        Self {
            sqrt_alpha: flags.sqrt_alpha,
            sqrt_beta: flags.sqrt_beta,
            decision_sparsity: flags.decision_sparsity,
            lambda1: flags.lambda1,
            lambda2: flags.lambda2,
            rule: flags.rule,
            lasso: flags.lasso,
            compat: flags.compat,
        }
    }
}

/// The largest power of two that is at most half the machine's memory, where the system tells. Not
/// what is free at the moment: a budget can change which landmarks are chosen, and the same command
/// must give the same model.
fn usual_budget() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    (kib / 2).checked_ilog2().map(|log| 1024 << log)
}

fn sampler() -> impl clap::builder::TypedValueParser<Value = Sampler> {
    use clap::builder::TypedValueParser;
    clap::builder::PossibleValuesParser::new(Sampler::names())
        .try_map(|name: String| name.parse::<Sampler>())
}

/// The type of the arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// Single: half the memory, twice the speed
    F32,
    /// Double
    F64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command, FromArgMatches};

    fn parser() -> Command {
        MethodFlags::augment_args(Command::new("fit").no_binary_name(true))
    }

    /// A value that differs from the usual one, for every flag.
    fn value(arg: &Arg) -> String {
        let named = |name: &str| match name {
            "method" => "lc-ksvd2",
            "map" => "fourier",
            "prepare" => "l2",
            "kernel" => "laplacian",
            "sampler" => "uniform",
            "variant" => "optimal",
            "indefinite" => "flip",
            "rule" => "global",
            "landmarks" => "20%",
            "memory" => "123",
            "precision" => "f32",
            _ => "3",
        };
        named(arg.get_long().unwrap_or_default()).to_string()
    }

    #[test]
    fn every_flag_reaches_the_recipe_under_its_own_name() {
        for arg in parser().get_arguments() {
            let flag = arg.get_long().unwrap();
            if flag == "precision" {
                continue; // a type, not a wish
            }
            let takes_value = arg.get_action().takes_values();
            let text = if takes_value { value(arg) } else { "true".into() };
            let word = if takes_value { format!("--{flag}={text}") } else { format!("--{flag}") };
            let mut words = vec![word.as_str()];
            let mut settings = vec![(flag, text.as_str())];
            if flag != "memory" {
                words.push("--memory=1"); // or it would be this machine's
                settings.push(("memory", "1"));
            }
            let matches = parser().try_get_matches_from(words).unwrap();
            let wishes = MethodFlags::from_arg_matches(&matches).unwrap().wishes();
            let expected = Wishes::from_settings(settings).unwrap();
            assert_eq!(format!("{wishes:?}"), format!("{expected:?}"), "{word}");
            let usual = Wishes { memory: Some(1), ..Wishes::default() };
            assert_ne!(format!("{wishes:?}"), format!("{usual:?}"), "{word}");
        }
    }
}
