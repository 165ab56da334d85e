//! Which flags mean something to which map, kernel and method. A flag that means nothing is
//! refused, not passed over: whoever gave it expects something of it.

use super::flags::{KernelName, MapName, Method};
use crate::failure::Failure;
use clap::ValueEnum;

/// What was said or chosen, as far as flags depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    pub method: Method,
    pub map: MapName,
    /// The kernel of the map: none without a map, the Gaussian one of random features.
    pub kernel: Option<KernelName>,
    /// Whether the user named the kernel.
    pub kernel_is_said: bool,
}

/// What a flag is for.
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
const CLASS_LEARNERS: [Method; 4] =
    [Method::Ksvd, Method::Mod, Method::KernelKsvd, Method::KernelMod];
/// All that learn atoms.
const LEARNERS: [Method; 9] = [
    Method::Ksvd,
    Method::Mod,
    Method::LcKsvd1,
    Method::LcKsvd2,
    Method::DKsvd,
    Method::Fddl,
    Method::FddlSimplified,
    Method::KernelKsvd,
    Method::KernelMod,
];
/// All whose codes have so many atoms at most.
const SPARSE: [Method; 9] = [
    Method::Ksvd,
    Method::Mod,
    Method::LcKsvd1,
    Method::LcKsvd2,
    Method::DKsvd,
    Method::Src,
    Method::KernelKsvd,
    Method::KernelMod,
    Method::KernelSrc,
];

impl Method {
    /// Whether a flag that is for some methods is for this one.
    pub fn takes(self, flag: &str) -> bool {
        let rule = RULES.iter().find(|(known, _)| *known == flag);
        !matches!(rule, Some((_, For::Methods(methods))) if !methods.contains(&self))
    }
}

/// Flags that are not for everything.
const RULES: [(&str, For); 24] = [
    ("exact-update", For::Methods(&[Method::Ksvd, Method::KernelKsvd])),
    ("atoms", For::Methods(&LEARNERS)),
    ("iters", For::Methods(&LEARNERS)),
    ("tol", For::Methods(&CLASS_LEARNERS)),
    ("learning-sparsity", For::Methods(&CLASS_LEARNERS)),
    ("sparsity", For::Methods(&SPARSE)),
    ("sqrt-alpha", For::Methods(&[Method::LcKsvd1, Method::LcKsvd2])),
    ("sqrt-beta", For::Methods(&[Method::LcKsvd2, Method::DKsvd])),
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
    /// Whether a flag means something here.
    pub fn takes(&self, flag: &str) -> bool {
        self.check(flag).is_ok()
    }

    /// An error that names a flag that means nothing here and the one it does not go with.
    pub fn check(&self, flag: &str) -> Result<(), Failure> {
        let refused = |with: String, fit: String| {
            Err(Failure::usage(format!("--{flag} does not go with {with}; it is for {fit}")))
        };
        match RULES.iter().find(|(known, _)| *known == flag) {
            Some((_, For::Methods(methods))) if !methods.contains(&self.method) => {
                refused(format!("--method {}", name(&self.method)), any("--method", methods))
            }
            Some((_, For::AnyKernel)) if !self.has_any_kernel() => {
                refused(format!("--map {}", name(&self.map)), "--map nystroem".into())
            }
            Some((_, For::Maps(_))) if self.method.is_exact() => {
                let with = format!("--method {}, which has no map", name(&self.method));
                refused(with, "--map nystroem with another method".into())
            }
            Some((_, For::Maps(maps))) if !maps.contains(&self.map) => {
                refused(format!("--map {}", name(&self.map)), any("--map", maps))
            }
            Some((_, For::Kernels(kernels))) => match &self.kernel {
                Some(kernel) if kernels.contains(kernel) => Ok(()),
                Some(kernel) => {
                    let origin = match (self.has_any_kernel(), self.kernel_is_said) {
                        (true, true) => "",
                        (true, false) => ", which suits these data",
                        _ => ", the one of random features",
                    };
                    let with = format!("--kernel {}{origin}", name(kernel));
                    refused(with, any("--kernel", kernels))
                }
                None => refused(format!("--map {}", name(&self.map)), any("--kernel", kernels)),
            },
            _ => Ok(()),
        }
    }

    /// Whether the kernel can be any.
    fn has_any_kernel(&self) -> bool {
        self.map == MapName::Nystroem || self.method.is_exact()
    }

    /// `--map` itself: a method in the kernel's space maps nothing.
    pub fn check_map(&self) -> Result<(), Failure> {
        if !self.method.is_exact() || self.map == MapName::None {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--map {} does not go with --method {}, which works in the kernel's space itself; leave \
             --map, or choose another method",
            name(&self.map),
            name(&self.method)
        )))
    }

    /// `--kernel` itself: random features are of the Gaussian kernel, and no map has no kernel.
    pub fn check_kernel(&self, said: Option<KernelName>) -> Result<(), Failure> {
        match said {
            Some(said) if self.kernel != Some(said) => Err(Failure::usage(format!(
                "--kernel {} does not go with --map {}; choose --map nystroem, or leave --kernel",
                name(&said),
                name(&self.map)
            ))),
            _ => Ok(()),
        }
    }
}

