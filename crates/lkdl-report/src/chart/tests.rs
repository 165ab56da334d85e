//! Charts of ordinary and awkward numbers, and the contrast of their colours.

use super::*;
use crate::testing::{assert_well_formed, contrast};

fn series(name: &str, points: &[(f64, f64, f64)]) -> Series {
    let points = points.iter().map(|&(x, y, spread)| Point { x, y, spread }).collect();
    Series { name: name.into(), points }
}

fn lines(series: Vec<Series>) -> LineChart {
    LineChart {
        id: "lines".into(),
        title: "Accuracy".into(),
        x_label: "level".into(),
        y_label: "accuracy, %".into(),
        y_limits: None,
        series,
        ..Default::default()
    }
}

fn bars(values: &[f64]) -> BarChart {
    let bar = |(t, &value): (usize, &f64)| {
        let ink = if t == 0 { BarInk::Series(0) } else { BarInk::Faint };
        Bar { label: format!("class {t}"), value, ink }
    };
    BarChart {
        id: "bars".into(),
        title: "Residuals".into(),
        label_head: "class".into(),
        value_label: "residual".into(),
        decimals: 2,
        bars: values.iter().enumerate().map(bar).collect(),
    }
}

/// Both forms are sound, and no sentinel or impossible number is left in them.
fn assert_sound(chart: &dyn Chart) -> String {
    let (inline, file) = (chart.to_svg().unwrap(), chart.to_svg_file().unwrap());
    for svg in [&inline, &file] {
        assert_well_formed(svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        assert!(!svg.contains("\"#000"), "a sentinel is left: {svg}");
        assert!(svg.contains("role=\"img\"") && svg.contains("<title") && svg.contains("<desc"));
    }
    assert!(!file.contains("var(--") && inline.contains("var(--text)"));
    inline
}

#[test]
fn a_logarithmic_axis_takes_what_is_above_zero() {
    let errors = vec![series("SVD", &[(5.0, 0.0311, 0.0), (50.0, 0.0005, 0.001)])];
    let chart = LineChart { logarithmic: true, decimals: Some(4), ..lines(errors) };
    let svg = assert_sound(&chart);
    assert!(svg.contains("\n0.001\n") && svg.contains("from 0.0311 at 5 to 0.0005 at 50"), "{svg}");
    assert_eq!(chart.table().rows[1][1], "0.0005 ± 0.0010");
    for bad in [0.0, -1.0] {
        let chart = lines(vec![series("a", &[(0.0, bad, 0.0)])]);
        assert!(LineChart { logarithmic: true, ..chart }.to_svg().is_err());
    }
}

#[test]
fn a_line_of_many_points_has_no_markers() {
    let points: Vec<_> = (0..41).map(|t| (f64::from(t), 1.0, 0.0)).collect();
    let markers = |points: &[_]| {
        let svg = lines(vec![series("a", points)]).to_svg().unwrap();
        svg.matches("<polygon").count()
    };
    assert_eq!(markers(&points), 1, "the legend's");
    assert_eq!(markers(&points[..40]), 81);
}

#[test]
fn ten_series_differ() {
    let all = (0..10).map(|t| series(&format!("{t}"), &[(0.0, 1.0, 0.0)])).collect();
    let svg = lines(all).to_svg().unwrap();
    assert!((1..=10).all(|t| svg.contains(&format!("var(--series-{t})"))));
}

#[test]
fn lines_have_error_bars_markers_and_dashes_of_their_own() {
    let two = vec![
        series("LKDL", &[(0.0, 98.6, 0.4), (0.5, 90.0, 1.0)]),
        series("linear", &[(0.0, 98.7, 0.3), (0.5, 83.0, 1.0)]),
    ];
    let chart = lines(two);
    let svg = assert_sound(&chart);
    assert!(svg.contains("var(--series-1)") && svg.contains("var(--series-2)"));
    assert!(svg.contains("\"var(--series-2)\" stroke-dasharray="));
    assert!(svg.contains("aria-labelledby=\"lines-title lines-text\""));
    let table = chart.table();
    assert_eq!(table.header, ["level", "LKDL", "linear"]);
    assert_eq!(
        table.rows,
        [["0", "98.60 ± 0.40", "98.70 ± 0.30"], ["0.5", "90.00 ± 1.00", "83.00 ± 1.00"]]
    );
    assert!(chart.description().contains("LKDL: from 98.6 at 0 to 90.0 at 0.5."));
}

#[test]
fn awkward_numbers_are_drawn() {
    for points in [
        &[(0.0, 50.0, 0.0)][..],
        &[(0.0, 50.0, 0.0), (1.0, 50.0, 0.0)],
        &[(2.0, 0.0, 0.0), (2.0, 0.0, 0.0)],
        &[(0.0, 1e99, 1e98), (1e99, -1e99, 0.0)],
        &[(0.0, 1e-300, 0.0)],
        &[(1.0, 3.0, 0.5), (0.0, -7.0, 20.0)],
    ] {
        assert_sound(&lines(vec![series("one", points)]));
    }
    let many = (0..40).map(|t| (f64::from(t), f64::from(t).sqrt(), 0.1)).collect::<Vec<_>>();
    let crowd = (0..9).map(|t| series(&format!("series number {t}"), &many)).collect();
    assert_sound(&lines(crowd));
    for values in [&[0.0][..], &[0.0, 0.0], &[1e-12, 5.0], &[1e99], &[7.0, 7.0, 7.0]] {
        assert_sound(&bars(values));
    }
}

#[test]
fn impossible_numbers_are_named() {
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e200] {
        assert!(lines(vec![series("a", &[(0.0, bad, 0.0)])]).to_svg().is_err());
        assert!(lines(vec![series("a", &[(bad, 0.0, 0.0)])]).to_svg().is_err());
        assert!(lines(vec![series("a", &[(0.0, 0.0, bad)])]).to_svg().is_err());
        assert!(bars(&[1.0, bad]).to_svg().is_err());
        let chart = lines(vec![series("a", &[(0.0, 0.0, 0.0)])]);
        assert!(LineChart { y_limits: Some((0.0, bad)), ..chart }.to_svg().is_err());
    }
    let error = bars(&[1.0, -2.0]).to_svg().unwrap_err();
    let text = "chart \"Residuals\" holds -2, but every value must be between 0 and 1e100";
    assert_eq!(error.to_string(), text);
    let error = lines(vec![]).to_svg_file().unwrap_err();
    assert_eq!(error.to_string(), "chart \"Accuracy\" has no series, but needs at least one");
    assert!(lines(vec![series("a", &[])]).to_svg().is_err());
    assert!(bars(&[]).to_svg().is_err());
}

