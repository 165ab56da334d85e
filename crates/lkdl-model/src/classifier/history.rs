//! How a dictionary came to be, as a file tells it.

use crate::card::ClassHistory;
use crate::element::Element;
use faer::Mat;
use lkdl::Warning;
use lkdl::dictionary::{KernelLearned, Learned, Stop};

pub(super) fn of_learned<T: Element>(learned: &Learned<T>) -> ClassHistory {
    history(&learned.errors, learned.stop, learned.n_replaced, &learned.warnings)
}

pub(super) fn of_kernel_learned<T: Element>(learned: &KernelLearned<T>) -> ClassHistory {
    history(&learned.errors, learned.stop, learned.n_replaced, &learned.warnings)
}

fn history(errors: &[f64], stop: Stop, n_replaced: usize, warnings: &[Warning]) -> ClassHistory {
    let stop = match stop {
        Stop::Converged => "converged",
        Stop::MaxIters => "max-iters",
    };
    ClassHistory {
        errors: errors.to_vec(),
        stop: stop.into(),
        n_replaced,
        warnings: warnings.iter().map(ToString::to_string).collect(),
    }
}

/// A dictionary with the history that a file has of it. Warnings stay text.
pub(super) fn learned<T: Element>(
    dictionary: Mat<T>,
    history: Option<&ClassHistory>,
) -> Learned<T> {
    Learned {
        dictionary,
        errors: errors(history),
        stop: stop(history),
        n_replaced: history.map_or(0, |h| h.n_replaced),
        warnings: Vec::new(),
    }
}

/// [`learned`] of a kernel dictionary.
pub(super) fn kernel_learned<T: Element>(
    atom_weights: Mat<T>,
    history: Option<&ClassHistory>,
) -> KernelLearned<T> {
    KernelLearned {
        atom_weights,
        errors: errors(history),
        stop: stop(history),
        n_replaced: history.map_or(0, |h| h.n_replaced),
        warnings: Vec::new(),
    }
}

fn errors(history: Option<&ClassHistory>) -> Vec<f64> {
    history.map(|h| h.errors.clone()).unwrap_or_default()
}

fn stop(history: Option<&ClassHistory>) -> Stop {
    match history.map(|h| h.stop.as_str()) {
        Some("converged") => Stop::Converged,
        _ => Stop::MaxIters,
    }
}
