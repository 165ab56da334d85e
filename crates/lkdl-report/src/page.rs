//! The page around charts, pictures and tables: one HTML file that needs nothing else.
//!
//! No script, no font, no address outside the file; light and dark after the reader's choice; a
//! single column on a phone, where wide tables scroll in a box of their own. All text is escaped.

use crate::chart::{Chart, ink};
use crate::error::ReportError;
use crate::image::GreyImage;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");

/// A table of texts; the first column names the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What the table holds.
    pub caption: String,
    /// Names of the columns, with units.
    pub header: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// Text for a place in HTML or SVG, inside an element or a quoted attribute. Control characters,
/// which neither may hold, are dropped.
pub fn escape(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    html! { (text) }.into_string()
}

/// The whole document.
pub(crate) fn document(title: &str, summary: &str, body: &Markup) -> String {
    let style = format!("{}{STYLE}", ink::css());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="description" content=(summary);
                title { (title) }
                // an empty icon, so that no browser asks a server for one
                link rel="icon" href="data:,";
                style { (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
    .into_string()
}

/// A table in a box of its own, which scrolls if it is too wide.
pub(crate) fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.caption) {
            table {
                caption { (table.caption) }
                thead { tr { @for head in &table.header { th scope="col" { (head) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (t, cell) in row.iter().enumerate() {
                                @if t == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A chart with what to see in it, and its numbers behind a fold.
pub(crate) fn figure(chart: &dyn Chart, caption: &str) -> Result<Markup, ReportError> {
    let svg = chart.to_svg()?;
    Ok(html! {
        figure {
            (PreEscaped(svg))
            @if !caption.is_empty() { figcaption { (caption) } }
            details { summary { "The numbers" } (table(&chart.table())) }
        }
    })
}

/// A picture with its text for those who cannot see it.
pub(crate) fn picture(image: &GreyImage, text: &str, class: &str) -> Result<Markup, ReportError> {
    let (uri, width, height) = (image.to_data_uri()?, image.width(), image.height());
    Ok(html! { img class=(class) src=(uri) alt=(text) width=(width) height=(height); })
}

/// Names and their values.
pub(crate) fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_well_formed;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("<a href=\"x\">&\u{0}\u{7f}"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        let hostile = "</title><script>\"&'".to_string();
        let rows = vec![vec![hostile.clone(), hostile.clone()]];
        let content = Table { caption: hostile.clone(), header: vec![hostile.clone(); 2], rows };
        let body = html! { (table(&content)) (facts(&[(hostile.clone(), hostile.clone())])) };
        let page = document(&hostile, &hostile, &body);
        assert_well_formed(&page);
        assert!(!page.contains("<script"));
    }

    #[test]
    fn the_document_needs_nothing_else() {
        let page = document("Title", "Summary", &html! { p { "text" } });
        assert_well_formed(&page);
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
        assert!(page.contains("name=\"viewport\"") && page.contains("prefers-color-scheme:dark"));
        for address in ["http:", "https:", "url(", "@import", "<script", "src="] {
            assert!(!page.contains(address), "{address}");
        }
    }
}
