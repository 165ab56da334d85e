//! What a caller wants of a fit. Everything may be left open; what is, is chosen from the data.

use crate::error::RecipeError;
use crate::names::{KernelName, MapName, Method, RuleName};
use crate::values::{
    Bytes, Count, Width, indefinite, indefinite_name, landmarks, landmarks_text, variant,
    variant_name,
};
use lkdl::Kernel;
use lkdl::map::{Indefinite, Variant};
use lkdl::prepare::PrepareParams;
use lkdl::sampling::{LandmarkCount, Sampler};
use std::str::FromStr;

/// How a model shall be learned.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// What is learned.
    pub method: Method,
    /// How samples become virtual samples.
    pub map: Option<MapName>,
    /// What is done to every sample first.
    pub prepare: Option<PrepareParams>,
    /// m, atoms per class.
    pub atoms: Option<usize>,
    /// q, atoms that may represent a sample.
    pub sparsity: Option<usize>,
    /// q while dictionaries are learned.
    pub learning_sparsity: Option<usize>,
    /// Iterations at most.
    pub iters: Option<usize>,
    /// Stop earlier when the error falls by less than this share.
    pub tol: Option<f64>,
    /// Samples of a mini-batch.
    pub batch: Option<usize>,
    /// Refit atoms by their leading singular pair.
    pub exact_update: bool,
    /// Bytes the fit may use beside the data.
    pub memory: Option<u64>,
    /// Kernel, landmarks and rank.
    pub kernel: KernelWishes,
    /// What only some methods have.
    pub own: OwnWishes,
}

/// The kernel and its approximation.
#[derive(Debug, Clone, Default)]
pub struct KernelWishes {
    /// The kernel.
    pub kernel: Option<KernelName>,
    /// The kernel itself, for [`KernelName::Custom`].
    pub custom: Option<Kernel>,
    /// Degree of the polynomial kernel.
    pub degree: Option<f64>,
    /// Offset of the polynomial or sigmoid kernel.
    pub offset: Option<f64>,
    /// Width of the Gaussian or exponential kernel.
    pub sigma: Option<Width>,
    /// Rate of the Laplacian or χ² kernel, scale of the sigmoid.
    pub rate: Option<f64>,
    /// Divide the kernel by the square root of its diagonal.
    pub normalized: bool,
    /// How landmarks are chosen.
    pub sampler: Option<Sampler>,
    /// c.
    pub landmarks: Option<LandmarkCount>,
    /// k.
    pub rank: Option<Count>,
    /// How the projection is made.
    pub variant: Option<Variant>,
    /// Subtract the mean virtual sample.
    pub centered: bool,
    /// What to do with a kernel that is not positive.
    pub indefinite: Option<Indefinite>,
}

/// Weights and rules of single methods.
#[derive(Debug, Clone, Default)]
pub struct OwnWishes {
    /// Weight of label consistency, its square root (LC-KSVD).
    pub sqrt_alpha: Option<f64>,
    /// Weight of the linear classifier, its square root (LC-KSVD2, D-KSVD).
    pub sqrt_beta: Option<f64>,
    /// Atoms of the codes that are decided by, where they differ from those learned with (LC-KSVD,
    /// D-KSVD).
    pub decision_sparsity: Option<usize>,
    /// Weight of the codes' ℓ1 norm (FDDL).
    pub lambda1: Option<f64>,
    /// Weight of the codes' scatters (FDDL).
    pub lambda2: Option<f64>,
    /// How FDDL decides.
    pub rule: Option<RuleName>,
    /// Code by the lasso with this share of the largest correlation (SRC).
    pub lasso: Option<f64>,
    /// Do as the published program does where it departs from the paper.
    pub compat: bool,
}

