//! Why wishes cannot be followed.

use lkdl::LkdlError;
use thiserror::Error;

/// What is wrong, in words that a front can spell its own way.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// An option means nothing beside the others.
    #[error("{}", self.spelled(&|option| option.to_string()))]
    Misplaced {
        /// The option.
        option: &'static str,
        /// What it was given, where that is at fault.
        value: Option<&'static str>,
        /// The option it does not go with, and that one's value.
        with: (&'static str, &'static str),
        /// What else there is to say of that.
        note: &'static str,
        /// The option and the values it is for.
        fits: Fits,
    },
    /// An option's text has no meaning.
    #[error("{option} is \"{value}\", but {requirement}")]
    Unreadable {
        /// The option.
        option: String,
        /// Its text.
        value: String,
        /// "must be …".
        requirement: String,
    },
    /// There is nothing to tell apart.
    #[error("{}", self.spelled(&|option| option.to_string()))]
    OneClass {
        /// What the data are called.
        data: String,
        /// What the class is called.
        class: String,
    },
    /// There is nothing to tell classes apart by.
    #[error("{}", self.spelled(&|option| option.to_string()))]
    AllSame {
        /// What the data are called.
        data: String,
        /// How many samples there are.
        n_samples: usize,
    },
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] LkdlError),
}

/// What a misplaced option would have gone with.
#[derive(Debug, Clone, PartialEq)]
pub enum Fits {
    /// It is for this option with any of these values.
    Values(&'static str, Vec<&'static str>),
    /// Advice in which options stand in braces.
    Advice(&'static str),
}

impl RecipeError {
    /// The message with every option as `spell` writes it: `--sigma` on a command line.
    pub fn spelled(&self, spell: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Misplaced { option, value, with, note, fits } => {
                let value = value.map_or(String::new(), |value| format!(" {value}"));
                let fits = match fits {
                    Fits::Values(option, values) => {
                        format!("it is for {} {}", spell(option), values.join(" or "))
                    }
                    Fits::Advice(text) => in_braces(text, spell),
                };
                let (beside, choice) = (spell(with.0), with.1);
                let option = spell(option);
                format!("{option}{value} does not go with {beside} {choice}{note}; {fits}")
            }
            Self::Unreadable { option, value, requirement } => {
                format!("{} is \"{value}\", but {requirement}", spell(option))
            }
            Self::OneClass { data, class } => format!(
                "{data} has one class, \"{class}\"; there is nothing to tell apart: give samples of \
                 another class, or name the right labels with {}",
                spell("label")
            ),
            Self::AllSame { data, n_samples } => format!(
                "{data} has {n_samples} sample{}, all of them the same; there is nothing to tell the \
                 classes apart by: check the columns and the label",
                if *n_samples == 1 { "" } else { "s" }
            ),
            Self::Engine(error) => error.to_string(),
        }
    }
}

/// The text with every `{option}` spelled.
fn in_braces(text: &str, spell: &dyn Fn(&str) -> String) -> String {
    let part = |(i, part): (usize, &str)| match i % 2 {
        0 => part.to_string(),
        _ => spell(part),
    };
    text.split(['{', '}']).enumerate().map(part).collect()
}
