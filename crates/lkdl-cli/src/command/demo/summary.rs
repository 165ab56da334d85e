//! From single runs to means: the report, and the table on stdout.

use super::experiment::{Condition, Experiment, Measurement, Method, Record};
use crate::context::Context;
use crate::failure::Failure;
use crate::scores::Spread;
use crate::table::{Align, Table};
use crate::words::counted;
use lkdl_report::image::{PixelOrder, Shape};
use lkdl_report::{DemoReport, ResultRow, SparsityRow, StageTime};

const ATTRIBUTION: &str = "Data: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten \
    Digits, UCI Machine Learning Repository, 1998, doi:10.24432/C50P49, licensed CC BY 4.0 \
    (creativecommons.org/licenses/by/4.0); pixel values scaled to [−1, 1]. Method: A. Golts and \
    M. Elad, Linearized Kernel Dictionary Learning, IEEE JSTSP 2016, arXiv 1509.05634.";

/// Everything the page shows.
pub fn report(
    experiment: &Experiment,
    records: &[Record],
    context: &Context,
) -> Result<DemoReport, Failure> {
    let set = &experiment.set;
    let q = experiment.parameters.sparsity;
    let measurements: Vec<&Measurement> = records.iter().flat_map(|r| &r.measurements).collect();
    let results = Condition::all()
        .flat_map(|condition| Method::ALL.map(|method| row(&measurements, method, q, condition)))
        .flatten()
        .collect();
    let mut groups: Vec<(usize, Condition)> =
        measurements.iter().map(|m| (m.sparsity, m.condition)).collect();
    // only levels that more than one sparsity was tried at
    groups.retain(|(_, c)| measurements.iter().any(|m| m.condition == *c && m.sparsity != q));
    let mut seen: Vec<(usize, Condition)> = Vec::new();
    for group in groups {
        if !seen.contains(&group) {
            seen.push(group);
        }
    }
    let sparsity = seen.iter().flat_map(|&(sparsity, condition)| {
        let rows = Method::ALL.map(|method| row(&measurements, method, sparsity, condition));
        rows.into_iter().flatten().map(move |result| SparsityRow { sparsity, result })
    });
    let gallery = records.iter().find_map(|record| record.gallery.as_ref());
    let side = set.n_features().isqrt();
    Ok(DemoReport {
        title: "Recognising damaged digits".into(),
        command: context.command_line(),
        version: env!("CARGO_PKG_VERSION").into(),
        seed: context.seed,
        runs: records.len(),
        dataset: format!(
            "{} handwritten digits of {side} × {side} pixels, {} classes",
            set.n_samples(),
            set.n_classes()
        ),
        attribution: ATTRIBUTION.into(),
        dataset_checksum: experiment.checksum.clone(),
        methods: Method::ALL.map(|method| method.name().into()).into(),
        parameters: parameters(experiment),
        results,
        sparsity: sparsity.collect(),
        shape: Shape { height: side, width: side, order: PixelOrder::RowMajor },
        paper_and_ink: (-1.0, 1.0),
        samples: gallery.map(|g| g.samples.clone()).unwrap_or_default(),
        residuals: gallery.map(|g| g.residuals.clone()).unwrap_or_default(),
        atoms: gallery.map(|g| g.atoms.clone()).unwrap_or_default(),
        times: times(experiment, records),
    })
}

/// One method under one condition over all runs; `None` if it was not measured.
fn row(
    measurements: &[&Measurement],
    method: Method,
    sparsity: usize,
    condition: Condition,
) -> Option<ResultRow> {
    let found = measurements.iter().filter(|m| {
        m.method == method && m.sparsity == sparsity && m.condition.level == condition.level
            // clean is clean, whatever it would have been corrupted by
            && (m.condition.kind == condition.kind || condition.level == 0.0)
    });
    let (accuracies, seconds): (Vec<f64>, Vec<f64>) =
        found.map(|m| (m.accuracy, m.seconds)).unzip();
    let Spread { mean: accuracy_mean, std: accuracy_std } = Spread::of(&accuracies);
    (!accuracies.is_empty()).then(|| ResultRow {
        method: method.name().into(),
        corruption: condition.kind.into(),
        level: condition.level,
        accuracy_mean,
        accuracy_std,
        runs: accuracies.len(),
        seconds: Spread::of(&seconds).mean,
    })
}

