//! Lines with error bars: one series per method, against a level.

use super::axis::Axis;
use super::canvas::{
    Area, Drawing, FONT, Failure, LEGEND_KEY, draw, fitting, font, legend_key, marker_shapes,
    stroke, text_width, units, write,
};
use super::ink::Ink;
use super::{Chart, MAX_VALUE, check_values};
use crate::error::ReportError;
use crate::page::Table;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 320.0;
/// Room for the y axis' numbers and name, and for those of the x axis.
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 48.0;
const TITLE: f64 = 28.0;
const LEGEND_LINE: f64 = 20.0;
const RIGHT: f64 = 14.0;
/// Half an error bar's cap.
const CAP: f64 = 4.0;
/// A line of more points needs no markers: they would touch.
const MAX_MARKERS: usize = 40;
/// The smallest value a logarithmic axis shows.
const MIN_LOGARITHMIC: f64 = 1e-100;

/// A value with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The level.
    pub x: f64,
    /// The mean.
    pub y: f64,
    /// Half the length of the error bar, at least 0; 0 draws none.
    pub spread: f64,
}

/// The points of one method, joined by a line in the order given.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// At least one.
    pub points: Vec<Point>,
}

/// A chart of lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineChart {
    /// See [`Chart::id`].
    pub id: String,
    /// What the chart shows.
    pub title: String,
    /// What levels are, with their unit.
    pub x_label: String,
    /// What values are, with their unit.
    pub y_label: String,
    /// Limits of the y axis; `None` for round ones around the data.
    pub y_limits: Option<(f64, f64)>,
    /// Equal ratios of values are equally long; values must be above 0, limits are not used.
    pub logarithmic: bool,
    /// Decimals of values in the table; `None` for two.
    pub decimals: Option<usize>,
    /// At least one.
    pub series: Vec<Series>,
}

impl LineChart {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// The levels of all series, each once, ascending.
    fn levels(&self) -> Vec<f64> {
        let mut levels: Vec<f64> = self.points().map(|p| p.x).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }

    fn check(&self) -> Result<(), ReportError> {
        let empty = |what| ReportError::Empty { chart: self.title.clone(), what };
        if self.series.is_empty() {
            return Err(empty("series"));
        }
        if self.series.iter().any(|series| series.points.is_empty()) {
            return Err(empty("point in one of its series"));
        }
        check_values(&self.title, self.points().flat_map(|p| [p.x, p.y]), -MAX_VALUE)?;
        check_values(&self.title, self.points().map(|p| p.spread), 0.0)?;
        if let Some(p) = self.points().find(|p| self.logarithmic && p.y < MIN_LOGARITHMIC) {
            let requirement = "at least 1e-100 on a logarithmic axis";
            return Err(ReportError::Value { chart: self.title.clone(), value: p.y, requirement });
        }
        let limits = self.y_limits.into_iter().flat_map(|(low, high)| [low, high]);
        check_values(&self.title, limits, -MAX_VALUE)?;
        match self.y_limits {
            Some((low, high)) if low >= high => Err(ReportError::Value {
                chart: self.title.clone(),
                value: high,
                requirement: "below the upper limit of its axis",
            }),
            _ => Ok(()),
        }
    }

    /// Names of the series in rows that fit the width: (series, row, x in pixels).
    fn legend(&self) -> Vec<(usize, usize, f64)> {
        let (mut row, mut x) = (0, LEFT);
        let mut places = Vec::new();
        for (i, series) in self.series.iter().enumerate() {
            let width = LEGEND_KEY + 28.0 + text_width(&series.name, FONT);
            if x > LEFT && x + width > WIDTH {
                (row, x) = (row + 1, LEFT);
            }
            places.push((i, row, x));
            x += width;
        }
        places
    }

    fn paint(&self, sheet: &Area<'_>, legend_rows: usize) -> Result<(), Failure> {
        let title = font(Ink::Text, FONT + 1.0, HPos::Left, VPos::Center);
        let title = TextStyle { font: title.font.style(FontStyle::Bold), ..title };
        write(sheet, &fitting(&self.title, FONT + 1.0, WIDTH - 8.0), (4.0, TITLE / 2.0), &title)?;
        let name = font(Ink::Text, FONT, HPos::Left, VPos::Center);
        for (i, row, x) in self.legend() {
            let y = TITLE + LEGEND_LINE * (row as f64 + 0.5);
            legend_key(sheet, i, (x, y))?;
            let x = x + LEGEND_KEY + 6.0;
            write(sheet, &fitting(&self.series[i].name, FONT, WIDTH - x), (x, y), &name)?;
        }
        let top = units(TITLE + LEGEND_LINE * legend_rows as f64);
        let (_, plot) = sheet.split_vertically(top);
        self.paint_plot(&plot)
    }

