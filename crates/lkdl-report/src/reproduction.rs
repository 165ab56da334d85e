//! The page of `lkdl reproduce`: every figure and table of the paper, beside its numbers.

use crate::chart::{Chart, LineChart};
use crate::error::ReportError;
use crate::page::{self, Table};
use maud::{Markup, html};

/// A number that stands for many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What it is of.
    pub kind: String,
    /// The number.
    pub number: String,
    /// What it is held against.
    pub versus: String,
}

/// One figure or table of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct ReproductionSection {
    /// A word that is unique in the page.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// What else is to be known: sizes that were reduced, what was skipped.
    pub notes: Vec<String>,
    /// Its curves.
    pub charts: Vec<LineChart>,
    /// Tables that are shown.
    pub tables: Vec<Table>,
    /// Tables behind a fold.
    pub details: Vec<Table>,
}

/// All of one reproduction.
#[derive(Debug, Clone, PartialEq)]
pub struct ReproductionReport {
    /// The page's heading.
    pub title: String,
    /// What came out, in a sentence or two.
    pub lead: String,
    /// The numbers at the top.
    pub cards: Vec<Card>,
    /// Figures and tables, in the paper's order.
    pub sections: Vec<ReproductionSection>,
    /// How the lines are named, and what ticks and crosses mean.
    pub legend: String,
    /// Names and values of everything that was chosen.
    pub facts: Vec<(String, String)>,
}

impl ReproductionReport {
    /// The page: one HTML file that needs nothing else.
    pub fn to_html(&self) -> Result<String, ReportError> {
        let sections = self.sections.iter().map(ReproductionSection::markup);
        let sections = sections.collect::<Result<Vec<_>, _>>()?;
        let body = html! {
            header {
                h1 { (self.title) }
                p.lead { (self.lead) }
                ul.cards {
                    @for card in &self.cards {
                        li {
                            p.kind { (card.kind) }
                            p.number { (with_spread(&card.number)) }
                            p.versus { (card.versus) }
                        }
                    }
                }
                (self.contents())
            }
            main {
                p { (self.legend) }
                @for section in &sections { (section) }
                section { h2 { "How this was made" } (page::facts(&self.facts)) }
            }
        };
        Ok(page::document(&self.title, &self.lead, &body))
    }

    /// The charts as files: names without ending, and SVG documents.
    pub fn svgs(&self) -> Result<Vec<(String, String)>, ReportError> {
        let charts = self.sections.iter().flat_map(|section| &section.charts);
        charts.map(|chart| Ok((chart.id.clone(), chart.to_svg_file()?))).collect()
    }

    fn contents(&self) -> Markup {
        html! {
            nav aria-label="Figures and tables" {
                @for (i, section) in self.sections.iter().enumerate() {
                    @if i > 0 { " · " }
                    a href={ "#" (section.id) } { (section.title) }
                }
            }
        }
    }
}

impl ReproductionSection {
    fn markup(&self) -> Result<Markup, ReportError> {
        let figures = self.charts.iter().map(|chart| page::figure(chart, ""));
        let figures = figures.collect::<Result<Vec<_>, _>>()?;
        Ok(html! {
            section id=(self.id) {
                h2 { (self.title) }
                p { (self.about) }
                @for note in &self.notes { p.muted { (note) } }
                @if !figures.is_empty() { div.pair { @for figure in &figures { (figure) } } }
                @for table in &self.tables { (page::table(table)) }
                @for table in &self.details {
                    details { summary { (table.caption) } (page::table(table)) }
                }
            }
        })
    }
}

/// The mean, and its deviation in small letters beside it.
fn with_spread(number: &str) -> Markup {
    let (mean, spread) = number.split_once(' ').unwrap_or((number, ""));
    html! { (mean) @if !spread.is_empty() { " " small { (spread) } } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Point, Series};
    use crate::testing::assert_well_formed;

    fn report(text: &str) -> ReproductionReport {
        let points = vec![Point { x: 1.0, y: 96.0, spread: 0.1 }];
        let chart = LineChart {
            id: "figure-1b".into(),
            title: text.into(),
            series: vec![Series { name: text.into(), points }],
            ..Default::default()
        };
        let header = vec![text.to_owned(); 2];
        let table = Table { caption: text.into(), rows: vec![header.clone()], header };
        ReproductionReport {
            title: text.into(),
            lead: text.into(),
            cards: vec![Card { kind: text.into(), number: "1".into(), versus: text.into() }],
            sections: vec![ReproductionSection {
                id: "1b".into(),
                title: text.into(),
                about: text.into(),
                notes: vec![text.into()],
                charts: vec![chart],
                tables: vec![table.clone()],
                details: vec![table],
            }],
            legend: text.into(),
            facts: vec![(text.into(), text.into())],
        }
    }

    #[test]
    fn a_page_has_contents_charts_and_tables() {
        let page = report("Figure").to_html().unwrap();
        assert_well_formed(&page);
        assert!(page.contains("href=\"#1b\"") && page.contains("<section id=\"1b\""));
        assert_eq!(page.matches("role=\"img\"").count(), 1);
        // the chart's numbers, a table shown, and one behind a fold
        assert_eq!((page.matches("<details>").count(), page.matches("<table>").count()), (2, 3));
        let svgs = report("Figure").svgs().unwrap();
        assert_eq!(svgs[0].0, "figure-1b");
    }

    #[test]
    fn hostile_names_are_escaped() {
        let page = report("\"><script>alert(1)</script>").to_html().unwrap();
        assert_well_formed(&page);
        assert!(!page.contains("<script"));
    }

    #[test]
    fn nothing_at_all_is_a_page_too() {
        let empty = ReproductionReport { cards: vec![], sections: vec![], ..report("none") };
        assert_well_formed(&empty.to_html().unwrap());
        assert!(empty.svgs().unwrap().is_empty());
    }
}
