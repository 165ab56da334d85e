//! What was measured, as a table for people and as JSON for programs.

use crate::measure::Rates;
use std::fmt::Write;

/// One measured stage.
#[derive(Debug, Clone)]
pub struct Record {
    /// Which stage.
    pub stage: &'static str,
    /// Its sizes, `p=256,m=300,…`.
    pub shape: String,
    /// `f32` or `f64`.
    pub dtype: &'static str,
    /// Best time.
    pub seconds: f64,
    /// Floating-point operations of the algorithm, in 10⁹.
    pub gflop: f64,
    /// Time over that of the bare product of the same operands, where there is such a product.
    pub ratio: Option<f64>,
    /// What only this stage has to tell.
    pub extra: Vec<(&'static str, Value)>,
}

/// A further value of a record.
#[derive(Debug, Clone)]
pub enum Value {
    /// A time, a share, a ratio.
    Number(f64),
    /// Bytes, dimensions.
    Count(u64),
    /// A name.
    Text(String),
}

impl Record {
    /// Share of the machine's product rate, in percent.
    pub fn percent_of_product(&self, rates: &Rates) -> f64 {
        100.0 * self.gflop / self.seconds / rates.of(self.dtype)
    }

    /// Adds a value that only this stage has.
    pub fn with(mut self, key: &'static str, value: Value) -> Self {
        self.extra.push((key, value));
        self
    }
}

/// All records as an aligned table.
pub fn table(records: &[Record], rates: &Rates) -> String {
    let head = ["stage", "shape", "type", "seconds", "Gflop", "% of product", "ratio to product"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for record in records {
        let extra: Vec<String> =
            record.extra.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
        rows.push(vec![
            record.stage.to_string(),
            record.shape.clone(),
            record.dtype.to_string(),
            format!("{:.5}", record.seconds),
            format!("{:.3}", record.gflop),
            format!("{:.1}", record.percent_of_product(rates)),
            record.ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")),
            extra.join(" "),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            match widths.get(column) {
                // numbers to the right, words to the left
                Some(&width) if column >= 3 => _ = write!(line, "{cell:>width$}  "),
                Some(&width) => _ = write!(line, "{cell:<width$}  "),
                None => line += cell,
            }
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) if number.abs() < 1e-3 => format!("{number:.1e}"),
        Value::Number(number) => format!("{number:.4}"),
        Value::Count(count) => count.to_string(),
        Value::Text(text) => text.clone(),
    }
}

/// All records as one JSON array of objects.
pub fn json(records: &[Record], rates: &Rates) -> String {
    let objects: Vec<String> = records.iter().map(|record| object(record, rates)).collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

fn object(record: &Record, rates: &Rates) -> String {
    let mut members = vec![
        ("stage", quoted(record.stage)),
        ("shape", quoted(&record.shape)),
        ("dtype", quoted(record.dtype)),
        ("seconds", number(record.seconds)),
        ("gflop", number(record.gflop)),
        ("percent_of_product", number(record.percent_of_product(rates))),
        ("ratio_to_product", record.ratio.map_or("null".into(), number)),
    ];
    for (key, value) in &record.extra {
        members.push((
            key,
            match value {
                Value::Number(value) => number(*value),
                Value::Count(count) => count.to_string(),
                Value::Text(text) => quoted(text),
            },
        ));
    }
    let members: Vec<String> =
        members.iter().map(|(key, value)| format!("{}: {value}", quoted(key))).collect();
    format!("  {{{}}}", members.join(", "))
}

/// JSON has no infinities: what is not finite is null. Rust prints no exponents, so every other
/// number is valid as it is.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "null".into() }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Record {
        Record {
            stage: "batch-omp",
            shape: "p=2,\"q\"\n".into(),
            dtype: "f64",
            seconds: 0.5,
            gflop: 1e-7,
            ratio: None,
            extra: vec![("speedup", Value::Number(f64::NAN)), ("peak_bytes", Value::Count(7))],
        }
    }

    #[test]
    fn json_escapes_strings_and_has_only_finite_numbers() {
        let rates = Rates { f32: 10.0, f64: 2e-7 };
        let expected = "[\n  {\"stage\": \"batch-omp\", \"shape\": \"p=2,\\\"q\\\"\\u000a\", \
                        \"dtype\": \"f64\", \"seconds\": 0.5, \"gflop\": 0.0000001, \
                        \"percent_of_product\": 100, \"ratio_to_product\": null, \
                        \"speedup\": null, \"peak_bytes\": 7}\n]\n";
        assert_eq!(json(&[example()], &rates), expected);
        assert_eq!(json(&[], &rates), "[\n\n]\n");
    }

    #[test]
    fn table_columns_line_up() {
        let mut short = example();
        short.shape = "p=1".into();
        short.extra.clear();
        let rates = Rates { f32: 1.0, f64: 1.0 };
        let text =
            table(&[Record { shape: "a-long-shape".into(), ..short.clone() }, short], &rates);
        let ends: Vec<_> = text.lines().map(str::len).collect();
        assert_eq!(ends.len(), 3);
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
    }
}