    fn paint_plot(&self, plot: &Area<'_>) -> Result<(), Failure> {
        let ends = self.points().flat_map(|p| [p.y - p.spread, p.y + p.spread]);
        let y = match self.logarithmic {
            true => Axis::powers(&self.points().map(|p| p.y).collect::<Vec<_>>()),
            false => Axis::around(&ends.collect::<Vec<_>>(), self.y_limits),
        };
        let x = Axis::through(&self.levels());
        let mut chart = ChartBuilder::on(plot)
            .margin_top(units(8.0))
            .margin_right(units(RIGHT))
            .x_label_area_size(units(BOTTOM))
            .y_label_area_size(units(LEFT))
            .build_cartesian_2d(x, y)?;
        let numbers = |horizontal, vertical| font(Ink::Muted, FONT - 1.0, horizontal, vertical);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(stroke(Ink::Grid, 1.0))
            .axis_style(stroke(Ink::Muted, 1.0))
            .x_label_style(numbers(HPos::Center, VPos::Top))
            .y_label_style(numbers(HPos::Right, VPos::Center))
            .set_all_tick_mark_size(units(4.0))
            .x_desc(fitting(&self.x_label, FONT, WIDTH - LEFT))
            .y_desc(fitting(&self.y_label, FONT, HEIGHT - BOTTOM - TITLE))
            .axis_desc_style(font(Ink::Muted, FONT, HPos::Center, VPos::Center))
            .draw()?;
        // later series first: the first one, the subject, lies on top
        for (i, series) in self.series.iter().enumerate().rev() {
            let bars = series.points.iter().filter(|p| p.spread > 0.0);
            let mark = stroke(Ink::Mark(i), 1.5);
            chart.draw_series(bars.clone().map(|p| {
                PathElement::new(vec![(p.x, p.y - p.spread), (p.x, p.y + p.spread)], mark)
            }))?;
            let caps = bars.flat_map(|p| [(p.x, p.y - p.spread), (p.x, p.y + p.spread)]);
            chart.draw_series(caps.map(|at| {
                let ends = vec![(-units(CAP), 0), (units(CAP), 0)];
                EmptyElement::at(at) + PathElement::new(ends, mark)
            }))?;
            let path = series.points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
            chart.draw_series([PathElement::new(path.clone(), stroke(Ink::Line(i), 2.25))])?;
            if path.len() > MAX_MARKERS {
                continue;
            }
            for (shape, style) in marker_shapes(i) {
                chart.draw_series(
                    path.iter()
                        .map(|at| EmptyElement::at(*at) + Polygon::new(shape.clone(), style)),
                )?;
            }
        }
        Ok(())
    }
}

impl Chart for LineChart {
    fn id(&self) -> &str {
        &self.id
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn description(&self) -> String {
        let x = Axis::through(&self.levels());
        let mut text = format!("Line chart of {} against {}.", self.y_label, self.x_label);
        for Series { name, points } in &self.series {
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                let decimals = self.decimals.unwrap_or(1);
                let at = |p: &Point| format!("{:.decimals$} at {}", p.y, x.label(p.x));
                text += &match points.len() {
                    1 => format!(" {name}: {}.", at(first)),
                    _ => format!(" {name}: from {} to {}.", at(first), at(last)),
                };
            }
        }
        text
    }

    fn table(&self) -> Table {
        let levels = self.levels();
        let x = Axis::through(&levels);
        let spreads = self.points().any(|p| p.spread > 0.0);
        let decimals = self.decimals.unwrap_or(2);
        let cell = |series: &Series, level: f64| {
            let point = series.points.iter().find(|p| p.x == level);
            point.map_or("–".into(), |p| match spreads {
                true => format!("{:.decimals$} ± {:.decimals$}", p.y, p.spread),
                false => format!("{:.decimals$}", p.y),
            })
        };
        let row = |level: &f64| {
            let cells = self.series.iter().map(|series| cell(series, *level));
            std::iter::once(x.label(*level)).chain(cells).collect()
        };
        Table {
            caption: format!("{}: {}", self.title, self.y_label),
            header: std::iter::once(self.x_label.clone())
                .chain(self.series.iter().map(|series| series.name.clone()))
                .collect(),
            rows: levels.iter().map(row).collect(),
        }
    }

    fn draw(&self) -> Result<Drawing, ReportError> {
        self.check()?;
        let legend_rows = self.legend().last().map_or(0, |(_, row, _)| row + 1);
        let height = HEIGHT + LEGEND_LINE * (legend_rows as f64 - 1.0);
        draw(&self.title, (WIDTH as u32, height as u32), |sheet| self.paint(sheet, legend_rows))
    }
}
