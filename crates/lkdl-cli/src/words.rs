//! The words a person reads: library names as the flags they are set by, counts with their nouns,
//! and names from files that cannot play tricks on a terminal.

use lkdl::LkdlError;

/// Names under which the library speaks of what a flag sets.
const FLAGS: [(&str, &str); 24] = [
    ("n_landmarks", "--landmarks"),
    ("n_landmarks share", "--landmarks"),
    ("max landmarks", "--landmarks"),
    ("rank", "--rank"),
    ("n_atoms", "--atoms"),
    ("sparsity", "--sparsity"),
    ("max_iters", "--iters"),
    ("tol", "--tol"),
    ("sampler", "--sampler"),
    ("preparation", "--prepare"),
    ("kernel degree", "--degree"),
    ("kernel offset", "--offset"),
    ("kernel sigma", "--sigma"),
    ("kernel rate", "--rate"),
    ("kernel scale", "--rate"),
    ("n_folds", "--folds"),
    ("sqrt_alpha", "--sqrt-alpha"),
    ("sqrt_beta", "--sqrt-beta"),
    ("decision_sparsity", "--decision-sparsity"),
    ("l1_weight", "--lambda1"),
    ("rule's l1_weight", "--lambda1"),
    ("scatter_weight", "--lambda2"),
    ("rule's mean_weight", "--lambda2"),
    ("relative_penalty", "--lasso"),
];

/// Names that can stand anywhere in a sentence of the library, the longer before the shorter.
const IN_TEXT: [(&str, &str); 11] = [
    ("use classify::GramDictionariesParams, which takes these values", PRECOMPUTED),
    ("use GramSrc, which takes it beside the kernel values", PRECOMPUTED),
    ("n_landmarks", "--landmarks"),
    ("n_atoms", "--atoms"),
    ("max_iters", "--iters"),
    ("n_samples = ", "the number of samples, "),
    ("n_features = ", "the number of features, "),
    ("n_samples", "the number of samples"),
    ("n_features", "number of features"),
    ("n_classes", "number of classes"),
    ("the policy clip, flip or shift", "--indefinite clip, flip or shift"),
];

/// What takes a precomputed kernel.
const PRECOMPUTED: &str = "choose --method ksvd, which takes rows of kernel values";

/// The flag that sets what the library calls `name`; a name without a flag stays.
pub fn flag(name: &str) -> &str {
    FLAGS.iter().find(|(known, _)| *known == name).map_or(name, |(_, flag)| flag)
}

/// The flag that sets the reading option `name`.
pub fn reading_flag(name: &str) -> String {
    match name {
        "format" => "--format-in".into(),
        name => format!("--{}", name.replace('_', "-")),
    }
}

/// An error of the library in the words of the command line.
pub fn of_error(error: &LkdlError) -> String {
    match error {
        LkdlError::Parameter { name, value, requirement } => {
            format!("{} is {value}, but must be {}", flag(name), in_flags(requirement))
        }
        LkdlError::Shape { what, expected, got } if what.contains("n_features") => {
            format!("samples have {}, but must have {expected}", counted(*got, "feature"))
        }
        LkdlError::Memory { stage, need, budget } => format!(
            "the stage {stage} needs {}, but may use {}; raise --memory, or lower --landmarks, \
             --rank or --atoms",
            size(*need),
            size(*budget)
        ),
        // what it would have come to in the end is not known
        LkdlError::SurveyMemory { n_kept, n_classes, budget, .. } => format!(
            "the survey holds {}, some of each of {} so far, which is more than the {} that it may \
             use; raise --memory, lower --pilot, or check that --label names the classes",
            counted(*n_kept, "sample"),
            counted(*n_classes, "class"),
            size(*budget)
        ),
        LkdlError::InClass { class, source } => format!("class {class}: {}", of_error(source)),
        LkdlError::InBlock { block, first: Some(first), source } => {
            format!("block {block} (from sample {first} on): {}", of_error(source))
        }
        LkdlError::InBlock { block, first: None, source } => {
            format!("block {block}: {}", of_error(source))
        }
        LkdlError::Source { message } => message.clone(),
        other => in_flags(&other.to_string()),
    }
}

