//! The page of ordinary, tiny and hostile demonstrations.

use super::*;
use crate::image::PixelOrder;
use crate::testing::assert_well_formed;

fn row(method: &str, corruption: &str, level: f64, accuracy_mean: f64) -> ResultRow {
    ResultRow {
        method: method.into(),
        corruption: corruption.into(),
        level,
        accuracy_mean,
        accuracy_std: 0.01,
        runs: 5,
        seconds: 0.002,
    }
}

fn report(name: &str) -> DemoReport {
    let results: Vec<ResultRow> =
        [("noise", 0.0, 0.99), ("noise", 0.9, 0.8), ("missing", 0.7, 0.7)]
            .iter()
            .flat_map(|&(kind, level, a)| {
                [row(name, kind, level, a), row("linear", kind, level, a - 0.2)]
            })
            .collect();
    let decision =
        |method: &str, label: &str| Decision { method: method.into(), label: label.into() };
    let sample = SamplePicture {
        values: vec![-1.0, 0.0, 0.5, 1.0],
        truth: name.into(),
        decisions: vec![decision(name, name), decision("linear", "other")],
    };
    let sparsity = results.iter().map(|r| SparsityRow { sparsity: 3, result: r.clone() }).collect();
    DemoReport {
        title: name.into(),
        command: format!("lkdl demo --title {name}"),
        version: "0.1.0".into(),
        seed: 7,
        runs: 5,
        dataset: name.into(),
        attribution: name.into(),
        dataset_checksum: "b508".into(),
        methods: vec![name.into(), "linear".into()],
        parameters: vec![("kernel".into(), name.into())],
        results,
        sparsity,
        shape: Shape { height: 2, width: 2, order: PixelOrder::RowMajor },
        paper_and_ink: (-1.0, 1.0),
        samples: vec![SampleGroup { corruption: name.into(), level: 0.5, samples: vec![sample] }],
        residuals: vec![SampleResiduals {
            title: name.into(),
            values: vec![0.0; 4],
            truth: name.into(),
            methods: vec![MethodResiduals {
                method: "linear".into(),
                label: "other".into(),
                residuals: vec![(name.into(), 0.4), ("other".into(), 0.3)],
            }],
        }],
        atoms: vec![Atoms {
            method: "linear".into(),
            note: name.into(),
            classes: vec![(name.into(), vec![vec![0.1, -0.1, 0.0, 0.2]; 3])],
        }],
        times: vec![StageTime {
            method: name.into(),
            stage: "learn".into(),
            seconds: 0.1,
            seconds_std: 0.01,
        }],
    }
}

#[test]
fn the_page_has_all_sections_and_a_table_behind_every_chart() {
    let page = report("LKDL").to_html().unwrap();
    assert_well_formed(&page);
    let charts = page.matches("role=\"img\"").count();
    assert_eq!(charts, 2 + 3 + 1 + 1);
    // and one for all results
    assert_eq!(page.matches("<details>").count(), charts + 1);
    assert_eq!(page.matches("<img ").count(), page.matches(" alt=\"").count());
    assert!(page.contains("With 70\u{a0}% of the pixels missing, LKDL still recognises 70\u{a0}%"));
    assert!(page.contains("lkdl demo --title LKDL") && page.contains("b508"));
    assert!(page.contains("LKDL ✓") && page.contains("other ✗"));
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is used twice");
}

#[test]
fn hostile_names_are_escaped_everywhere() {
    let name = "</style><script>alert(\"x\")</script>&amp;'";
    let report = report(name);
    let page = report.to_html().unwrap();
    assert_well_formed(&page);
    assert!(!page.contains("<script"));
    for (file, svg) in report.svgs().unwrap() {
        assert!(file.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{file}");
        assert_well_formed(&svg);
        assert!(!svg.contains("<script"));
    }
}

#[test]
fn a_demonstration_without_extras_is_a_page_too() {
    let mut small = report("LKDL");
    small.results.truncate(2);
    small.sparsity.clear();
    small.samples.clear();
    small.residuals.clear();
    small.atoms.clear();
    small.times.clear();
    let page = small.to_html().unwrap();
    assert_well_formed(&page);
    assert_eq!(page.matches("role=\"img\"").count(), 1);
    small.results.clear();
    assert_well_formed(&small.to_html().unwrap());
}

#[test]
fn plots_are_files_of_their_own() {
    let svgs = report("LKDL").svgs().unwrap();
    let names: Vec<&str> = svgs.iter().map(|(name, _)| name.as_str()).collect();
    let expected = "accuracy-noise accuracy-missing sparsity-1 sparsity-2 sparsity-3 residuals-1-1 \
                    times atoms-1";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn pictures_of_another_shape_are_refused() {
    let mut wrong = report("LKDL");
    wrong.samples[0].samples[0].values.pop();
    assert!(matches!(wrong.to_html(), Err(ReportError::Pixels { expected: 4, got: 3, .. })));
}