#[test]
fn hostile_names_are_escaped_and_cut() {
    let name = "<script>alert(\"1\")</script> & 'more' \u{0}\u{1b} fill=\"#000001\"";
    let mut chart = lines(vec![series(name, &[(0.0, 1.0, 0.1)])]);
    (chart.title, chart.x_label, chart.y_label) = (name.into(), name.into(), name.into());
    chart.id = "a\" onload=\"x".into();
    let svg = assert_sound(&chart);
    assert!(!svg.contains("<script") && !svg.contains(" onload") && !svg.contains('\u{0}'));
    let mut chart = bars(&[1.0]);
    chart.bars[0].label = name.repeat(50);
    let svg = assert_sound(&chart);
    assert!(!svg.contains("<script") && svg.contains('…'));
}

#[test]
fn colours_have_contrast_on_their_paper() {
    for palette in [ink::LIGHT, ink::DARK] {
        for paper in [palette.paper, palette.panel] {
            for text in [palette.text, palette.muted, palette.series[0]] {
                assert!(contrast(text, paper) >= 4.5, "{text} on {paper}");
            }
            for line in palette.series.iter().chain([&palette.faint]) {
                let ratio = contrast(line, paper);
                assert!(ratio >= if paper == palette.paper { 3.0 } else { 2.8 }, "{line}: {ratio}");
            }
        }
    }
    assert_eq!(contrast("#000000", "#ffffff"), 21.0);
}
