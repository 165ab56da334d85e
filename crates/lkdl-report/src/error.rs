//! What can be wrong with the numbers of a report.

/// Why no report could be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A chart without anything to draw.
    #[error("chart \"{chart}\" has no {what}, but needs at least one")]
    Empty {
        /// The chart's title.
        chart: String,
        /// What is missing.
        what: &'static str,
    },
    /// A value that has no place on an axis.
    #[error("chart \"{chart}\" holds {value}, but every value must be {requirement}")]
    Value {
        /// The chart's title.
        chart: String,
        /// The value.
        value: f64,
        /// What values must be.
        requirement: &'static str,
    },
    /// A picture whose size and number of values differ.
    #[error("a picture of {height} x {width} pixels needs {expected} values, but has {got}")]
    Pixels {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// height · width.
        expected: usize,
        /// What was given.
        got: usize,
    },
    /// A value that has no grey.
    #[error("pixel {index} of a picture is {value}, but must be finite")]
    NonFinitePixel {
        /// Which value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A picture or mosaic that is empty, too large, or of tiles that differ in size.
    #[error("{what} is {size}, but must be {requirement}")]
    Size {
        /// Which part.
        what: &'static str,
        /// Its size.
        size: String,
        /// What sizes may be.
        requirement: &'static str,
    },
    /// A drawing or encoding library failed.
    #[error("cannot draw {what}: {problem}")]
    Drawing {
        /// What was drawn.
        what: String,
        /// The library's own message.
        problem: String,
    },
}
