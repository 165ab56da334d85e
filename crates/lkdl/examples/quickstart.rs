//! Kernel dictionary learning on handwritten digits, from data to decisions.
//!
//! `cargo run --release -p lkdl --example quickstart`
#![allow(clippy::print_stdout)] // its output is its purpose

use lkdl::prelude::*;
use lkdl_data::Dataset;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1,797 images of 8×8 pixels; one sample per column.
    let digits = lkdl_data::digits()?;
    let split = lkdl_data::stratified_split(&digits.labels, 0.5, 0)?;
    let (train, test) = (digits.subset(&split.train)?, digits.subset(&split.test)?);

    let params = LkdlParams {
        prepare: "l2".parse()?, // every image to unit norm
        // degree-2 polynomial kernel, as many landmarks as it needs
        map: MapParams::Nystroem(NystroemParams::default()),
        // one K-SVD dictionary of 30 atoms per digit, 5 of them per image
        method: ClassDictionariesParams {
            learner: KsvdParams { n_atoms: 30, sparsity: 5, ..Default::default() },
            sparsity: 5,
        },
        memory: None,
    };
    let model = params.fit(train.convert::<f32>().as_ref(), &class_indices(&train))?;

    println!("train     {} samples, {} features", train.n_samples(), train.n_features());
    if let FeatureMap::Nystroem(map) = model.map() {
        let prepared = model.preparation().apply(train.convert().as_ref())?.samples;
        let mapped = map.transform(prepared.as_ref())?;
        let missed = 100.0 * map.trace_error(prepared.as_ref(), mapped.as_ref())?;
        let (c, k) = (map.n_landmarks(), map.rank());
        println!("map       {c} landmarks, rank {k}, misses {missed:.1} % of the kernel's trace");
    }
    for (digit, class) in model.classifier().learned().iter().enumerate() {
        let error = 100.0 * class.errors.last().copied().unwrap_or(f64::NAN);
        println!("digit {digit}   relative error {error:4.1} %, stopped: {:?}", class.stop);
    }
    // A warning is an outcome: the fit went on by a documented rule.
    let of_classes = model.classifier().warnings().map(|(digit, w)| format!("digit {digit}: {w}"));
    let warnings: Vec<String> =
        model.warnings().iter().map(ToString::to_string).chain(of_classes).collect();
    let none = if warnings.is_empty() { "none" } else { "" };
    println!("warnings  {none}{}", warnings.join("; "));

    let predictions = model.predict(test.convert::<f32>().as_ref())?;
    let truth = class_indices(&test);
    println!("test      {:.2} % of {}", 100.0 * predictions.accuracy(&truth)?, truth.len());

    // The margin says how clear a decision was: most errors are among the smallest.
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|&a, &b| predictions.margins[a].total_cmp(&predictions.margins[b]));
    let wrong = |i: &&usize| predictions.labels[**i] != truth[**i];
    let (unclear, clear) = order.split_at(order.len() / 10);
    println!("margins   {} errors in the least clear tenth", unclear.iter().filter(wrong).count());
    println!("          {} errors in the other nine", clear.iter().filter(wrong).count());
    for &i in &order[..3] {
        let (said, is, margin) = (predictions.labels[i], truth[i], predictions.margins[i]);
        println!("          decided {said}, is {is}, margin {margin:.4}");
    }
    Ok(())
}

fn class_indices(set: &Dataset) -> Vec<usize> {
    set.labels.iter().map(|&label| label as usize).collect()
}
