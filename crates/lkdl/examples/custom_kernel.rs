//! A kernel and landmarks of one's own, and what the landmarks miss as a novelty score.
//!
//! The histogram intersection kernel κ(x, y) = Σ min(x_t, y_t) compares images as heaps of ink. The
//! landmarks are digits 0 to 4 only; the residual energy e⊥(x) = κ(x,x) − ‖f‖² then tells the
//! digits that were never seen from those that were.
//!
//! `cargo run --release -p lkdl --example custom_kernel`
#![allow(clippy::print_stdout)] // its output is its purpose

use faer::Mat;
use lkdl::prelude::*;

/// Landmarks per known digit.
const PER_DIGIT: usize = 20;
/// Digits below this one are known.
const KNOWN: u32 = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let digits = lkdl_data::digits()?;
    let (mut landmarks, mut others) = (Vec::new(), Vec::new());
    let mut taken = [0; 10];
    for (i, &digit) in digits.labels.iter().enumerate() {
        let count = &mut taken[digit as usize];
        if digit < KNOWN && *count < PER_DIGIT {
            *count += 1;
            landmarks.push(i);
        } else {
            others.push(i);
        }
    }
    let (known, test) = (digits.subset(&landmarks)?, digits.subset(&others)?);

    // Of two samples at a time; implement `CustomKernel` to evaluate whole blocks.
    let intersection =
        Kernel::custom("intersection", |x, y| x.iter().zip(y).map(|(a, b)| a.min(*b)).sum());
    let params = NystroemParams {
        kernel: Kernel::Normalized(Box::new(intersection)), // κ(x,x) = 1: energies are shares
        rank: Rank::Exact(known.n_samples()),
        ..Default::default()
    };
    let points = Landmarks::from_points(known.samples.as_ref());
    let map = params.fit_landmarks(known.samples.as_ref(), &points)?;
    println!("{}: {} landmarks, rank {}", params.kernel, map.n_landmarks(), map.rank());

    let virtual_samples: Mat<f64> = map.transform(test.samples.as_ref())?;
    let energy = map.residual_energy(test.samples.as_ref(), virtual_samples.as_ref())?;
    println!("digit   missed by the landmarks");
    for digit in 0..10 {
        let own = of(&energy, &test.labels, |label| label == digit);
        let share = 100.0 * own.iter().sum::<f64>() / own.len() as f64;
        println!("{digit:5}   {share:4.1} % {}", if digit < KNOWN { "" } else { " (never seen)" });
    }
    let (seen, novel) =
        (of(&energy, &test.labels, |l| l < KNOWN), of(&energy, &test.labels, |l| l >= KNOWN));
    println!(
        "a never seen digit scores above a known one in {:.1} % of pairs",
        above(&novel, &seen)
    );
    Ok(())
}

/// The energies of the samples whose label is chosen.
fn of(energy: &[f64], labels: &[u32], chosen: impl Fn(u32) -> bool) -> Vec<f64> {
    energy.iter().zip(labels).filter(|(_, label)| chosen(**label)).map(|(e, _)| *e).collect()
}

/// How often, in percent, a value of the first list is above one of the second.
fn above(first: &[f64], second: &[f64]) -> f64 {
    let wins: usize = first.iter().map(|a| second.iter().filter(|b| a > b).count()).sum();
    100.0 * wins as f64 / (first.len() * second.len()) as f64
}
