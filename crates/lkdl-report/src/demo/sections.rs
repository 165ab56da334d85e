//! The page's sections, from the headline to the fine print.

use super::{DemoReport, ResultRow, SampleGroup, SamplePicture, condition, words};
use crate::error::ReportError;
use crate::image::{GreyImage, GreyRange, Mosaic, Scaling, pictures};
use crate::page::{self, Table};
use maud::{Markup, html};

pub(super) fn document(report: &DemoReport) -> Result<String, ReportError> {
    let summary = headline(report);
    let body = html! {
        header {
            h1 { (report.title) }
            p.lead { (summary) }
            (cards(report))
        }
        main {
            (accuracy(report)?)
            (samples(report)?)
            (residuals(report)?)
            (sparsity(report)?)
            (atoms(report)?)
            (times(report)?)
            (recipe(report))
        }
        footer {
            p { (report.attribution) }
            p { "lkdl " (report.version) ", seed " (report.seed) }
        }
    };
    Ok(page::document(&report.title, &summary, &body))
}

/// The two methods at one level.
fn compared<'a>(
    report: &'a DemoReport,
    corruption: &str,
    level: f64,
) -> Option<(&'a ResultRow, &'a ResultRow)> {
    let row = |method: &String| {
        report
            .results
            .iter()
            .find(|r| r.corruption == corruption && r.level == level && r.method == *method)
    };
    Some((row(report.methods.first()?)?, row(report.methods.get(1)?)?))
}

/// Clean samples, then every corruption at its strongest: no level is picked by its outcome.
fn highlights(report: &DemoReport) -> Vec<(String, &ResultRow, &ResultRow)> {
    let mut found = Vec::new();
    for (t, corruption) in report.corruptions().into_iter().enumerate() {
        let rows = report.results.iter().filter(|r| r.corruption == corruption);
        let strongest = rows.map(|r| r.level).fold(0.0, f64::max);
        let clean = (t == 0 && strongest > 0.0).then_some(0.0);
        for level in clean.into_iter().chain([strongest]) {
            if let Some((ours, other)) = compared(report, corruption, level) {
                found.push((condition(corruption, level), ours, other));
            }
        }
    }
    found
}

fn headline(report: &DemoReport) -> String {
    let Some((level, ours, other)) = highlights(report).pop() else {
        return report.dataset.clone();
    };
    format!(
        "{level}: {} still recognises {:.0} % of the digits, {} {:.0} %. Both learned from clean \
         samples, with the same number of atoms and the same sparsity; the kernel map is all that \
         differs.",
        ours.method,
        100.0 * ours.accuracy_mean,
        other.method,
        100.0 * other.accuracy_mean,
    )
}

fn cards(report: &DemoReport) -> Markup {
    html! {
        ul.cards {
            @for (level, ours, other) in highlights(report) {
                li {
                    p.kind { (level) }
                    p.number {
                        (format!("{:.1} %", 100.0 * ours.accuracy_mean))
                        small { (format!(" ± {:.1}", 100.0 * ours.accuracy_std)) }
                    }
                    p.versus {
                        (ours.method) "; " (other.method)
                        (format!(" {:.1} %", 100.0 * other.accuracy_mean))
                        (format!(" ± {:.1}", 100.0 * other.accuracy_std))
                    }
                }
            }
        }
    }
}

fn accuracy(report: &DemoReport) -> Result<Markup, ReportError> {
    let charts = report.accuracy_charts();
    let figures = charts.iter().map(|chart| page::figure(chart, ""));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        section {
            h2 { "Accuracy under corruption" }
            p {
                "Dictionaries were learned from clean samples; only the test samples were "
                "corrupted, before anything else was done to them. Points are means over "
                (report.runs) " random stratified splits, error bars one standard deviation to "
                "each side."
            }
            div.pair { @for figure in &figures { (figure) } }
        }
    })
}

fn samples(report: &DemoReport) -> Result<Markup, ReportError> {
    if report.samples.is_empty() {
        return Ok(html! {});
    }
    let groups = report.samples.iter().map(|group| sample_group(report, group));
    let groups = groups.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        section {
            h2 { "What the classifiers see" }
            p {
                "The first test sample of every class in the first split, not chosen by outcome: "
                "before corruption, and after. A tick marks a right decision."
            }
            @for group in &groups { (group) }
        }
    })
}

fn sample_group(report: &DemoReport, group: &SampleGroup) -> Result<Markup, ReportError> {
    let tiles = group.samples.iter().map(|sample| tile(report, group, sample));
    let tiles = tiles.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        h3 { (group.title) }
        ul.tiles { @for tile in &tiles { li.tile { (tile) } } }
    })
}

