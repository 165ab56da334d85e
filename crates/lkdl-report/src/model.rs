//! The page of `lkdl inspect --html`: what is in a model.

use crate::chart::{Bar, BarChart, BarInk, LineChart, Point, Series};
use crate::error::ReportError;
use crate::image::{Mosaic, Scaling, Shape, pictures};
use crate::page;
use maud::{Markup, html};

/// Atoms per row of a mosaic.
const ATOMS_PER_ROW: usize = 30;
const ATOM_GAP: usize = 1;

/// The dictionary of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSummary {
    /// The class' label.
    pub name: String,
    /// Number of atoms.
    pub n_atoms: usize,
    /// Relative error after each iteration; may be empty.
    pub errors: Vec<f64>,
    /// Atoms in pixels, if they can be drawn; may be empty.
    pub atoms: Vec<Vec<f64>>,
}

/// All that is shown of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReport {
    /// The page's heading.
    pub title: String,
    /// Facts by name: method, kernel, preparation, seed, version …
    pub facts: Vec<(String, String)>,
    /// The classes in their order.
    pub classes: Vec<ClassSummary>,
    /// The shape of atoms; `None` if they are no pictures.
    pub shape: Option<Shape>,
    /// What the pictures of atoms are, in a sentence.
    pub atoms_note: String,
}

impl ModelReport {
    /// The page: one HTML file that needs nothing else.
    pub fn to_html(&self) -> Result<String, ReportError> {
        let counted = |count: usize, one: &str, many: &str| {
            format!("{count} {}", if count == 1 { one } else { many })
        };
        let classes = counted(self.classes.len(), "class", "classes");
        let summary = format!("{classes}, {}", counted(self.n_atoms(), "atom", "atoms"));
        let body = html! {
            header { h1 { (self.title) } p.lead { (summary) } }
            main {
                section { h2 { "What it is" } (page::facts(&self.facts)) }
                (self.history()?)
                (self.sizes()?)
                (self.atoms()?)
            }
        };
        Ok(page::document(&self.title, &summary, &body))
    }

    fn n_atoms(&self) -> usize {
        self.classes.iter().map(|class| class.n_atoms).sum()
    }

    /// Errors over the iterations: the mean of the classes and its extremes.
    fn history(&self) -> Result<Markup, ReportError> {
        let longest = self.classes.iter().map(|class| class.errors.len()).max().unwrap_or(0);
        if longest == 0 {
            return Ok(html! {});
        }
        let at = |t: usize| {
            let errors = self.classes.iter().filter_map(move |class| {
                // a class that stopped earlier keeps its last error
                class.errors.get(t).or(class.errors.last()).copied()
            });
            errors.collect::<Vec<f64>>()
        };
        let series = |name: &str, reduce: &dyn Fn(&[f64]) -> f64| {
            let point = |t| Point { x: (t + 1) as f64, y: 100.0 * reduce(&at(t)), spread: 0.0 };
            Series { name: name.into(), points: (0..longest).map(point).collect() }
        };
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        let worst = |errors: &[f64]| errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let best = |errors: &[f64]| errors.iter().copied().fold(f64::INFINITY, f64::min);
        let series = match self.classes.len() {
            1 => vec![series("error", &mean)],
            _ => vec![
                series("mean of classes", &mean),
                series("worst", &worst),
                series("best", &best),
            ],
        };
        let chart = LineChart {
            id: "history".into(),
            title: "Error while learning".into(),
            x_label: "iteration".into(),
            y_label: "relative error, %".into(),
            y_limits: None,
            series,
            ..Default::default()
        };
        let caption = "‖X − DΓ‖ relative to ‖X‖ on the training samples of each class.";
        Ok(html! { section { h2 { "Learning" } (page::figure(&chart, caption)?) } })
    }

    fn sizes(&self) -> Result<Markup, ReportError> {
        if self.classes.is_empty() {
            return Ok(html! {});
        }
        let bar = |class: &ClassSummary| Bar {
            label: class.name.clone(),
            value: class.n_atoms as f64,
            ink: BarInk::Series(0),
        };
        let chart = BarChart {
            id: "sizes".into(),
            title: "Atoms per class".into(),
            label_head: "class".into(),
            value_label: "atoms".into(),
            decimals: 0,
            bars: self.classes.iter().map(bar).collect(),
        };
        Ok(html! { section { h2 { "Classes" } (page::figure(&chart, "")?) } })
    }

    fn atoms(&self) -> Result<Markup, ReportError> {
        let Some(shape) = self.shape else { return Ok(html! {}) };
        let mut rows = Vec::new();
        for class in self.classes.iter().filter(|class| !class.atoms.is_empty()) {
            let tiles = pictures(&class.atoms, shape, Scaling::Symmetric)?;
            let mosaic = Mosaic { columns: ATOMS_PER_ROW, gap: ATOM_GAP, zoom: 1 };
            let text = format!("{} atoms of class {}", tiles.len(), class.name);
            rows.push((&class.name, page::picture(&mosaic.join(&tiles)?, &text, "")?));
        }
        if rows.is_empty() {
            return Ok(html! {});
        }
        Ok(html! {
            section {
                h2 { "Atoms" }
                @if !self.atoms_note.is_empty() { p { (self.atoms_note) } }
                ul.atoms { @for (class, row) in &rows { li { span { (class) } (row) } } }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_well_formed;

    fn class(name: &str, errors: &[f64]) -> ClassSummary {
        let atoms = vec![vec![0.1, -0.2, 0.3, 0.4], vec![0.0; 4]];
        ClassSummary { name: name.into(), n_atoms: 2, errors: errors.to_vec(), atoms }
    }

    fn report(classes: Vec<ClassSummary>) -> ModelReport {
        ModelReport {
            title: "m.safetensors".into(),
            facts: vec![("kernel".into(), "polynomial".into())],
            classes,
            shape: Shape::square(4),
            atoms_note: String::new(),
        }
    }

    #[test]
    fn a_model_has_facts_history_sizes_and_atoms() {
        let page =
            report(vec![class("a", &[0.3, 0.2, 0.1]), class("b", &[0.5])]).to_html().unwrap();
        assert_well_formed(&page);
        assert_eq!(page.matches("role=\"img\"").count(), 2);
        assert_eq!(page.matches("<details>").count(), 2);
        assert_eq!(page.matches("<img ").count(), 2);
        assert!(page.contains("2 classes, 4 atoms") && page.contains("polynomial"));
        // class b keeps its last error: the mean after three iterations is .3
        assert!(page.contains("30.00"));
    }

    #[test]
    fn what_a_model_lacks_is_left_out() {
        let mut bare = report(vec![ClassSummary { atoms: vec![], ..class("only", &[]) }]);
        let page = bare.to_html().unwrap();
        assert_well_formed(&page);
        assert!(!page.contains("<img ") && !page.contains("Learning"));
        bare.classes.clear();
        bare.shape = None;
        assert_well_formed(&bare.to_html().unwrap());
    }

    #[test]
    fn hostile_labels_are_escaped() {
        let name = "\"><img src=x onerror=alert(1)>";
        let page = report(vec![class(name, &[0.1])]).to_html().unwrap();
        assert_well_formed(&page);
        assert!(!page.contains("<img src=x"));
        let wrong = ClassSummary { atoms: vec![vec![0.0; 3]], ..class("a", &[]) };
        assert!(report(vec![wrong]).to_html().is_err());
    }
}