/// The name of a value as the command line has it.
pub fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// `--kernel gaussian or exponential`.
fn any(flag: &str, values: &[impl ValueEnum]) -> String {
    let names: Vec<String> = values.iter().map(name).collect();
    format!("{flag} {}", names.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::MethodFlags;
    use clap::{Args, Command};

    fn chosen(map: MapName, kernel: Option<KernelName>) -> Chosen {
        Chosen { method: Method::Ksvd, map, kernel, kernel_is_said: true }
    }

    #[test]
    fn every_rule_is_of_a_flag_that_exists() {
        let command = MethodFlags::augment_args(Command::new("fit"));
        for (flag, _) in RULES {
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some(flag)), "{flag}");
        }
    }

    #[test]
    fn a_flag_that_means_nothing_is_refused_with_what_it_does_not_go_with() {
        let polynomial = chosen(MapName::Nystroem, Some(KernelName::Polynomial));
        let text = polynomial.check("sigma").unwrap_err().to_string();
        let expected = "--sigma does not go with --kernel polynomial; it is for --kernel gaussian \
                        or exponential";
        assert_eq!(text, expected);
        let by_data = Chosen { kernel_is_said: false, ..polynomial };
        let text = by_data.check("rate").unwrap_err().to_string();
        assert!(text.contains("--kernel polynomial, which suits these data; "), "{text}");
        let linear = chosen(MapName::None, None);
        for flag in ["sigma", "degree", "landmarks", "rank", "normalized", "indefinite"] {
            let text = linear.check(flag).unwrap_err().to_string();
            assert!(text.contains(&format!("--{flag} does not go with --map none; ")), "{text}");
        }
        let random = chosen(MapName::Fourier, Some(KernelName::Gaussian));
        assert!(random.takes("sigma") && random.takes("rank"));
        assert!(!random.takes("landmarks") && !random.takes("centered") && !random.takes("degree"));
        let of_mod = Chosen { method: Method::Mod, ..polynomial };
        let text = of_mod.check("exact-update").unwrap_err().to_string();
        assert!(text.contains("--method mod; it is for --method ksvd"), "{text}");
        assert!(polynomial.takes("degree") && polynomial.takes("atoms"));
    }

    #[test]
    fn a_kernel_needs_a_map_that_has_it() {
        let random = chosen(MapName::Fourier, Some(KernelName::Gaussian));
        assert!(random.check_kernel(Some(KernelName::Gaussian)).is_ok());
        assert!(random.check_kernel(None).is_ok());
        let text = random.check_kernel(Some(KernelName::Laplacian)).unwrap_err().to_string();
        assert!(text.contains("--kernel laplacian does not go with --map fourier"), "{text}");
        assert!(chosen(MapName::None, None).check_kernel(Some(KernelName::Linear)).is_err());
    }
}