fn times(experiment: &Experiment, records: &[Record]) -> Vec<StageTime> {
    let q = experiment.parameters.sparsity;
    let mut times = Vec::new();
    for method in Method::ALL {
        let fits = || records.iter().flat_map(|r| &r.fits).filter(|fit| fit.method == method);
        let clean = records
            .iter()
            .flat_map(|r| &r.measurements)
            .filter(|m| m.method == method && m.sparsity == q && m.condition.level == 0.0);
        let map = if method == Method::Lkdl { "prepare and map" } else { "prepare" };
        let stages: [(&str, Vec<f64>); 3] = [
            (map, fits().map(|fit| fit.map).collect()),
            ("learn", fits().map(|fit| fit.learn).collect()),
            ("classify", clean.map(|m| m.seconds).collect()),
        ];
        for (stage, values) in stages {
            if !values.is_empty() {
                let Spread { mean: seconds, std: seconds_std } = Spread::of(&values);
                let (method, stage) = (method.name().into(), stage.into());
                times.push(StageTime { method, stage, seconds, seconds_std });
            }
        }
    }
    times
}

/// What was chosen, in words.
fn parameters(experiment: &Experiment) -> Vec<(String, String)> {
    let p = &experiment.parameters;
    let share = 100.0 * p.test_share;
    let words = [
        ("splits", format!("{share:.0} % of every class to test on, the rest to learn from")),
        ("preparation", format!("{}: every sample's own mean subtracted, then unit norm; the same for both methods", p.prepare)),
        (
            "dictionaries",
            format!(
                "{} atoms per class, {} per code, {} iterations of K-SVD at most; the same for \
                 both methods",
                p.atoms_per_class, p.sparsity, p.iterations
            ),
        ),
        (
            "LKDL's map",
            format!(
                "{} kernel of degree {}, Nyström with {} landmarks, virtual samples of {} numbers",
                p.kernel, p.degree, p.landmarks, p.rank
            ),
        ),
        ("how they were chosen", "the kernel and the preparation are those of the paper's experiments; with these atoms and this sparsity both methods are about equally good on clean samples; the lead depends on the sparsity, as shown above".into()),
        ("corruption", "test samples only, before preparation: Gaussian noise is added to pixels in [−1, 1]; missing pixels become 0, mid-grey".into()),
    ];
    words.map(|(name, value)| (name.to_string(), value)).into()
}

/// Means, deviations and the lead of the first method, in points.
pub fn table(report: &DemoReport) -> String {
    let mut columns = vec![("corruption", Align::Left), ("level", Align::Right)];
    columns.extend(report.methods.iter().map(|method| (method.as_str(), Align::Right)));
    columns.push(("lead", Align::Right));
    let mut table = Table::new(columns);
    for rows in report.results.chunks(report.methods.len().max(1)) {
        let Some(first) = rows.first() else { continue };
        let percent = |r: &ResultRow| {
            format!("{:.1} ± {:.1}", 100.0 * r.accuracy_mean, 100.0 * r.accuracy_std)
        };
        let lead = rows.last().map_or(0.0, |last| first.accuracy_mean - last.accuracy_mean);
        let mut cells = vec![first.corruption.clone(), first.level.to_string()];
        cells.extend(rows.iter().map(percent));
        cells.push(format!("{:+.1}", 100.0 * lead));
        table.row(cells);
    }
    let mut times = Table::new([
        ("stage", Align::Left),
        ("method", Align::Left),
        ("time ms", Align::Right),
        ("± σ", Align::Right),
    ]);
    for time in &report.times {
        let ms = |seconds: f64| format!("{:.1}", 1000.0 * seconds);
        times.row([
            time.stage.clone(),
            time.method.clone(),
            ms(time.seconds),
            ms(time.seconds_std),
        ]);
    }
    let runs = counted(report.runs, "run");
    format!("Accuracy in %, mean ± σ of {runs}; lead in points\n\n{table}\n{times}")
}
