//! Charts as SVG: lines with error bars, horizontal bars.
//!
//! A chart is drawn in *inks* ([`ink`]), not in colours. Inside a page the inks become the page's
//! own CSS variables, so a chart follows its light and dark colours; as a file of its own it gets
//! the light ones on white. Series differ by colour, dash and marker, in colours that remain
//! distinct without red or green. Every chart carries a title, a description made of its numbers,
//! and the table behind it.

mod axis;
mod bar;
mod canvas;
pub mod ink;
mod line;
#[cfg(test)]
mod tests;

pub use bar::{Bar, BarChart, BarInk};
pub use line::{LineChart, Point, Series};

use crate::error::ReportError;
use crate::page::{Table, escape};
use canvas::Drawing;

/// The largest magnitude an axis shows. Beyond it, sums of limits and margins might overflow.
const MAX_VALUE: f64 = 1e100;

/// What all charts can do.
pub trait Chart {
    /// A word that is unique in its page: of letters, digits and hyphens.
    fn id(&self) -> &str;

    /// What the chart shows.
    fn title(&self) -> &str;

    /// What the chart says, in words and numbers, for those who cannot see it.
    fn description(&self) -> String;

    /// The numbers behind the chart.
    fn table(&self) -> Table;

    /// The chart in sentinel colours.
    #[doc(hidden)]
    fn draw(&self) -> Result<Drawing, ReportError>;

    /// The chart as an element of a page, in the colours of the page.
    fn to_svg(&self) -> Result<String, ReportError> {
        let drawing = self.draw()?;
        let (width, height) = drawing.view_box();
        let id: String =
            self.id().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-text\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-text\">{}</desc>\n{}</svg>\n",
            escape(self.title()),
            escape(&self.description()),
            ink::in_page(&drawing.body),
        ))
    }

    /// The chart as a document of its own, in light colours on white.
    fn to_svg_file(&self) -> Result<String, ReportError> {
        let drawing = self.draw()?;
        let (width, height) = drawing.view_box();
        let (design_width, design_height) = drawing.size;
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{design_width}\" \
             height=\"{design_height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n{}</svg>\n",
            escape(self.title()),
            escape(&self.description()),
            ink::LIGHT.paper,
            ink::on_white(&drawing.body),
        ))
    }
}

/// Every value has a place on an axis.
fn check_values(
    chart: &str,
    values: impl IntoIterator<Item = f64>,
    least: f64,
) -> Result<(), ReportError> {
    let requirement = if least < 0.0 { "between -1e100 and 1e100" } else { "between 0 and 1e100" };
    let bad = |v: &f64| !(*v >= least && *v <= MAX_VALUE);
    match values.into_iter().find(bad) {
        Some(value) => Err(ReportError::Value { chart: chart.into(), value, requirement }),
        None => Ok(()),
    }
}