impl Default for Wishes {
    /// Nothing is said.
    fn default() -> Self {
        Self {
            method: Method::Ksvd,
            map: None,
            prepare: None,
            atoms: None,
            sparsity: None,
            learning_sparsity: None,
            iters: None,
            tol: None,
            batch: None,
            exact_update: false,
            memory: None,
            kernel: KernelWishes::default(),
            own: OwnWishes::default(),
        }
    }
}

impl Wishes {
    /// Wishes from options and their texts, as settings and config files have them.
    pub fn from_settings<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, RecipeError> {
        let mut wishes = Self::default();
        for (option, value) in settings {
            wishes.set(option, value).map_err(|requirement| RecipeError::Unreadable {
                option: option.into(),
                value: value.into(),
                requirement,
            })?;
        }
        Ok(wishes)
    }

    fn set(&mut self, option: &str, text: &str) -> Result<(), String> {
        let (kernel, own) = (&mut self.kernel, &mut self.own);
        match option {
            "method" => self.method = text.parse()?,
            "map" => self.map = Some(text.parse()?),
            "prepare" => self.prepare = Some(text.parse().map_err(|error| said(&error))?),
            "atoms" => self.atoms = text.parse::<Count>()?.exact(),
            "sparsity" => self.sparsity = text.parse::<Count>()?.exact(),
            "learning-sparsity" => self.learning_sparsity = Some(count(text)?),
            "iters" => self.iters = Some(count(text)?),
            "tol" => self.tol = Some(number(text)?),
            "batch" => self.batch = Some(count(text)?),
            "exact-update" => self.exact_update = switch(text)?,
            "memory" => self.memory = Some(text.parse::<Bytes>()?.0),
            "kernel" => kernel.kernel = Some(text.parse()?),
            "degree" => kernel.degree = Some(number(text)?),
            "offset" => kernel.offset = Some(number(text)?),
            "sigma" => kernel.sigma = Some(text.parse::<Width>()?),
            "rate" => kernel.rate = Some(number(text)?),
            "normalized" => kernel.normalized = switch(text)?,
            "sampler" => {
                kernel.sampler = Some(Sampler::from_str(text).map_err(|error| said(&error))?);
            }
            "landmarks" => kernel.landmarks = Some(landmarks(text)?),
            "rank" => kernel.rank = Some(text.parse()?),
            "variant" => kernel.variant = Some(variant(text)?),
            "centered" => kernel.centered = switch(text)?,
            "indefinite" => kernel.indefinite = Some(indefinite(text)?),
            "sqrt-alpha" => own.sqrt_alpha = Some(number(text)?),
            "sqrt-beta" => own.sqrt_beta = Some(number(text)?),
            "decision-sparsity" => own.decision_sparsity = Some(count(text)?),
            "lambda1" => own.lambda1 = Some(number(text)?),
            "lambda2" => own.lambda2 = Some(number(text)?),
            "rule" => own.rule = Some(text.parse()?),
            "lasso" => own.lasso = Some(number(text)?),
            "compat" => own.compat = switch(text)?,
            _ => return Err("no such option exists".into()),
        }
        Ok(())
    }

    /// Every option that was given, and its text, as [`Wishes::from_settings`] reads it.
    pub fn said(&self) -> impl Iterator<Item = (&'static str, String)> {
        let of_all = [
            ("method", Some(self.method.to_string())),
            ("map", text(&self.map)),
            ("prepare", text(&self.prepare)),
            ("memory", text(&self.memory)),
            ("kernel", text(&self.kernel.kernel)),
        ];
        of_all.into_iter().chain(self.of_some()).filter_map(|(option, said)| Some((option, said?)))
    }

    /// Options that are not for everything and were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        self.of_some().filter(|(_, said)| said.is_some()).map(|(option, _)| option)
    }

    /// Options that are not for everything, and their texts where they were given.
    fn of_some(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let method = [
            ("exact-update", on(self.exact_update)),
            ("atoms", text(&self.atoms)),
            ("sparsity", text(&self.sparsity)),
            ("learning-sparsity", text(&self.learning_sparsity)),
            ("iters", text(&self.iters)),
            ("tol", text(&self.tol)),
            ("batch", text(&self.batch)),
        ];
        method.into_iter().chain(self.kernel.of_some()).chain(self.own.of_some())
    }

    /// Whether samples are rows of a kernel matrix.
    pub fn is_precomputed(&self) -> bool {
        self.kernel.kernel == Some(KernelName::Precomputed)
    }
}

