//! The page of `lkdl demo`: LKDL, linear and exact kernel K-SVD on corrupted digits.
//!
//! [`DemoReport`] holds finished numbers; [`DemoReport::to_html`] is the page, [`DemoReport::svgs`]
//! the same plots as files, and its serialised form all numbers without the pictures' pixels.

mod sections;
#[cfg(test)]
mod tests;

use crate::chart::{Bar, BarChart, BarInk, Chart, LineChart, Point, Series};
use crate::error::ReportError;
use crate::image::{Mosaic, Scaling, Shape, pictures};
use serde::Serialize;

/// Pixels of an atom between neighbours in a mosaic.
const ATOM_GAP: usize = 1;
/// Pixels of a file per pixel of an atom.
const ATOM_ZOOM: usize = 4;

/// One method at one level of one corruption, over all runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultRow {
    /// The method's name.
    pub method: String,
    /// The kind of corruption.
    pub corruption: String,
    /// How strong it was; 0 is clean.
    pub level: f64,
    /// Mean share of test samples labelled rightly, 0 to 1.
    pub accuracy_mean: f64,
    /// Its standard deviation over the runs.
    pub accuracy_std: f64,
    /// How many runs.
    pub runs: usize,
    /// Mean seconds to classify the test samples of one run.
    pub seconds: f64,
}

/// The same for another number of atoms per code, for methods that were tried with several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SparsityRow {
    /// q, the atoms per code.
    pub sparsity: usize,
    /// What was reached with it.
    #[serde(flatten)]
    pub result: ResultRow,
}

/// What a method said of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The method's name.
    pub method: String,
    /// The label it gave.
    pub label: String,
}

/// A test sample as the methods saw it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplePicture {
    /// Its pixels.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// Its true label.
    pub truth: String,
    /// What the methods said.
    pub decisions: Vec<Decision>,
}

/// The same samples at one level of one corruption.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleGroup {
    /// The kind of corruption.
    pub corruption: String,
    /// How strong it was; 0 is clean.
    pub level: f64,
    /// The samples, in the same order in every group.
    pub samples: Vec<SamplePicture>,
}

/// What each class dictionary of each method left of one sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleResiduals {
    /// Which sample, in words.
    pub title: String,
    /// Its pixels.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// Its true label.
    pub truth: String,
    /// The methods' residuals.
    pub methods: Vec<MethodResiduals>,
}

/// What each class dictionary of one method left of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResiduals {
    /// The method's name.
    pub method: String,
    /// The label given.
    pub label: String,
    /// Class names and the squared residual relative to the sample's squared norm.
    pub residuals: Vec<(String, f64)>,
}

/// The dictionaries of one method as pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct Atoms {
    /// The method's name.
    pub method: String,
    /// What the pictures are, in a sentence.
    pub note: String,
    /// Class names and their atoms, each in pixels.
    pub classes: Vec<(String, Vec<Vec<f64>>)>,
}

/// How long a stage took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTime {
    /// The method's name.
    pub method: String,
    /// The stage.
    pub stage: String,
    /// Mean seconds per run.
    pub seconds: f64,
    /// Their standard deviation over the runs.
    pub seconds_std: f64,
}

/// All of one demonstration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemoReport {
    /// The page's heading.
    pub title: String,
    /// The exact command. Left out of the serialised form, as is the version: whoever writes that
    /// says so of every result.
    #[serde(skip)]
    pub command: String,
    /// Version of the program.
    #[serde(skip)]
    pub version: String,
    /// The first run's seed; the others count on from it.
    pub seed: u64,
    /// Number of runs.
    pub runs: usize,
    /// What the data are, in a sentence.
    pub dataset: String,
    /// Whom to thank for them, and their licence.
    pub attribution: String,
    /// SHA-256 of the data.
    pub dataset_checksum: String,
    /// Names of the methods: first the one that is shown, then what it is held against, then
    /// others.
    pub methods: Vec<String>,
    /// Everything that was chosen, in words; a serialised form needs numbers.
    #[serde(skip)]
    pub parameters: Vec<(String, String)>,
    /// Accuracies, per corruption by rising level.
    pub results: Vec<ResultRow>,
    /// The same for other numbers of atoms per code.
    pub sparsity: Vec<SparsityRow>,
    /// The shape of all pictures.
    #[serde(skip)]
    pub shape: Shape,
    /// The pixel values of paper and ink, for samples.
    #[serde(skip)]
    pub paper_and_ink: (f64, f64),
    /// Test samples before and after corruption.
    pub samples: Vec<SampleGroup>,
    /// Residuals of a few of them.
    pub residuals: Vec<SampleResiduals>,
    /// Dictionaries of methods whose atoms can be drawn.
    #[serde(skip)]
    pub atoms: Vec<Atoms>,
    /// Where the time went.
    pub times: Vec<StageTime>,
}

impl DemoReport {
    /// The page: one HTML file that needs nothing else.
    pub fn to_html(&self) -> Result<String, ReportError> {
        sections::document(self)
    }

    /// The plots as files: names without ending, and SVG documents.
    pub fn svgs(&self) -> Result<Vec<(String, String)>, ReportError> {
        let lines = self.accuracy_charts().into_iter().chain(self.sparsity_charts());
        let residuals = self.residuals.iter().enumerate();
        let residuals = residuals.flat_map(|(t, sample)| self.residual_charts(t, sample));
        let bars = residuals.chain(self.time_chart());
        let lines = lines.map(|chart| Ok((chart.id.clone(), chart.to_svg_file()?)));
        let bars = bars.map(|chart| Ok((chart.id.clone(), chart.to_svg_file()?)));
        let atoms = self.atoms.iter().enumerate().map(|(t, atoms)| {
            let columns = atoms.classes.iter().map(|(_, atoms)| atoms.len()).max().unwrap_or(0);
            let all: Vec<Vec<f64>> = atoms.classes.iter().flat_map(|c| c.1.clone()).collect();
            let tiles = pictures(&all, self.shape, Scaling::Symmetric)?;
            let mosaic = Mosaic { columns, gap: ATOM_GAP, zoom: ATOM_ZOOM };
            let title = format!("Atoms of {}, one row per class", atoms.method);
            Ok((format!("atoms-{}", t + 1), mosaic.to_svg(&tiles, &title)?))
        });
        lines.chain(bars).chain(atoms).collect()
    }

