//! The report: curves, ours beside the published ones, and tables.

use super::headline;
use super::markdown::{capital, lines, of, ours, sign, skipped, verdict};
use crate::context::Context;
use lkdl_experiments::{EXPERIMENTS, Experiment, Quantity, Record, Run};
use lkdl_report::chart::{LineChart, Point, Series};
use lkdl_report::page::Table;
use lkdl_report::{Card, ReproductionReport, ReproductionSection};

const LEGEND: &str = "Lines are called by their method and whose reading of the paper they follow: \
    `program` is the published program, `text` the paper where the two differ, `beyond` is not in \
    the paper. Points are means over seeds, error bars one standard deviation to each side. A \
    tick: within the tolerance of the published number; a cross: not.";

/// The report of all records.
pub fn report(
    records: &[Record],
    runs: &[Run],
    facts: &[(String, String)],
    context: &Context,
) -> ReproductionReport {
    let section = |experiment: &'static Experiment| section(experiment, records, runs);
    let command = ("command".to_owned(), context.command_line());
    let others = facts.iter().filter(|(name, _)| name != "command").cloned();
    ReproductionReport {
        title: "Linearized kernel dictionary learning, reproduced".into(),
        lead: format!(
            "The figures and tables of Golts & Elad (IEEE JSTSP 2016), measured again. {}",
            verdict(records)
        ),
        cards: cards(records),
        sections: EXPERIMENTS.iter().filter_map(section).collect(),
        legend: LEGEND.replace('`', ""),
        facts: std::iter::once(command).chain(others).collect(),
    }
}

/// Up to six numbers, chosen by what they are of and not by what they are.
fn cards(records: &[Record]) -> Vec<Card> {
    let shown = |record: &&&Record| record.method.contains("LKDL") && record.published.is_some();
    let card = |record: &Record| {
        let experiment = Experiment::find(&record.experiment);
        let title = experiment.map_or(record.experiment.as_str(), |experiment| experiment.title);
        let at = record.x.map(|x| format!(" at {x}")).unwrap_or_default();
        let published = record.published.unwrap_or_default();
        let (label, decimals) = (record.quantity.label(), record.quantity.decimals());
        Card {
            kind: format!("{title}{at}: {}, {label}", record.method),
            number: ours(record),
            versus: format!("published {published:.decimals$} {}", sign(record)),
        }
    };
    headline::select(records).iter().filter(shown).take(6).map(|record| card(record)).collect()
}

fn section(
    experiment: &'static Experiment,
    records: &[Record],
    runs: &[Run],
) -> Option<ReproductionSection> {
    let own = of(records, experiment.id);
    let mut notes: Vec<String> = skipped(runs, experiment.id).into_iter().collect();
    if own.is_empty() && notes.is_empty() {
        return None;
    }
    if own.iter().any(|record| record.reduced) {
        notes.insert(
            0,
            "Sizes are smaller than the paper's: shapes of curves can be compared, \
                         numbers cannot."
                .into(),
        );
    }
    let single: Vec<&Record> = own.iter().filter(|record| record.x.is_none()).copied().collect();
    let curves: Vec<&Record> = own.iter().filter(|record| record.x.is_some()).copied().collect();
    let charts = Quantity::ALL.iter().flat_map(|quantity| charts(experiment, &own, *quantity));
    let table = |caption: &str, records: &[&Record]| {
        (!records.is_empty()).then(|| rows(caption, records)).into_iter().collect()
    };
    Some(ReproductionSection {
        id: format!("experiment-{}", experiment.id),
        title: experiment.title.into(),
        about: format!("{}.", capital(experiment.about)),
        notes,
        charts: charts.collect(),
        tables: table("Single values", &single),
        details: table("All points", &curves),
    })
}

/// The curves of one quantity, and how far they are from the published ones.
fn charts(experiment: &Experiment, records: &[&Record], quantity: Quantity) -> Vec<LineChart> {
    let of_quantity: Vec<&Record> =
        records.iter().filter(|record| record.quantity == quantity).copied().collect();
    let curves = main_lines(&of_quantity);
    let places: Vec<f64> = curves.iter().flatten().filter_map(|record| record.x).collect();
    let ends =
        places.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    if places.is_empty() || ends.0 >= ends.1 {
        return Vec::new();
    }
    let chart = |id: &str, title: String, y_label: String, series: Vec<Series>| LineChart {
        id: format!("figure-{}-{id}", experiment.id),
        title,
        x_label: experiment.x_label.into(),
        y_label,
        decimals: Some(quantity.decimals()),
        series,
        ..Default::default()
    };
    let spans = |line: &Vec<&Record>| Series {
        name: line[0].method.clone(),
        points: line.iter().flat_map(|record| points(record, ends, record.mean)).collect(),
    };
    let label = quantity.label();
    let title = format!("{}: {label}", experiment.title);
    let measured = LineChart {
        logarithmic: is_wide(quantity) && of_quantity.iter().all(|record| record.mean > 0.0),
        ..chart(quantity.name(), title, label.into(), curves.iter().map(spans).collect())
    };
    let apart = |line: &Vec<&Record>| {
        let known = line.iter().filter_map(|record| Some((record, record.difference?)));
        let points: Vec<Point> =
            known.flat_map(|(record, difference)| points(record, ends, difference)).collect();
        (!points.is_empty()).then(|| Series { name: line[0].method.clone(), points })
    };
    let gaps: Vec<Series> = curves.iter().filter_map(apart).collect();
    let mut charts = vec![measured];
    if quantity == Quantity::Accuracy && !gaps.is_empty() {
        let title = format!("{}: ours less published", experiment.title);
        charts.push(chart("difference", title, "difference, points".into(), gaps));
    }
    charts
}

