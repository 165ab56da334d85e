//! Horizontal bars with their values: times of stages, residuals of classes.

use super::axis::Axis;
use super::canvas::{
    Area, Drawing, FONT, Failure, draw, fitting, font, stroke, text_width, units, write,
};
use super::ink::Ink;
use super::{Chart, check_values};
use crate::error::ReportError;
use crate::page::Table;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const WIDTH: f64 = 440.0;
const TITLE: f64 = 28.0;
const LINE: f64 = 22.0;
/// A bar's share of its line.
const THICKNESS: f64 = 0.68;
const BOTTOM: f64 = 46.0;
/// The widest that labels may be.
const MAX_LABELS: f64 = 190.0;
const RIGHT: f64 = 14.0;

/// What a bar is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarInk {
    /// The colour of a series of a [`LineChart`](super::LineChart), by index.
    Series(usize),
    /// A colour that steps back.
    Faint,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub label: String,
    /// How long it is, at least 0.
    pub value: f64,
    /// Its colour.
    pub ink: BarInk,
}

/// A chart of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// See [`Chart::id`].
    pub id: String,
    /// What the chart shows.
    pub title: String,
    /// What bars stand for, as the head of the table.
    pub label_head: String,
    /// What values are, with their unit.
    pub value_label: String,
    /// Decimals of the values beside the bars.
    pub decimals: usize,
    /// From top to bottom, at least one.
    pub bars: Vec<Bar>,
}

impl BarChart {
    fn value(&self, bar: &Bar) -> String {
        format!("{:.*}", self.decimals.min(9), bar.value)
    }

    fn paint(&self, sheet: &Area<'_>) -> Result<(), Failure> {
        let title = font(Ink::Text, FONT + 1.0, HPos::Left, VPos::Center);
        let title = TextStyle { font: title.font.style(FontStyle::Bold), ..title };
        write(sheet, &fitting(&self.title, FONT + 1.0, WIDTH - 8.0), (4.0, TITLE / 2.0), &title)?;
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let labels = &mut self.bars.iter().map(|bar| text_width(&bar.label, FONT));
        let left = widest(labels).min(MAX_LABELS) + 18.0;
        let numbers = &mut self.bars.iter().map(|bar| text_width(&self.value(bar), FONT));
        let right = widest(numbers) + 10.0 + RIGHT;

        let n = self.bars.len() as f64;
        let largest = self.bars.iter().fold(0.0_f64, |a, bar| a.max(bar.value));
        let end = if largest > 0.0 { largest } else { 1.0 };
        let x = Axis::around(&[0.0, end], None).up_to(end);
        let (_, plot) = sheet.split_vertically(units(TITLE));
        let mut chart = ChartBuilder::on(&plot)
            .margin_right(units(right))
            .x_label_area_size(units(BOTTOM))
            .y_label_area_size(units(left))
            .build_cartesian_2d(x, n..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(stroke(Ink::Grid, 1.0))
            .axis_style(stroke(Ink::Muted, 1.0))
            .x_label_style(font(Ink::Muted, FONT - 1.0, HPos::Center, VPos::Top))
            .set_all_tick_mark_size(units(4.0))
            .x_desc(fitting(&self.value_label, FONT, WIDTH - left))
            .axis_desc_style(font(Ink::Muted, FONT, HPos::Center, VPos::Center))
            .draw()?;
        chart.draw_series(self.bars.iter().enumerate().map(|(row, bar)| {
            let (middle, half) = (row as f64 + 0.5, THICKNESS / 2.0);
            let ink = match bar.ink {
                BarInk::Series(i) => Ink::Mark(i),
                BarInk::Faint => Ink::Faint,
            };
            let corners = [(0.0, middle - half), (bar.value, middle + half)];
            Rectangle::new(corners, ink.sentinel().filled())
        }))?;
        for (row, bar) in self.bars.iter().enumerate() {
            let y = TITLE + LINE * (row as f64 + 0.5);
            let label = fitting(&bar.label, FONT, left - 12.0);
            write(
                sheet,
                &label,
                (left - 8.0, y),
                &font(Ink::Text, FONT, HPos::Right, VPos::Center),
            )?;
            let x = left + (WIDTH - left - right) * bar.value / end + 6.0;
            write(
                sheet,
                &self.value(bar),
                (x, y),
                &font(Ink::Text, FONT, HPos::Left, VPos::Center),
            )?;
        }
        Ok(())
    }
}

impl Chart for BarChart {
    fn id(&self) -> &str {
        &self.id
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn description(&self) -> String {
        let bars: Vec<String> =
            self.bars.iter().map(|bar| format!("{} {}", bar.label, self.value(bar))).collect();
        format!("Bar chart of {}: {}.", self.value_label, bars.join(", "))
    }

    fn table(&self) -> Table {
        Table {
            caption: self.title.clone(),
            header: vec![self.label_head.clone(), self.value_label.clone()],
            rows: self.bars.iter().map(|bar| vec![bar.label.clone(), self.value(bar)]).collect(),
        }
    }

    fn draw(&self) -> Result<Drawing, ReportError> {
        if self.bars.is_empty() {
            return Err(ReportError::Empty { chart: self.title.clone(), what: "bar" });
        }
        check_values(&self.title, self.bars.iter().map(|bar| bar.value), 0.0)?;
        let height = TITLE + LINE * self.bars.len() as f64 + BOTTOM;
        draw(&self.title, (WIDTH as u32, height as u32), |sheet| self.paint(sheet))
    }
}
