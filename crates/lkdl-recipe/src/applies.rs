//! Which options mean something to which map, kernel and method. An option that means nothing is
//! refused, not passed over: whoever gave it expects something of it.

use crate::error::{Fits, RecipeError};
use crate::names::{KernelName, MapName, Method, Named};

/// What was said or chosen, as far as options depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// What is learned.
    pub method: Method,
    /// The map.
    pub map: MapName,
    /// The kernel of the map: none without a map, the Gaussian one of random features.
    pub kernel: Option<KernelName>,
    /// Whether the user named the kernel.
    pub kernel_is_said: bool,
}

/// What an option is for.
enum For {
    Methods(&'static [Method]),
    Maps(&'static [MapName]),
    /// Kernels that can be any: of Nyström, or of a method in the kernel's space.
    AnyKernel,
    Kernels(&'static [KernelName]),
}

const NYSTROEM: For = For::Maps(&[MapName::Nystroem]);
const FDDL: For = For::Methods(&[Method::Fddl, Method::FddlSimplified]);
/// A dictionary for each class, from codes of so many atoms.
const CLASS_LEARNERS: [Method; 6] =
    [Method::Ksvd, Method::Mod, Method::Online, Method::Rls, Method::KernelKsvd, Method::KernelMod];
/// All that learn atoms.
const LEARNERS: [Method; 11] = [
    Method::Ksvd,
    Method::Mod,
    Method::Online,
    Method::Rls,
    Method::LcKsvd1,
    Method::LcKsvd2,
    Method::DKsvd,
    Method::Fddl,
    Method::FddlSimplified,
    Method::KernelKsvd,
    Method::KernelMod,
];
/// All whose codes have so many atoms at most.
const SPARSE: [Method; 11] = [
    Method::Ksvd,
    Method::Mod,
    Method::Online,
    Method::Rls,
    Method::LcKsvd1,
    Method::LcKsvd2,
    Method::DKsvd,
    Method::Src,
    Method::KernelKsvd,
    Method::KernelMod,
    Method::KernelSrc,
];

impl Method {
    /// Whether an option that is for some methods is for this one.
    pub fn takes(self, option: &str) -> bool {
        let rule = RULES.iter().find(|(known, _)| *known == option);
        !matches!(rule, Some((_, For::Methods(methods))) if !methods.contains(&self))
    }
}

/// Options that are not for everything.
const RULES: [(&str, For); 26] = [
    ("exact-update", For::Methods(&[Method::Ksvd, Method::KernelKsvd])),
    ("atoms", For::Methods(&LEARNERS)),
    ("iters", For::Methods(&LEARNERS)),
    ("tol", For::Methods(&CLASS_LEARNERS)),
    ("batch", For::Methods(&[Method::Online, Method::Rls])),
    ("learning-sparsity", For::Methods(&CLASS_LEARNERS)),
    ("sparsity", For::Methods(&SPARSE)),
    ("sqrt-alpha", For::Methods(&[Method::LcKsvd1, Method::LcKsvd2])),
    ("sqrt-beta", For::Methods(&[Method::LcKsvd2, Method::DKsvd])),
    ("decision-sparsity", For::Methods(&[Method::LcKsvd1, Method::LcKsvd2, Method::DKsvd])),
    ("lambda1", FDDL),
    ("lambda2", FDDL),
    ("rule", FDDL),
    ("lasso", For::Methods(&[Method::Src, Method::KernelSrc])),
    (
        "compat",
        For::Methods(&[
            Method::KernelKsvd,
            Method::LcKsvd1,
            Method::LcKsvd2,
            Method::DKsvd,
            Method::FddlSimplified,
        ]),
    ),
    ("normalized", For::AnyKernel),
    ("sampler", NYSTROEM),
    ("landmarks", NYSTROEM),
    ("variant", NYSTROEM),
    ("centered", NYSTROEM),
    ("indefinite", NYSTROEM),
    ("rank", For::Maps(&[MapName::Nystroem, MapName::Fourier, MapName::Fastfood])),
    ("degree", For::Kernels(&[KernelName::Polynomial])),
    ("offset", For::Kernels(&[KernelName::Polynomial, KernelName::Sigmoid])),
    ("sigma", For::Kernels(&[KernelName::Gaussian, KernelName::Exponential])),
    ("rate", For::Kernels(&[KernelName::Laplacian, KernelName::Sigmoid, KernelName::Chi2])),
];

impl Chosen {
    /// Whether an option means something here.
    pub fn takes(&self, option: &str) -> bool {
        self.check(option).is_ok()
    }

    /// An error that names an option that means nothing here and the one it does not go with.
    pub fn check(&self, option: &str) -> Result<(), RecipeError> {
        let Some((option, rule)) = RULES.iter().find(|(known, _)| *known == option) else {
            return Ok(());
        };
        let misplaced = |with, note, fits| {
            Err(RecipeError::Misplaced { option, value: None, with, note, fits })
        };
        let (method, map) = (("method", self.method.name()), ("map", self.map.name()));
        match rule {
            For::Methods(methods) if !methods.contains(&self.method) => {
                misplaced(method, "", values("method", methods))
            }
            For::AnyKernel if !self.has_any_kernel() => {
                misplaced(map, "", values("map", &[MapName::Nystroem]))
            }
            For::Maps(_) if self.method.is_exact() => {
                let fits = Fits::Advice("it is for {map} nystroem with another method");
                misplaced(method, ", which has no map", fits)
            }
            For::Maps(maps) if !maps.contains(&self.map) => misplaced(map, "", values("map", maps)),
            For::Kernels(kernels) => match &self.kernel {
                Some(kernel) if kernels.contains(kernel) => Ok(()),
                Some(kernel) => {
                    let note = match (self.has_any_kernel(), self.kernel_is_said) {
                        (true, true) => "",
                        (true, false) => ", which suits these data",
                        _ => ", the one of random features",
                    };
                    misplaced(("kernel", kernel.name()), note, values("kernel", kernels))
                }
                None => misplaced(map, "", values("kernel", kernels)),
            },
            _ => Ok(()),
        }
    }

    /// Whether the kernel can be any.
    fn has_any_kernel(&self) -> bool {
        self.map == MapName::Nystroem || self.method.is_exact()
    }

    /// `map` itself: a method in the kernel's space maps nothing.
    pub(crate) fn check_map(&self) -> Result<(), RecipeError> {
        if !self.method.is_exact() || self.map == MapName::None {
            return Ok(());
        }
        Err(RecipeError::Misplaced {
            option: "map",
            value: Some(self.map.name()),
            with: ("method", self.method.name()),
            note: ", which works in the kernel's space itself",
            fits: Fits::Advice("leave {map}, or choose another method"),
        })
    }

    /// `kernel` itself: random features are of the Gaussian kernel, and no map has no kernel.
    pub(crate) fn check_kernel(&self, said: Option<KernelName>) -> Result<(), RecipeError> {
        match said {
            Some(said) if self.kernel != Some(said) => Err(RecipeError::Misplaced {
                option: "kernel",
                value: Some(said.name()),
                with: ("map", self.map.name()),
                note: "",
                fits: Fits::Advice("choose {map} nystroem, or leave {kernel}"),
            }),
            _ => Ok(()),
        }
    }
}

fn values<N: Named>(option: &'static str, choices: &[N]) -> Fits {
    Fits::Values(option, choices.iter().map(|choice| choice.name()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wishes;

    fn chosen(map: MapName, kernel: Option<KernelName>) -> Chosen {
        Chosen { method: Method::Ksvd, map, kernel, kernel_is_said: true }
    }

    #[test]
    fn every_rule_is_of_an_option_that_exists() {
        for (option, _) in RULES {
            let error = Wishes::from_settings([(option, "?")]).unwrap_err().to_string();
            assert!(error.contains("but must be"), "{error}");
        }
    }

    #[test]
    fn an_option_that_means_nothing_is_refused_with_what_it_does_not_go_with() {
        let polynomial = chosen(MapName::Nystroem, Some(KernelName::Polynomial));
        let text = polynomial.check("sigma").unwrap_err().spelled(&|option| format!("--{option}"));
        let expected = "--sigma does not go with --kernel polynomial; it is for --kernel gaussian \
                        or exponential";
        assert_eq!(text, expected);
        let by_data = Chosen { kernel_is_said: false, ..polynomial };
        let text = by_data.check("rate").unwrap_err().to_string();
        assert!(text.contains("kernel polynomial, which suits these data; "), "{text}");
        let linear = chosen(MapName::None, None);
        for flag in ["sigma", "degree", "landmarks", "rank", "normalized", "indefinite"] {
            let text = linear.check(flag).unwrap_err().to_string();
            assert!(text.contains(&format!("{flag} does not go with map none; ")), "{text}");
        }
        let random = chosen(MapName::Fourier, Some(KernelName::Gaussian));
        assert!(random.takes("sigma") && random.takes("rank"));
        assert!(!random.takes("landmarks") && !random.takes("centered") && !random.takes("degree"));
        let of_mod = Chosen { method: Method::Mod, ..polynomial };
        let text = of_mod.check("exact-update").unwrap_err().to_string();
        assert!(text.contains("method mod; it is for method ksvd"), "{text}");
        assert!(polynomial.takes("degree") && polynomial.takes("atoms"));
    }

    #[test]
    fn a_kernel_needs_a_map_that_has_it() {
        let random = chosen(MapName::Fourier, Some(KernelName::Gaussian));
        assert!(random.check_kernel(Some(KernelName::Gaussian)).is_ok());
        assert!(random.check_kernel(None).is_ok());
        let text = random.check_kernel(Some(KernelName::Laplacian)).unwrap_err().to_string();
        assert!(text.contains("kernel laplacian does not go with map fourier; choose map nystroem, or leave kernel"), "{text}");
        assert!(chosen(MapName::None, None).check_kernel(Some(KernelName::Linear)).is_err());
    }
}
