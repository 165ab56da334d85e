//! Methods, maps and kernels by name: one list of each, for flags, files and programs.

use std::fmt::Display;
use std::str::FromStr;

/// A choice among named things.
pub trait Named: Copy + PartialEq + 'static {
    /// Every choice with its name and what it is, in the order they are shown.
    const ALL: &'static [(Self, &'static str, &'static str)];
    /// Names that are understood beside those of [`Named::ALL`].
    const ALIASES: &'static [(&'static str, Self)] = &[];

    /// The name of this choice.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(choice, ..)| *choice == self).map_or("custom", |(_, name, _)| name)
    }

    /// The choice of this name.
    fn named(name: &str) -> Option<Self> {
        let listed = Self::ALL.iter().find(|(_, known, _)| *known == name);
        let alias = || Self::ALIASES.iter().find(|(known, _)| *known == name);
        listed.map(|(choice, ..)| *choice).or_else(|| alias().map(|(_, choice)| *choice))
    }
}

/// The choice of this name, or an error with all names.
pub(crate) fn parse<N: Named>(name: &str) -> Result<N, String> {
    N::named(name).ok_or_else(|| {
        let known: Vec<&str> = N::ALL.iter().map(|(_, known, _)| *known).collect();
        format!("must be one of {}", known.join(", "))
    })
}

macro_rules! named {
    (
        $(#[$about:meta])* $type:ident {
            $($choice:ident $name:literal $what:literal,)*
        }
        $(unlisted { $(#[$doc:meta])* $unlisted:ident })?
        $(aliases { $($alias:literal $aliased:ident),* })?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type {
            $(#[doc = $what] $choice,)*
            $($(#[$doc])* $unlisted,)?
        }

        impl Named for $type {
            const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$choice, $name, $what)),*];
            $(const ALIASES: &'static [(&'static str, Self)] =
                &[$(($alias, Self::$aliased)),*];)?
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                parse(name)
            }
        }

        impl Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named! {
    /// What is learned.
    Method {
        Ksvd "ksvd" "A dictionary for each class by K-SVD, one atom at a time",
        Mod "mod" "A dictionary for each class by the method of optimal directions, all atoms at once",
        Online "online" "A dictionary for each class that moves after every mini-batch",
        Rls "rls" "RLS-DLA: a dictionary for each class, refitted after every mini-batch, that forgets",
        LcKsvd1 "lc-ksvd1" "LC-KSVD1: one dictionary whose codes are alike within a class",
        LcKsvd2 "lc-ksvd2" "LC-KSVD2: and tell the classes apart linearly",
        DKsvd "d-ksvd" "D-KSVD: one dictionary whose codes tell the classes apart linearly",
        Fddl "fddl" "FDDL: dictionaries of all classes, told apart by residuals and codes",
        FddlSimplified "fddl-simplified" "FDDL class by class, the form behind the published numbers",
        Src "src" "SRC: a sample is represented by all training samples",
        KernelKsvd "kernel-ksvd" "Kernel K-SVD for each class, exactly (no map; n^2 memory per class)",
        KernelMod "kernel-mod" "Kernel MOD for each class, exactly (no map; n^2 memory per class)",
        KernelSrc "kernel-src" "SRC in the kernel's space, exactly (no map; N^2 memory)",
    }
}

impl Method {
    /// Whether it works in the kernel's own space, so that there is nothing to map.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::KernelKsvd | Self::KernelMod | Self::KernelSrc)
    }

    /// Whether it learns a dictionary for each class by a linear learner.
    pub fn has_class_dictionaries(self) -> bool {
        matches!(self, Self::Ksvd | Self::Mod | Self::Online | Self::Rls)
    }

    /// Those that learn from samples which come in blocks.
    pub const STREAMED: [Self; 3] = [Self::Online, Self::Rls, Self::Mod];
}

named! {
    /// A map.
    MapName {
        Nystroem "nystroem" "Nyström: any kernel, from landmarks",
        Fourier "fourier" "Random Fourier features of the Gaussian kernel",
        Fastfood "fastfood" "Fastfood features of the Gaussian kernel",
        None "none" "No map: the linear method on the samples themselves",
    }
    aliases { "rff" Fourier }
}

named! {
    /// A kernel.
    KernelName {
        Linear "linear" "x'y",
        Polynomial "polynomial" "(x'y + offset)^degree",
        Gaussian "gaussian" "exp(-|x-y|^2 / (2 sigma^2))",
        Exponential "exponential" "exp(-|x-y| / sigma)",
        Laplacian "laplacian" "exp(-rate |x-y|_1)",
        Cosine "cosine" "x'y / (|x| |y|)",
        Sigmoid "sigmoid" "tanh(rate x'y + offset)",
        Chi2 "chi2" "exp(-rate chi2(x, y)), for values >= 0",
        Chi2Additive "chi2-additive" "sum of 2xy / (x+y), for values >= 0",
        Precomputed "precomputed" "The samples are rows of a kernel matrix",
    }
    unlisted {
        /// The caller's own, which only a program can give.
        Custom
    }
}

named! {
    /// How FDDL decides.
    RuleName {
        Local "local" "A code over the atoms of each class",
        Global "global" "One code over the atoms of all classes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_are_read_back<N: Named + std::fmt::Debug>() {
        for (choice, name, what) in N::ALL {
            assert_eq!((N::named(name), choice.name()), (Some(*choice), *name));
            assert!(!what.is_empty());
        }
    }

    #[test]
    fn every_name_is_read_back() {
        names_are_read_back::<Method>();
        names_are_read_back::<MapName>();
        names_are_read_back::<KernelName>();
        names_are_read_back::<RuleName>();
        assert_eq!("rff".parse(), Ok(MapName::Fourier));
        let error = "rbf".parse::<KernelName>().unwrap_err();
        assert!(error.starts_with("must be one of linear, polynomial, gaussian"), "{error}");
    }
}
