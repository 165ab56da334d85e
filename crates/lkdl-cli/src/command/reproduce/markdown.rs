//! Records as text: tables for a terminal and for Markdown.

use crate::table::{Align, Table};
use lkdl_experiments::{EXPERIMENTS, Experiment, Quantity, Record, Run};
use std::collections::BTreeSet;

/// Lines of a figure with more points than this are for the eye, not for a table.
const MAX_COLUMNS: usize = 12;

/// The whole summary: verdict, then every experiment.
pub fn summary(records: &[Record], runs: &[Run]) -> String {
    let mut text = format!("# Results\n\n{}\n", verdict(records));
    for experiment in EXPERIMENTS {
        let own: Vec<&Record> = of(records, experiment.id);
        let skipped = skipped(runs, experiment.id);
        if own.is_empty() && skipped.is_empty() {
            continue;
        }
        text += &format!("\n## {} (`{}`)\n\n", experiment.title, experiment.id);
        text += &format!("{}.\n", capital(experiment.about));
        text += &tables(&own, experiment);
        for why in skipped {
            text += &format!("\n{why}\n");
        }
    }
    text
}

/// One block of a document, or none if there is no such block: `verdict`, `headline`, `outside`, an
/// experiment, or an experiment at one place (`1b@20`).
pub fn block(name: &str, records: &[Record]) -> Option<String> {
    match name.split_once('@') {
        _ if name == "verdict" => Some(verdict(records) + "\n"),
        _ if name == "headline" => Some(rows(&super::headline::select(records))),
        _ if name == "outside" => Some(rows(&outside(records))),
        Some((id, x)) => {
            let x: f64 = x.parse().ok()?;
            let experiment = Experiment::find(id)?;
            let at = |record: &&Record| record.x.is_none_or(|at| at == x);
            Some(rows(&of(records, experiment.id).into_iter().filter(at).collect::<Vec<_>>()))
        }
        None => {
            let experiment = Experiment::find(name)?;
            Some(tables(&of(records, name), experiment).trim_start().to_owned())
        }
    }
}

/// Where results were made.
pub fn setup(facts: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| format!("- {name}: `{value}`\n");
    format!("# Setup\n\n{}", facts.iter().map(line).collect::<String>())
}

/// How many of the published numbers came out.
pub fn verdict(records: &[Record]) -> String {
    let count = |program: bool| {
        let meant = records.iter().filter(|record| follows_program(record) == program);
        let judged = meant.filter_map(|record| record.within_tolerance);
        judged.fold((0, 0), |(within, all), is| (within + usize::from(is), all + 1))
    };
    let ((within, all), (others_within, others)) = (count(true), count(false));
    let mut text = format!(
        "Of the rows that follow the published program, {within} of {all} are within the tolerance \
         of their published numbers; of those that follow the text where it differs, and of other \
         variants, {others_within} of {others}."
    );
    let reduced = records.iter().filter(|record| record.reduced).count();
    if reduced > 0 {
        text += &format!(
            " Rows of smaller sizes than the paper's, {reduced}, are not held against it."
        );
    }
    text
}

/// The rows that follow the published program and did not come out.
fn outside(records: &[Record]) -> Vec<&Record> {
    let is_outside =
        |record: &&Record| follows_program(record) && record.within_tolerance == Some(false);
    records.iter().filter(is_outside).collect()
}

/// Whether a row is run as the published program runs it.
fn follows_program(record: &Record) -> bool {
    let variant = record.variant.as_str();
    variant.starts_with("program") || ["as published", "as Yale B", "code"].contains(&variant)
}

/// Rows for a terminal.
pub fn table(records: &[Record]) -> Table {
    let (left, right) = (Align::Left, Align::Right);
    let heads = [("method", left), ("variant", left), ("x", right), ("", left), ("ours", right)];
    let more = [("published", right), ("difference", right), ("", left), ("train s", right)];
    let mut table = Table::new(heads.into_iter().chain(more).chain([("test s", right)]));
    // the atoms of a figure are too many to read
    let readable = |record: &&Record| !is_long(records, record);
    for record in records.iter().filter(readable) {
        table.row([
            record.method.clone(),
            variant(record),
            record.x.map(|x| x.to_string()).unwrap_or_default(),
            record.quantity.label().to_owned(),
            ours(record),
            record.published.map(|value| number(value, record.quantity)).unwrap_or_default(),
            record.difference.map(|d| signed(d, record.quantity)).unwrap_or_default(),
            sign(record).to_owned(),
            format!("{:.2}", record.seconds.train),
            format!("{:.2}", record.seconds.test),
        ]);
    }
    table
}

