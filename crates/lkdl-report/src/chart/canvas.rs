//! A sheet to draw on: plotters' SVG backend in quarter pixels, because it rounds to whole units.

use super::ink::{Ink, N_SERIES};
use crate::error::ReportError;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Units per pixel of the design.
pub(crate) const UNIT: i32 = 4;
/// Letters, in pixels.
pub(crate) const FONT: f64 = 13.0;
/// plotters' font sizes are line heights: this many times the size of letters.
const LINE_HEIGHT: f64 = 1.24;
/// Mean width of a letter in a sans-serif face, as a share of its size.
const LETTER_WIDTH: f64 = 0.55;
/// Half the width of a marker, in pixels.
const MARKER: f64 = 4.5;

/// A sheet, or a part of one.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What came of drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The elements, in sentinel colours.
    pub body: String,
}

impl Drawing {
    /// Width and height in the units of the elements.
    pub(crate) fn view_box(&self) -> (u32, u32) {
        (self.size.0 * UNIT as u32, self.size.1 * UNIT as u32)
    }
}

/// Draws on a new sheet of this many pixels.
pub(crate) fn draw(
    title: &str,
    size: (u32, u32),
    paint: impl FnOnce(&Area<'_>) -> Result<(), Failure>,
) -> Result<Drawing, ReportError> {
    let mut svg = String::new();
    {
        let units = (size.0 * UNIT as u32, size.1 * UNIT as u32);
        let area = SVGBackend::with_string(&mut svg, units).into_drawing_area();
        paint(&area).and_then(|()| Ok(area.present()?)).map_err(|failure| {
            ReportError::Drawing { what: format!("chart \"{title}\""), problem: failure.0 }
        })?;
    }
    // The root element is ours: it carries titles and sizes that plotters has no words for.
    let body = svg.split_once('>').map_or("", |(_, rest)| rest).trim_start();
    let body = body.trim_end().strip_suffix("</svg>").unwrap_or(body);
    Ok(Drawing { size, body: body.to_string() })
}

/// plotters' errors are generic over the backend; only their text is of use.
pub(crate) struct Failure(String);

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for Failure {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Self(error.to_string())
    }
}

/// Pixels to units.
pub(crate) fn units(pixels: f64) -> i32 {
    (pixels * f64::from(UNIT)).round() as i32
}

/// How many pixels a text takes, roughly.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER_WIDTH
}

/// The text without control characters, which XML forbids, cut to so many pixels.
pub(crate) fn fitting(text: &str, size: f64, width: f64) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let room = (width / (size * LETTER_WIDTH)).max(1.0) as usize;
    if text.chars().count() <= room {
        return text;
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// A line's style.
pub(crate) fn stroke(ink: Ink, pixels: f64) -> ShapeStyle {
    ink.sentinel().stroke_width(units(pixels) as u32)
}

/// A style of text, anchored as said.
pub(crate) fn font(ink: Ink, size: f64, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    let size = size * LINE_HEIGHT * f64::from(UNIT);
    ("sans-serif", size).into_font().color(&ink.sentinel()).pos(Pos::new(horizontal, vertical))
}

/// Writes a text at a place given in pixels.
pub(crate) fn write(
    area: &Area<'_>,
    text: &str,
    at: (f64, f64),
    style: &TextStyle<'_>,
) -> Result<(), Failure> {
    let at = (units(at.0), units(at.1));
    Ok(area.draw(&Text::new(text.to_string(), at, style.clone()))?)
}

/// The marker of a series around the origin, in units: a shape of its own for each.
pub(crate) fn outline(series: usize, radius: f64) -> Vec<(i32, i32)> {
    let corner = |angle: f64, r: f64| {
        let (sin, cos) = angle.to_radians().sin_cos();
        (units(r * cos), units(r * sin))
    };
    let (count, start, r) = match series % N_SERIES {
        0 => (24, 0.0, radius),        // disc
        1 => (4, 45.0, radius * 1.25), // square
        2 => (3, -90.0, radius * 1.4), // triangle
        3 => (4, 0.0, radius * 1.35),  // diamond
        4 => (3, 90.0, radius * 1.4),  // triangle, point down
        5 => (5, -90.0, radius * 1.2), // pentagon
        6 => (3, 0.0, radius * 1.4),   // triangle to the right
        7 => (3, 180.0, radius * 1.4), // triangle to the left
        8 => (6, 0.0, radius * 1.15),  // hexagon
        _ => (8, 22.5, radius * 1.1),  // octagon
    };
    (0..count).map(|t| corner(start + 360.0 * f64::from(t) / f64::from(count), r)).collect()
}

/// A series' sample at a place in pixels: a piece of line with a marker.
pub(crate) fn legend_key(area: &Area<'_>, series: usize, at: (f64, f64)) -> Result<(), Failure> {
    let (x, y) = (units(at.0), units(at.1));
    let ends = vec![(x, y), (x + units(LEGEND_KEY), y)];
    area.draw(&PathElement::new(ends, stroke(Ink::Line(series), 2.0)))?;
    let middle = x + units(LEGEND_KEY) / 2;
    let place = |(dx, dy): (i32, i32)| (middle + dx, y + dy);
    let shape = outline(series, MARKER).into_iter().map(place).collect::<Vec<_>>();
    Ok(area.draw(&Polygon::new(shape, Ink::Mark(series).sentinel().filled()))?)
}

/// The length of a legend's piece of line, in pixels.
pub(crate) const LEGEND_KEY: f64 = 30.0;

/// A marker with a rim of paper, to be placed in the chart's own coordinates.
pub(crate) fn marker_shapes(series: usize) -> [(Vec<(i32, i32)>, ShapeStyle); 2] {
    [
        (outline(series, MARKER + 1.5), Ink::Paper.sentinel().filled()),
        (outline(series, MARKER), Ink::Mark(series).sentinel().filled()),
    ]
}
