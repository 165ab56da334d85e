//! What stands between cells: found out from the first lines.

/// What stands between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// One character; quotes around a cell hide it.
    Character(char),
    /// Any number of blanks and tabs, none of them inside a cell.
    Blanks,
}

impl Separator {
    const CHARACTERS: [char; 3] = [',', ';', '\t'];

    /// The separator of a file that starts with these lines. Of the characters that stand in the
    /// first line it is the one between most numbers, `usual` where that does not tell; without
    /// any, blanks, if both lines have as many.
    pub(super) fn of(first: &str, second: Option<&str>, usual: char) -> Self {
        let numbers = |separator: char| {
            let lines = [Some(first), second];
            let cells = lines.into_iter().flatten().flat_map(|line| cells(line, separator));
            cells.filter(|cell| is_number(cell, separator)).count()
        };
        let order = std::iter::once(usual).chain(Self::CHARACTERS);
        let mut best = None;
        for separator in order.filter(|separator| cells(first, *separator).count() > 1) {
            let count = numbers(separator);
            if best.is_none_or(|(most, _)| count > most) {
                best = Some((count, separator));
            }
        }
        if let Some((_, separator)) = best {
            return Self::Character(separator);
        }
        let words = |line: &str| line.split_ascii_whitespace().count();
        let agree = second.is_none_or(|second| words(second) == words(first));
        if words(first) > 1 && agree { Self::Blanks } else { Self::Character(usual) }
    }
}

/// Whether a cell is a number, be it one with a decimal comma.
fn is_number(cell: &str, separator: char) -> bool {
    let cell = cell.trim();
    let point = || cell.replacen(',', ".", 1).parse::<f64>().is_ok();
    cell.parse::<f64>().is_ok() || (separator != ',' && point())
}

/// The cells of one line, quotes and all.
fn cells(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |character| {
        is_quoted ^= character == '"';
        character == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_found_in_the_first_lines() {
        let character = Separator::Character;
        for (first, second, usual, separator) in [
            ("a,b,label", "1,2,x", ',', character(',')),
            ("a;b;label", "1;2;x", ',', character(';')),
            ("1;2;x", "3;4;y", ',', character(';')),
            ("a\tb\tlabel", "1\t2\tx", ',', character('\t')),
            ("a,b,label", "1,2,x", '\t', character(',')),
            ("a b label", "1 2 x", ',', Separator::Blanks),
            ("  1.5   2.5 3", "4 5  6", ',', Separator::Blanks),
            // decimal commas
            ("a;b;label", "1,5;2,5;x", ',', character(';')),
            ("1,5;2,5;x", "1,5;2,5;y", ',', character(';')),
            // other separators inside cells
            ("1,2,x;y", "1,2,z;w", ',', character(',')),
            ("\"a;b\",\"c;d\",e", "1,2,3", ',', character(',')),
            ("sepal length,sepal width", "1,2", ',', character(',')),
            // one column
            ("sepal length", "5.1", ',', character(',')),
            ("5.1", "4.9", '\t', character('\t')),
        ] {
            assert_eq!(Separator::of(first, Some(second), usual), separator, "{first:?}");
        }
        assert_eq!(Separator::of("1 2 3", None, ','), Separator::Blanks);
    }
}