/// The tables of an experiment: rows of single values, then one table per measured quantity.
fn tables(records: &[&Record], experiment: &Experiment) -> String {
    let single: Vec<&Record> = records.iter().filter(|r| r.x.is_none()).copied().collect();
    let mut text = String::new();
    if !single.is_empty() {
        text += &format!("\n{}", rows(&single));
    }
    for quantity in Quantity::ALL {
        let at: Vec<&Record> =
            records.iter().filter(|r| r.quantity == quantity && r.x.is_some()).copied().collect();
        if !at.is_empty() && columns(&at).len() <= MAX_COLUMNS {
            text += &format!("\n{}", pivot(&at, quantity, experiment.x_label));
        }
    }
    text
}

/// One line per record.
fn rows(records: &[&Record]) -> String {
    let mut text = String::from(
        "| data | method | variant | at | measured | ours | published | difference | | seeds |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for record in records {
        let published = record.published.map(|value| number(value, record.quantity));
        let cells = [
            record.dataset.clone(),
            record.method.clone(),
            variant(record),
            record.x.map(|x| x.to_string()).unwrap_or_default(),
            record.quantity.label().replace('|', "\\|"),
            ours(record),
            published.unwrap_or_default(),
            record.difference.map(|d| signed(d, record.quantity)).unwrap_or_default(),
            sign(record).to_owned(),
            record.runs.to_string(),
        ];
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// Lines against places: ours, and in parentheses what was published.
fn pivot(records: &[&Record], quantity: Quantity, x_label: &str) -> String {
    let places = columns(records);
    let heads: Vec<String> = places.iter().map(ToString::to_string).collect();
    let label = quantity.label().replace('|', "\\|");
    let mut text = format!("{label}, against {x_label}; mean ± σ (published):\n\n");
    text += &format!("| method | variant | seeds | {} |\n", heads.join(" | "));
    text += &format!("|---|---|---|{}\n", "---|".repeat(places.len()));
    for line in lines(records) {
        let cell = |x: &f64| {
            let found = line.iter().find(|record| record.x == Some(*x));
            found.map_or("–".into(), |record| {
                let published = record.published.map(|value| number(value, quantity));
                let published = published.map(|value| format!(" ({value})")).unwrap_or_default();
                let outside = if record.within_tolerance == Some(false) { " ✗" } else { "" };
                format!("{}{published}{outside}", ours(record))
            })
        };
        let cells: Vec<String> = places.iter().map(cell).collect();
        let first = line[0];
        let (method, variant, runs) = (&first.method, variant(first), first.runs);
        text += &format!("| {method} | {variant} | {runs} | {} |\n", cells.join(" | "));
    }
    text
}

/// Records of one method and variant together, in the order of their first.
pub fn lines<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    let mut lines: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        let same = |line: &&mut Vec<&Record>| {
            let first = line[0];
            (&first.method, &first.variant, &first.dataset)
                == (&record.method, &record.variant, &record.dataset)
        };
        match lines.iter_mut().find(same) {
            Some(line) => line.push(record),
            None => lines.push(vec![record]),
        }
    }
    lines
}

/// What could not be run, and why.
pub fn skipped(runs: &[Run], id: &str) -> BTreeSet<String> {
    let own = runs.iter().filter(|run| run.setting.experiment == id);
    let text = |run: &Run| {
        let (method, variant) = (&run.setting.method, &run.setting.variant);
        let train =
            run.setting.params.get("train").map(|n| format!(", N = {n}")).unwrap_or_default();
        Some(format!("{method} ({variant}{train}) was not run: it {}.", run.skipped.as_ref()?))
    };
    own.filter_map(text).collect()
}

/// The records of an experiment.
pub fn of<'a>(records: &'a [Record], id: &str) -> Vec<&'a Record> {
    records.iter().filter(|record| record.experiment == id).collect()
}

