//! `lkdl data info DATA`: shape, classes, values, checksum.

use crate::context::Context;
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use crate::table::{Align, Table};
use clap::Args;
use serde::Serialize;

/// Names of features that are shown before the last.
const MAX_NAMES: usize = 5;

/// Describe a set or a file: shape, classes, values, checksum
#[derive(Debug, Args)]
#[command(after_help = DATA_HELP)]
pub struct InfoArgs {
    #[command(flatten)]
    data: DataFlags,
}

/// What is in a table.
#[derive(Debug, PartialEq, Serialize)]
struct Info {
    data: String,
    samples: usize,
    features: usize,
    /// What the source calls them, if it does.
    feature_names: Option<Vec<String>>,
    /// Rows and columns, if the samples are images.
    image_shape: Option<(usize, usize)>,
    /// Absent where there are no labels.
    classes: Option<Vec<Class>>,
    lowest: f64,
    highest: f64,
    mean: f64,
    /// Values that are zero, in percent.
    zeros_percent: f64,
    /// Samples that are zero throughout.
    zero_samples: usize,
    /// Features with one value for all samples.
    constant_features: usize,
    /// SHA-256 of what is in it, whatever the format.
    checksum: String,
}

#[derive(Debug, PartialEq, Serialize)]
struct Class {
    name: String,
    samples: usize,
}

impl Info {
    fn of(table: &lkdl_data::Table, data: String) -> Self {
        let (p, n) = (table.n_features(), table.n_samples());
        let column = |i| table.samples.col_as_slice(i);
        let (mut lowest, mut highest, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let (mut zeros, mut zero_samples) = (0, 0);
        let mut is_constant = vec![true; p];
        for i in 0..n {
            let mut zeros_here = 0;
            for ((value, first), is_constant) in
                column(i).iter().zip(column(0)).zip(&mut is_constant)
            {
                (lowest, highest) = (lowest.min(*value), highest.max(*value));
                sum += value;
                zeros_here += usize::from(*value == 0.0);
                *is_constant &= value == first;
            }
            zeros += zeros_here;
            zero_samples += usize::from(zeros_here == p);
        }
        let entries = (p * n) as f64;
        let classes = table.labels.as_ref().map(|labels| {
            let mut classes: Vec<Class> = labels
                .class_names
                .iter()
                .map(|name| Class { name: name.clone(), samples: 0 })
                .collect();
            for &label in &labels.indices {
                if let Some(class) = classes.get_mut(label as usize) {
                    class.samples += 1;
                }
            }
            classes
        });
        Self {
            data,
            samples: n,
            features: p,
            feature_names: table.feature_names.clone(),
            image_shape: table.image_shape,
            classes,
            lowest,
            highest,
            mean: sum / entries,
            zeros_percent: 100.0 * zeros as f64 / entries,
            zero_samples,
            constant_features: is_constant.iter().filter(|is_constant| **is_constant).count(),
            checksum: table.checksum(),
        }
    }

    fn text(&self) -> String {
        let classes = self.classes.as_deref().unwrap_or_default();
        let line = |name: &str, value: String| format!("{name:10}{value}\n");
        let mut text = line("data", self.data.clone());
        text += &line("samples", self.samples.to_string());
        text +=
            &line("features", format!("{} ({} constant)", self.features, self.constant_features));
        if let Some(names) = &self.feature_names {
            text += &line("names", shown(names));
        }
        if let Some((rows, columns)) = self.image_shape {
            text += &line("images", format!("{rows} x {columns}"));
        }
        text += &line(
            "classes",
            match classes.len() {
                0 => "no labels".to_owned(),
                count => count.to_string(),
            },
        );
        let (lowest, highest, mean) = (self.lowest, self.highest, self.mean);
        text += &line("values", format!("{lowest} to {highest}, mean {mean:.6}"));
        let zeros = format!("{:.2} %, {} samples all zero", self.zeros_percent, self.zero_samples);
        text += &line("zeros", zeros);
        text += &line("checksum", format!("sha256 {}", self.checksum));
        if !classes.is_empty() {
            let mut table = Table::new([
                ("class", Align::Left),
                ("samples", Align::Right),
                ("share %", Align::Right),
            ]);
            for Class { name, samples } in classes {
                let share = 100.0 * *samples as f64 / self.samples as f64;
                table.row([name.clone(), samples.to_string(), format!("{share:.1}")]);
            }
            text += &format!("\n{table}");
        }
        text
    }
}

/// The first names and the last.
fn shown(names: &[String]) -> String {
    match names {
        [first @ .., last] if first.len() > MAX_NAMES => {
            format!("{}, …, {last}", first[..MAX_NAMES].join(", "))
        }
        _ => names.join(", "),
    }
}

/// Reads and describes.
pub fn run(args: &InfoArgs, context: &Context) -> Result<(), Failure> {
    let table = args.data.table(context)?;
    let info = Info::of(&table, args.data.data.to_string());
    if context.json { context.print_json(&info) } else { context.print(info.text()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lkdl_data::{DataArgument, Labels, ReadOptions};

    #[test]
    fn the_digits_are_described() {
        let table = DataArgument::Digits.load(None, &ReadOptions::default()).unwrap();
        let info = Info::of(&table, "digits".into());
        assert_eq!((info.samples, info.features), (1797, 64));
        assert_eq!((info.lowest, info.highest), (0.0, 16.0));
        assert_eq!((&info.feature_names, info.image_shape), (&None, Some((8, 8))));
        assert!(info.text().contains("images    8 x 8\n"));
        assert_eq!(info.mean, 561_718.0 / (1797.0 * 64.0));
        // pixels 0, 32 and 39 are blank in every digit
        assert_eq!((info.constant_features, info.zero_samples), (3, 0));
        let classes = info.classes.unwrap();
        assert_eq!(classes[3], Class { name: "3".into(), samples: 183 });
    }

    #[test]
    fn zeros_and_missing_labels_are_counted() {
        let samples = faer::mat![[0.0, 0.0, 2.0], [0.0, 1.0, -3.0]];
        let labels = Labels::from_texts(&["a", "b", "a"]);
        let table = lkdl_data::Table::new("t", samples.clone(), Some(labels)).unwrap();
        let info = Info::of(&table, "t".into());
        assert_eq!((info.zero_samples, info.zeros_percent, info.mean), (1, 50.0, 0.0));
        assert_eq!((info.lowest, info.highest, info.constant_features), (-3.0, 2.0, 0));
        assert!(info.text().ends_with("a            2     66.7\nb            1     33.3\n"));
        let table = lkdl_data::Table::new("t", samples, None).unwrap();
        let feature_names = Some(vec!["u".to_string(), "v".into()]);
        let table = lkdl_data::Table { feature_names, ..table };
        let info = Info::of(&table, "t".into());
        assert_eq!(info.classes, None);
        assert!(info.text().contains("no labels"));
        assert!(info.text().contains("names     u, v\n"));
        let names: Vec<String> = (0..9).map(|t| format!("n{t}")).collect();
        assert_eq!(shown(&names), "n0, n1, n2, n3, n4, …, n8");
    }
}