impl KernelWishes {
    /// Options beside `kernel`, and their texts where they were given.
    fn of_some(&self) -> [(&'static str, Option<String>); 11] {
        [
            ("degree", text(&self.degree)),
            ("offset", text(&self.offset)),
            ("sigma", text(&self.sigma)),
            ("rate", text(&self.rate)),
            ("normalized", on(self.normalized)),
            ("sampler", text(&self.sampler)),
            ("landmarks", self.landmarks.map(landmarks_text)),
            ("rank", text(&self.rank)),
            ("variant", self.variant.map(|variant| variant_name(variant).into())),
            ("centered", on(self.centered)),
            ("indefinite", self.indefinite.map(|policy| indefinite_name(policy).into())),
        ]
    }

    /// Whether anything was said about the kernel or its approximation.
    pub fn says_anything(&self) -> bool {
        self.kernel.is_some() || self.of_some().iter().any(|(_, said)| said.is_some())
    }
}

impl OwnWishes {
    /// Options, and their texts where they were given.
    fn of_some(&self) -> [(&'static str, Option<String>); 8] {
        [
            ("sqrt-alpha", text(&self.sqrt_alpha)),
            ("sqrt-beta", text(&self.sqrt_beta)),
            ("decision-sparsity", text(&self.decision_sparsity)),
            ("lambda1", text(&self.lambda1)),
            ("lambda2", text(&self.lambda2)),
            ("rule", text(&self.rule)),
            ("lasso", text(&self.lasso)),
            ("compat", on(self.compat)),
        ]
    }
}

fn text(value: &Option<impl ToString>) -> Option<String> {
    value.as_ref().map(ToString::to_string)
}

/// The text of a switch.
fn on(given: bool) -> Option<String> {
    given.then(|| "true".into())
}

fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "must be a count".into())
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "must be a number".into())
}

fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".into())
}

/// What the library requires, after "but".
fn said(error: &lkdl::LkdlError) -> String {
    match error {
        lkdl::LkdlError::Parameter { requirement, .. } => format!("must be {requirement}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_what_is_wrong_is_named() {
        let wishes = Wishes::from_settings([
            ("method", "mod"),
            ("map", "nystroem"),
            ("atoms", "auto"),
            ("sparsity", "7"),
            ("sigma", "0.5median"),
            ("landmarks", "20%"),
            ("sampler", "uniform"),
            ("compat", "true"),
        ])
        .unwrap();
        assert_eq!((wishes.method, wishes.map), (Method::Mod, Some(MapName::Nystroem)));
        assert_eq!((wishes.atoms, wishes.sparsity), (None, Some(7)));
        assert_eq!(wishes.kernel.sigma, Some(Width::Median(0.5)));
        assert!(wishes.kernel.says_anything() && wishes.own.compat);
        let said: Vec<String> =
            wishes.said().map(|(option, text)| option.to_string() + "=" + &text).collect();
        assert_eq!(
            said.join(" "),
            "method=mod map=nystroem sparsity=7 sigma=0.5median sampler=uniform landmarks=20% \
             compat=true"
        );
        let text = |option, value| {
            Wishes::from_settings([(option, value)]).map(|_| ()).unwrap_err().to_string()
        };
        assert_eq!(text("iters", "-1"), "iters is \"-1\", but must be a count");
        assert!(text("sampler", "kmeans").starts_with("sampler is \"kmeans\", but must be hybrid"));
        assert_eq!(text("colour", "red"), "colour is \"red\", but no such option exists");
    }
}