/// Mean and deviation.
pub fn ours(record: &Record) -> String {
    let mean = number(record.mean, record.quantity);
    if record.runs > 1 {
        format!("{mean} ± {}", number(record.std, record.quantity))
    } else {
        mean
    }
}

/// Whether it is within the tolerance.
pub fn sign(record: &Record) -> &'static str {
    match record.within_tolerance {
        Some(true) => "✓",
        Some(false) => "✗ outside",
        None if record.reduced => "reduced",
        None => "",
    }
}

fn variant(record: &Record) -> String {
    match (record.reduced, record.variant.as_str()) {
        (false, variant) => variant.to_owned(),
        (true, "") => "reduced size".into(),
        (true, variant) => format!("{variant}, reduced size"),
    }
}

fn is_long(records: &[Record], record: &Record) -> bool {
    let same = |other: &&Record| {
        other.quantity == record.quantity
            && (&other.method, &other.variant) == (&record.method, &record.variant)
    };
    record.x.is_some() && records.iter().filter(same).count() > 4 * MAX_COLUMNS
}

fn columns(records: &[&Record]) -> Vec<f64> {
    let mut places: Vec<f64> = records.iter().filter_map(|record| record.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

fn number(value: f64, quantity: Quantity) -> String {
    format!("{value:.*}", quantity.decimals())
}

fn signed(value: f64, quantity: Quantity) -> String {
    format!("{value:+.*}", quantity.decimals())
}

/// With a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lkdl_experiments::{Setting, Value};

    /// A row of figure 2a, where K-SVD reaches 95.57 clean and 76.64 at σ = 1.
    pub fn record(method: &str, x: f64, values: &[f64]) -> Record {
        let setting = Setting::new("2a", "program", method, "usps");
        let quantity = Quantity::Accuracy;
        let value =
            |value: &f64| Value { quantity, x: Some(x), value: *value, train: 1.0, test: 0.5 };
        Record::new(&setting, &values.iter().map(value).collect::<Vec<_>>(), false).unwrap()
    }

    fn example() -> Vec<Record> {
        let mut reduced = record("LKDL hybrid", 0.0, &[96.0]);
        reduced.reduced = true;
        vec![
            record("K-SVD", 0.0, &[95.5, 95.7]),
            record("K-SVD", 1.0, &[70.0]),
            record("LKDL uniform", 1.0, &[88.0]),
            reduced,
        ]
    }

    #[test]
    fn lines_stand_against_places_with_the_published_numbers() {
        let text = block("2a", &example()).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows.contains(&"| method | variant | seeds | 0 | 1 |"), "{text}");
        let ours = "| K-SVD | program | 2 | 95.60 ± 0.14 (95.57) | 70.00 (76.64) ✗ |";
        assert!(rows.contains(&ours), "{text}");
        assert!(rows.contains(&"| LKDL uniform | program | 1 | – | 88.00 (87.61) |"), "{text}");
        let reduced = "| LKDL hybrid | program, reduced size | 1 | 96.00 | – |";
        assert!(rows.contains(&reduced), "{text}");
    }

    #[test]
    fn one_place_is_a_row_per_record() {
        let text = block("2a@1", &example()).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        let row =
            "| usps | K-SVD | program | 1 | accuracy, % | 70.00 | 76.64 | -6.64 | ✗ outside | 1 |";
        assert!(text.contains(row), "{text}");
        assert_eq!((block("9z", &example()), block("2a@b", &example())), (None, None));
    }

    #[test]
    fn the_verdict_counts_what_can_be_judged() {
        let text = verdict(&example());
        assert!(text.contains("program, 2 of 3 are within"), "{text}");
        assert!(text.contains("other variants, 0 of 0") && text.contains("paper's, 1,"), "{text}");
    }

    #[test]
    fn rows_outside_are_those_of_the_program_that_did_not_come_out() {
        let mut records = example();
        let mut of_text = record("LKDL k-means", 1.0, &[70.0]);
        of_text.variant = "text".into();
        records.push(of_text);
        let text = block("outside", &records).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("| K-SVD | program | 1 |"), "{text}");
    }

    #[test]
    fn the_headline_takes_the_rows_it_names() {
        let text = block("headline", &example()).unwrap();
        assert!(text.contains("K-SVD") && !text.contains("uniform"), "{text}");
    }
}