/// Of every method the first variant that has a curve, or a single value for a horizontal line.
fn main_lines<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    let mut chosen: Vec<Vec<&Record>> = Vec::new();
    let mut all = lines(records);
    // curves before single values
    all.sort_by_key(|line| line.iter().all(|record| record.x.is_none()));
    for mut line in all {
        if line.iter().any(|record| record.x.is_some()) {
            line.retain(|record| record.x.is_some());
            line.sort_by(|a, b| f64::total_cmp(&a.x.unwrap_or(0.0), &b.x.unwrap_or(0.0)));
        }
        if !chosen.iter().any(|other| other[0].method == line[0].method) {
            chosen.push(line);
        }
    }
    chosen
}

/// A point; a value without a place is a line from end to end.
fn points(record: &Record, ends: (f64, f64), y: f64) -> Vec<Point> {
    let places = record.x.map_or(vec![ends.0, ends.1], |x| vec![x]);
    places.into_iter().map(|x| Point { x, y, spread: record.std }).collect()
}

/// Whether values of different size belong on one axis.
fn is_wide(quantity: Quantity) -> bool {
    use Quantity::{KernelError, Memory, TestSeconds, TrainSeconds};
    matches!(quantity, KernelError | TrainSeconds | TestSeconds | Memory)
}

fn rows(caption: &str, records: &[&Record]) -> Table {
    let header = [
        "method",
        "variant",
        "data",
        "at",
        "measured",
        "ours",
        "published",
        "difference",
        "",
        "seeds",
        "train, s",
        "test, s",
    ];
    let row = |record: &&Record| {
        let decimals = record.quantity.decimals();
        let number = |value: f64| format!("{value:.decimals$}");
        vec![
            record.method.clone(),
            record.variant.clone(),
            record.dataset.clone(),
            record.x.map(|x| x.to_string()).unwrap_or_default(),
            record.quantity.label().into(),
            ours(record),
            record.published.map(number).unwrap_or_default(),
            record.difference.map(|d| format!("{d:+.decimals$}")).unwrap_or_default(),
            sign(record).into(),
            record.runs.to_string(),
            format!("{:.2}", record.seconds.train),
            format!("{:.2}", record.seconds.test),
        ]
    };
    Table {
        caption: caption.into(),
        header: header.map(String::from).into(),
        rows: records.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lkdl_experiments::{Setting, Value};

    fn record(variant: &str, method: &str, x: Option<f64>, mean: f64) -> Record {
        let setting = Setting::new("1b", variant, method, "usps");
        let quantity = Quantity::Accuracy;
        let value = Value { quantity, x, value: mean, train: 1.0, test: 0.5 };
        Record::new(&setting, &[value], false).unwrap()
    }

    #[test]
    fn curves_and_horizontal_lines_share_a_chart() {
        let records = [
            record("program", "K-SVD", None, 95.5),
            record("text, q = 5", "K-SVD", None, 94.9),
            record("program", "LKDL uniform", Some(20.0), 96.0),
            record("program", "LKDL uniform", Some(5.0), 95.9),
            record("not smoothed", "LKDL uniform", Some(20.0), 95.7),
            record("beyond", "LKDL hybrid", Some(5.0), 96.1),
        ];
        let section = section(Experiment::find("1b").unwrap(), &records, &[]).unwrap();
        let [measured, gaps] = &section.charts[..] else { panic!("{:?}", section.charts) };
        let names = |chart: &LineChart| {
            chart.series.iter().map(|series| series.name.clone()).collect::<Vec<_>>()
        };
        // curves first, the first variant of each method, single values from end to end
        assert_eq!(names(measured), ["LKDL uniform", "LKDL hybrid", "K-SVD"]);
        let places = |i: usize| measured.series[i].points.iter().map(|p| p.x).collect::<Vec<_>>();
        assert_eq!((places(0), places(2)), (vec![5.0, 20.0], vec![5.0, 20.0]));
        assert_eq!(names(gaps), ["LKDL uniform", "K-SVD"], "the hybrid was not published");
        assert_eq!((section.tables[0].rows.len(), section.details[0].rows.len()), (2, 4));
    }

    #[test]
    fn an_experiment_without_results_is_left_out_and_one_that_was_skipped_is_not() {
        let experiment = Experiment::find("3").unwrap();
        assert!(section(experiment, &[], &[]).is_none());
        let run = Run {
            version: "1".into(),
            setting: Setting::new("3", "program", "kernel K-SVD", "mnist").with("train", 60000),
            reduced: false,
            seed: 0,
            values: vec![],
            skipped: Some("needs 9.0 MB, but may use 1.0 MB".into()),
        };
        let section = section(experiment, &[], &[run]).unwrap();
        let note =
            "kernel K-SVD (program, N = 60000) was not run: it needs 9.0 MB, but may use 1.0 MB.";
        assert_eq!(section.notes, [note]);
    }
}