    /// Kinds of corruption, in the order of the results.
    fn corruptions(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for row in &self.results {
            if !kinds.contains(&row.corruption.as_str()) {
                kinds.push(&row.corruption);
            }
        }
        kinds
    }

    /// One chart per kind of corruption.
    fn accuracy_charts(&self) -> Vec<LineChart> {
        let chart = |corruption: &str| {
            let series = |method: &String| {
                let rows = self.results.iter();
                let rows = rows.filter(|r| r.corruption == corruption && r.method == *method);
                let points = rows.map(|r| percent(r.level, r)).collect();
                Series { name: method.clone(), points }
            };
            LineChart {
                id: format!("accuracy-{}", slug(corruption)),
                title: format!("Accuracy under {}", words(corruption)),
                x_label: level_label(corruption).into(),
                y_label: ACCURACY.into(),
                y_limits: None,
                series: self.methods.iter().map(series).collect(),
                ..Default::default()
            }
        };
        self.corruptions().into_iter().map(chart).collect()
    }

    /// One chart per level of corruption that other sparsities were tried at.
    fn sparsity_charts(&self) -> Vec<LineChart> {
        let mut conditions: Vec<(&str, f64)> = Vec::new();
        for SparsityRow { result, .. } in &self.sparsity {
            let condition = (result.corruption.as_str(), result.level);
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        let chart = |(t, (corruption, level)): (usize, (&str, f64))| {
            let series = |method: &String| {
                let rows = self.sparsity.iter().filter(|row| {
                    let r = &row.result;
                    (r.corruption.as_str(), r.level) == (corruption, level) && r.method == *method
                });
                let points = rows.map(|row| percent(row.sparsity as f64, &row.result)).collect();
                Series { name: method.clone(), points }
            };
            LineChart {
                id: format!("sparsity-{}", t + 1),
                title: capital(&condition(corruption, level)),
                x_label: "atoms per code, q".into(),
                y_label: ACCURACY.into(),
                y_limits: None,
                series: self.methods.iter().map(series).filter(|s| !s.points.is_empty()).collect(),
                ..Default::default()
            }
        };
        conditions.into_iter().enumerate().map(chart).collect()
    }

    /// One chart per method of the sample at `index`; the winner stands out.
    fn residual_charts(&self, index: usize, sample: &SampleResiduals) -> Vec<BarChart> {
        let chart = |(t, of_method): (usize, &MethodResiduals)| {
            let series = self.methods.iter().position(|m| *m == of_method.method).unwrap_or(0);
            let bar = |(class, value): &(String, f64)| {
                let truth = if *class == sample.truth { " (true)" } else { "" };
                let wins = *class == of_method.label;
                let ink = if wins { BarInk::Series(series) } else { BarInk::Faint };
                Bar { label: format!("{class}{truth}"), value: *value, ink }
            };
            BarChart {
                id: format!("residuals-{}-{}", index + 1, t + 1),
                title: format!("{} says {}", of_method.method, of_method.label),
                label_head: "class".into(),
                value_label: "share of the sample left, r²/‖f‖²".into(),
                decimals: 3,
                bars: of_method.residuals.iter().map(bar).collect(),
            }
        };
        sample.methods.iter().enumerate().map(chart).collect()
    }

    fn time_chart(&self) -> Option<BarChart> {
        let bar = |time: &StageTime| {
            let series = self.methods.iter().position(|m| *m == time.method).unwrap_or(0);
            let label = format!("{}: {}", time.method, time.stage);
            Bar { label, value: 1000.0 * time.seconds, ink: BarInk::Series(series) }
        };
        (!self.times.is_empty()).then(|| BarChart {
            id: "times".into(),
            title: "Where the time goes".into(),
            label_head: "stage".into(),
            value_label: format!("milliseconds, mean of {}", sections::counted(self.runs, "run")),
            decimals: 1,
            bars: self.times.iter().map(bar).collect(),
        })
    }
}

const ACCURACY: &str = "accuracy, %";

fn percent(x: f64, row: &ResultRow) -> Point {
    Point { x, y: 100.0 * row.accuracy_mean, spread: 100.0 * row.accuracy_std }
}

/// A kind of corruption in a sentence: its name without hyphens.
fn words(corruption: &str) -> String {
    match corruption {
        "noise" => "Gaussian noise".into(),
        "missing" => "missing pixels".into(),
        other => other.replace(['-', '_'], " "),
    }
}

fn level_label(corruption: &str) -> &'static str {
    match corruption {
        "noise" => "noise σ, pixels in [−1, 1]",
        "missing" => "missing share of pixels",
        _ => "level",
    }
}

/// A level of corruption, to go on a sentence. Numbers keep to their signs and units.
fn condition(corruption: &str, level: f64) -> String {
    match corruption {
        _ if level == 0.0 => "clean samples".into(),
        "noise" => format!("Gaussian noise, σ\u{a0}=\u{a0}{level}"),
        "missing" => format!("{:.0}\u{a0}% of the pixels missing", 100.0 * level),
        other => format!("{} at {level}", words(other)),
    }
}

/// The text with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