fn tile(
    report: &DemoReport,
    group: &SampleGroup,
    sample: &SamplePicture,
) -> Result<Markup, ReportError> {
    let (white, black) = report.paper_and_ink;
    let range = GreyRange { white, black };
    let image = GreyImage::from_column(&sample.values, report.shape, range)?;
    let text = format!("A handwritten {}. {}.", sample.truth, group.title);
    Ok(html! {
        (page::picture(&image, &text, "pixels")?)
        @for decision in &sample.decisions {
            @let right = decision.label == sample.truth;
            p class=(if right { "right" } else { "wrong" }) {
                (decision.method) ": " (decision.label)
                @if right { " ✓" } @else { " ✗" }
            }
        }
    })
}

fn residuals(report: &DemoReport) -> Result<Markup, ReportError> {
    let charts = report.residual_charts();
    if charts.is_empty() {
        return Ok(html! {});
    }
    let figures = charts.iter().map(|chart| page::figure(chart, ""));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        section {
            h2 { "How a decision is made" }
            p {
                "Every class has a dictionary. Each represents the sample by a few of its atoms, "
                "and the class that leaves least of it wins: the shortest bar, in colour. The "
                "samples are the first above on which the methods disagree, or the first of all."
            }
            div.pair { @for figure in &figures { (figure) } }
        }
    })
}

fn sparsity(report: &DemoReport) -> Result<Markup, ReportError> {
    let charts = report.sparsity_charts();
    if charts.is_empty() {
        return Ok(html! {});
    }
    let figures = charts.iter().map(|chart| page::figure(chart, ""));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        section {
            h2 { "How much depends on the sparsity" }
            p {
                "The more atoms a linear code may use, the better every class can imitate the "
                "corruption. A linear dictionary therefore has to be tuned for the damage it will "
                "meet, at a price on clean samples; virtual samples keep their accuracy over the "
                "whole range. All else is as above."
            }
            div.pair { @for figure in &figures { (figure) } }
        }
    })
}

fn atoms(report: &DemoReport) -> Result<Markup, ReportError> {
    if report.atoms.is_empty() {
        return Ok(html! {});
    }
    let mut methods = Vec::new();
    for method in &report.atoms {
        let mut rows = Vec::new();
        for (class, atoms) in &method.classes {
            let tiles = pictures(atoms, report.shape, Scaling::Symmetric)?;
            let mosaic = Mosaic { columns: tiles.len(), gap: super::ATOM_GAP, zoom: 1 };
            let text = format!("{} atoms of class {class}, {}", tiles.len(), method.method);
            rows.push((class, page::picture(&mosaic.join(&tiles)?, &text, "")?));
        }
        methods.push((method, rows));
    }
    Ok(html! {
        section {
            h2 { "Atoms" }
            @for (method, rows) in &methods {
                h3 { (method.method) }
                p { (method.note) }
                ul.atoms { @for (class, row) in rows { li { span { (class) } (row) } } }
            }
        }
    })
}

fn times(report: &DemoReport) -> Result<Markup, ReportError> {
    let Some(chart) = report.time_chart() else { return Ok(html! {}) };
    let caption = "Each stage timed by itself, one fit per run, on this machine. Classifying \
                   includes preparing and mapping the test samples.";
    Ok(html! {
        section { h2 { "Times" } (page::figure(&chart, caption)?) }
    })
}

fn recipe(report: &DemoReport) -> Markup {
    let row = |r: &ResultRow| {
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        vec![
            words(&r.corruption),
            format!("{}", r.level),
            r.method.clone(),
            percent(r.accuracy_mean),
            percent(r.accuracy_std),
            r.runs.to_string(),
            format!("{:.1}", 1000.0 * r.seconds),
        ]
    };
    let header = ["corruption", "level", "method", "accuracy, %", "± σ", "runs", "classify, ms"];
    let table = Table {
        caption: "All results".into(),
        header: header.map(String::from).into(),
        rows: report.results.iter().map(row).collect(),
    };
    let identity = [
        ("version", format!("lkdl {}", report.version)),
        ("seeds", format!("{} runs from seed {}", report.runs, report.seed)),
        ("data", report.dataset.clone()),
        ("SHA-256 of the data", report.dataset_checksum.clone()),
    ];
    let identity = identity.map(|(name, value)| (name.to_string(), value));
    let all: Vec<_> = identity.iter().chain(&report.parameters).cloned().collect();
    html! {
        section {
            h2 { "How this was made" }
            pre { code { (report.command) } }
            (page::facts(&all))
            details { summary { "All results" } (page::table(&table)) }
        }
    }
}
