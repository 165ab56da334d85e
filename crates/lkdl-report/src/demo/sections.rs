//! The page's sections, from the headline to the fine print.

use super::{DemoReport, ResultRow, SampleGroup, SamplePicture, capital, condition, words};
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

/// A number of things.
pub(super) fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
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
        "With {level}, {} still recognises {:.0}\u{a0}% of the digits, {} {:.0}\u{a0}%. All learned from clean \
         samples, with the same number of atoms and the same sparsity; the kernel is all that \
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
                    p.kind { (capital(&level)) }
                    p.number {
                        (format!("{:.1} %", 100.0 * ours.accuracy_mean))
                        small { (format!(" ± {:.1}  {}", 100.0 * ours.accuracy_std, ours.method)) }
                    }
                    p.versus {
                        (format!("{:.1} %", 100.0 * other.accuracy_mean))
                        (format!(" ± {:.1}  {}", 100.0 * other.accuracy_std, other.method))
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
                (counted(report.runs, "random stratified split")) ", error bars one standard "
                "deviation to each side."
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
                "before corruption and after, with what each method says. A tick marks a right "
                "decision."
            }
            div.scroll tabindex="0" role="region" aria-label="Samples and decisions" {
                table.samples { @for group in &groups { (group) } }
            }
        }
    })
}

/// One row of pictures, and one of decisions per method.
fn sample_group(report: &DemoReport, group: &SampleGroup) -> Result<Markup, ReportError> {
    let title = capital(&condition(&group.corruption, group.level));
    let images = group.samples.iter().map(|sample| {
        let text = format!("A handwritten {}. {title}.", sample.truth);
        sample_picture(report, &sample.values, &text)
    });
    let images = images.collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        tbody {
            tr { th scope="row" { (title) } @for image in &images { td { (image) } } }
            @for (t, method) in report.methods.iter().enumerate() {
                tr {
                    th scope="row" { (method) }
                    @for sample in &group.samples { (decision(sample, t)) }
                }
            }
        }
    })
}

fn decision(sample: &SamplePicture, method: usize) -> Markup {
    let Some(decision) = sample.decisions.get(method) else { return html! { td {} } };
    if decision.label == sample.truth {
        html! { td.right { (decision.label) " ✓" } }
    } else {
        html! { td.wrong { (decision.label) " ✗" } }
    }
}

fn sample_picture(report: &DemoReport, values: &[f64], text: &str) -> Result<Markup, ReportError> {
    let (white, black) = report.paper_and_ink;
    let image = GreyImage::from_column(values, report.shape, GreyRange { white, black })?;
    page::picture(&image, text, "pixels")
}

fn residuals(report: &DemoReport) -> Result<Markup, ReportError> {
    if report.residuals.is_empty() {
        return Ok(html! {});
    }
    let mut shown = Vec::new();
    for (t, sample) in report.residuals.iter().enumerate() {
        let charts = report.residual_charts(t, sample);
        let figures = charts.iter().map(|chart| page::figure(chart, ""));
        let text = format!("{}, true class {}", sample.title, sample.truth);
        let image = sample_picture(report, &sample.values, &text)?;
        shown.push((&sample.title, image, figures.collect::<Result<Vec<_>, _>>()?));
    }
    Ok(html! {
        section {
            h2 { "How a decision is made" }
            p {
                "Every class has a dictionary. Each represents the sample by a few of its atoms, "
                "and the class that leaves least of it wins: the shortest bar, in colour. Shown "
                "are the first test samples that only one of the two methods recognises."
            }
            @for (title, image, figures) in &shown {
                div.example { (image) h3 { (title) } }
                div.pair { @for figure in figures { (figure) } }
            }
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
            div.pair {
                p {
                    "With more atoms per code every class can imitate the corruption better, so a "
                    "linear dictionary has to be tuned to the damage it will meet, and a code of "
                    "one atom costs accuracy on clean samples. The same comparison for other "
                    "numbers of atoms per code, all else as above."
                }
                @for figure in &figures { (figure) }
            }
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
        ("seeds", format!("{} from seed {}", counted(report.runs, "run"), report.seed)),
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