/// A sentence of the library with flags for the names of its parameters.
pub fn in_flags(text: &str) -> String {
    IN_TEXT.iter().fold(text.to_owned(), |text, (name, word)| text.replace(name, word))
}

/// "1 sample", "3 samples", "2 classes".
pub fn counted(count: usize, noun: &str) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        noun if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Bytes as a person reads them.
pub fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e5 => format!("{:.1} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        b => counted(b as usize, "byte"),
    }
}

/// A text on one line in which nothing moves the cursor, changes colours or reverses letters:
/// labels come from files.
pub fn shown(text: &str) -> String {
    escaped(text, |c| c.is_control())
}

/// [`shown`] for text of several lines; tabs stay.
pub fn shown_lines(text: &str) -> String {
    escaped(text, |c| c.is_control() && c != '\n' && c != '\t')
}

/// A message with its middle left out if it is longer than a person reads: names from files can be
/// of any length. What is wrong comes first, the fix last.
pub fn shortened(text: &str) -> String {
    const START: usize = 700;
    const END: usize = 300;
    let count = text.chars().count();
    if count <= START + END {
        return text.to_owned();
    }
    let start: String = text.chars().take(START).collect();
    let end: String = text.chars().skip(count - END).collect();
    format!("{start} … {end}")
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> String {
    // the marks that reverse the direction of what follows
    let reverses = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) || reverses(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_called_as_their_flags() {
        let error = LkdlError::parameter("n_landmarks", 9, "between 1 and n_samples = 5");
        let text = "--landmarks is 9, but must be between 1 and the number of samples, 5";
        assert_eq!(of_error(&error), text);
        let error = LkdlError::parameter("sparsity", 9, "between 1 and n_atoms = 5");
        assert_eq!(of_error(&error), "--sparsity is 9, but must be between 1 and --atoms = 5");
        let error = LkdlError::Shape { what: "n_features of samples", expected: 2, got: 1 };
        assert_eq!(of_error(&error), "samples have 1 feature, but must have 2");
        let error = LkdlError::InClass { class: 1, source: Box::new(error) };
        assert_eq!(of_error(&error), "class 1: samples have 1 feature, but must have 2");
        let error = LkdlError::Memory { stage: "map", need: 2_500_000, budget: 1000 };
        assert!(of_error(&error).starts_with("the stage map needs 2.5 MB, but may use 1.0 kB; "));
        let error = LkdlError::SurveyMemory { n_kept: 9, n_classes: 2, need: 1001, budget: 1000 };
        let text = "the survey holds 9 samples, some of each of 2 classes so far, which is more than \
                    the 1.0 kB that it may use; raise --memory, ";
        assert!(of_error(&error).starts_with(text));
        let error = LkdlError::Indefinite { share: 0.5 };
        assert!(
            of_error(&error).ends_with("choose another kernel or --indefinite clip, flip or shift")
        );
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(counted(1, "class"), "1 class");
        assert_eq!(counted(0, "class"), "0 classes");
        assert_eq!(counted(1, "sample"), "1 sample");
        assert_eq!(counted(2, "sample"), "2 samples");
    }

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        let sizes = [1, 950, 2_000, 1_500_000, 2_340_000_000].map(size);
        assert_eq!(sizes, ["1 byte", "950 bytes", "2.0 kB", "1.5 MB", "2.34 GB"]);
    }

    #[test]
    fn nothing_in_a_label_reaches_the_terminal_as_a_command() {
        assert_eq!(shown("a\x1b[31mb\r\n\u{9b}c"), "a\\u{1b}[31mb\\r\\n\\u{9b}c");
        assert_eq!(shown("\u{202e}abc"), "\\u{202e}abc");
        assert_eq!(shown("nö 七 \\n"), "nö 七 \\n");
        assert_eq!(shown_lines("a\nb\t\x07"), "a\nb\t\\u{7}");
    }
}
