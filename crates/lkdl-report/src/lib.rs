//! Reports of linearized kernel dictionary learning: numbers in, SVG, PNG and HTML out.
//!
//! Nothing here reads or writes a file, looks at a clock or draws a random number: a caller hands
//! over finished results and saves what comes back.
//!
//! - [`chart`]: lines with error bars and horizontal bars, as SVG that follows the page's colours or
//!   stands alone;
//! - [`image`]: samples and atoms as grey pictures, single or in mosaics, as PNG, data URI or SVG;
//! - [`page`]: the self-contained HTML page around them;
//! - [`DemoReport`], [`ModelReport`], [`ReproductionReport`]: the pages.
//!
//! ```
//! use lkdl_report::chart::{Chart, LineChart, Point, Series};
//!
//! let points = [(0.0, 98.6, 0.4), (0.5, 89.8, 1.1)];
//! let chart = LineChart {
//!     id: "missing".into(),
//!     title: "Accuracy with missing pixels".into(),
//!     x_label: "missing share of pixels".into(),
//!     y_label: "accuracy, %".into(),
//!     y_limits: Some((0.0, 100.0)),
//!     series: vec![Series {
//!         name: "LKDL".into(),
//!         points: points.map(|(x, y, spread)| Point { x, y, spread }).into(),
//!     }],
//!     ..Default::default()
//! };
//! assert!(chart.to_svg()?.starts_with("<svg"));
//! # Ok::<(), lkdl_report::ReportError>(())
//! ```

pub mod chart;
mod demo;
mod error;
pub mod image;
mod model;
pub mod page;
mod reproduction;
#[cfg(test)]
mod testing;

pub use demo::{
    Atoms, Decision, DemoReport, MethodResiduals, ResultRow, SampleGroup, SamplePicture,
    SampleResiduals, SparsityRow, StageTime,
};
pub use error::ReportError;
pub use model::{ClassSummary, ModelReport};
pub use reproduction::{Card, ReproductionReport, ReproductionSection};
