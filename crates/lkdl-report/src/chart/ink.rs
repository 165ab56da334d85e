//! The colours of charts and pages.
//!
//! Drawings name inks by sentinel colours, which are exchanged afterwards: for CSS variables in a
//! page, for the light colours in a file. Series colours follow Okabe and Ito, whose set is distinct
//! for all common kinds of colour blindness; those for dark paper are lighter relatives. Text has a
//! contrast of 4.5 at least against its paper, lines of 3 (tested).

use plotters::style::RGBColor;
use std::fmt::Write;

/// How many series have an ink of their own; more take turns.
pub const N_SERIES: usize = 10;

/// The dashes of each series' line, in quarter pixels.
const DASHES: [&str; N_SERIES] =
    ["", "28 18", "8 14", "44 16 8 16", "", "28 18", "8 14", "44 16 8 16", "16 10", "60 14"];

/// One set of colours.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    /// Behind everything.
    pub paper: &'static str,
    /// Behind cards and code.
    pub panel: &'static str,
    /// Text.
    pub text: &'static str,
    /// Text of less weight, and axes.
    pub muted: &'static str,
    /// Lines that only guide the eye.
    pub grid: &'static str,
    /// Bars that are not the point.
    pub faint: &'static str,
    /// Links and the first series.
    pub series: [&'static str; N_SERIES],
}

/// On light paper.
pub const LIGHT: Palette = Palette {
    paper: "#ffffff",
    panel: "#f5f6f8",
    text: "#1c2128",
    muted: "#57606a",
    grid: "#e1e4e8",
    faint: "#8b949e",
    series: [
        "#0069a6", "#c4500a", "#00795b", "#96468a", "#7a6400", "#c0305f", "#3f4a57", "#6246c4",
        "#2e7d32", "#8d5524",
    ],
};

/// On dark paper.
pub const DARK: Palette = Palette {
    paper: "#14171c",
    panel: "#1d2229",
    text: "#e6e9ee",
    muted: "#a3adb8",
    grid: "#2e353f",
    faint: "#727d8a",
    series: [
        "#5ab4ec", "#f2935c", "#45c9a0", "#dd94cf", "#e0c04a", "#ff8ba7", "#c3cad3", "#a999f5",
        "#93d37a", "#d8a47f",
    ],
};

/// What a stroke or a letter is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Text,
    Muted,
    Grid,
    Faint,
    /// The paper itself, around markers.
    Paper,
    /// The dashed line of a series.
    Line(usize),
    /// Its markers, error bars and bars.
    Mark(usize),
}

impl Ink {
    fn all() -> impl Iterator<Item = Self> {
        let lines = (0..N_SERIES).map(Self::Line);
        let marks = (0..N_SERIES).map(Self::Mark);
        [Self::Text, Self::Muted, Self::Grid, Self::Faint, Self::Paper]
            .into_iter()
            .chain(lines)
            .chain(marks)
    }

    /// A colour that nothing else in a drawing has.
    pub(crate) fn sentinel(self) -> RGBColor {
        match self {
            Self::Text => RGBColor(0, 0, 1),
            Self::Muted => RGBColor(0, 0, 2),
            Self::Grid => RGBColor(0, 0, 3),
            Self::Faint => RGBColor(0, 0, 4),
            Self::Paper => RGBColor(0, 0, 5),
            Self::Line(i) => RGBColor(0, 1, (i % N_SERIES) as u8),
            Self::Mark(i) => RGBColor(0, 2, (i % N_SERIES) as u8),
        }
    }

    fn variable(self) -> String {
        match self {
            Self::Text => "var(--text)".into(),
            Self::Muted => "var(--muted)".into(),
            Self::Grid => "var(--grid)".into(),
            Self::Faint => "var(--faint)".into(),
            Self::Paper => "var(--paper)".into(),
            Self::Line(i) | Self::Mark(i) => format!("var(--series-{})", i % N_SERIES + 1),
        }
    }

    fn light(self) -> String {
        match self {
            Self::Text => LIGHT.text,
            Self::Muted => LIGHT.muted,
            Self::Grid => LIGHT.grid,
            Self::Faint => LIGHT.faint,
            Self::Paper => LIGHT.paper,
            Self::Line(i) | Self::Mark(i) => LIGHT.series[i % N_SERIES],
        }
        .into()
    }
}

/// The drawing in the page's variables.
pub(crate) fn in_page(body: &str) -> String {
    exchange(body, Ink::variable)
}

/// The drawing in light colours.
pub(crate) fn on_white(body: &str) -> String {
    exchange(body, Ink::light)
}

/// Texts are escaped, so a quoted sentinel is always an attribute of ours.
fn exchange(body: &str, color: impl Fn(Ink) -> String) -> String {
    // plotters states that everything is opaque
    let mut body = body.replace(" opacity=\"1\"", "");
    for ink in Ink::all() {
        let RGBColor(r, g, b) = ink.sentinel();
        let from = format!("\"#{r:02X}{g:02X}{b:02X}\"");
        let to = match ink {
            Ink::Line(i) if !DASHES[i % N_SERIES].is_empty() => {
                format!("\"{}\" stroke-dasharray=\"{}\"", color(ink), DASHES[i % N_SERIES])
            }
            _ => format!("\"{}\"", color(ink)),
        };
        body = body.replace(&from, &to);
    }
    body
}

/// The palettes as CSS: variables for light paper, and for dark where the reader prefers it.
pub fn css() -> String {
    let (light, dark) = (variables(&LIGHT), variables(&DARK));
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n\
         @media print{{:root{{color-scheme:light;{light}}}}}\n"
    )
}

fn variables(palette: &Palette) -> String {
    let Palette { paper, panel, text, muted, grid, faint, series } = palette;
    let mut css = format!(
        "--paper:{paper};--panel:{panel};--text:{text};--muted:{muted};--grid:{grid};\
         --faint:{faint};"
    );
    for (i, color) in series.iter().enumerate() {
        let _ = write!(css, "--series-{}:{color};", i + 1); // a String takes everything
    }
    css
}
