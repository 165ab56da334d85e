//! The engine's drift monitor. It never changes; what it is after more samples is another one.

use crate::array::numbers;
use crate::error::Failure;
use lkdl::map::{DriftMonitor, USUAL_WINDOW};
use pyo3::prelude::*;

/// How much of recent samples the landmarks miss, against what they missed of the first.
#[pyclass(frozen, module = "lkdl._core")]
pub struct Drift {
    monitor: DriftMonitor,
}

#[pymethods]
impl Drift {
    /// From what the landmarks miss of the first samples, and their κ(x, x).
    #[staticmethod]
    fn of(missed: &Bound<'_, PyAny>, whole: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (missed, whole) = (numbers(missed, "missed")?, numbers(whole, "whole")?);
        let monitor = DriftMonitor::new(&missed, &whole, USUAL_WINDOW).map_err(Failure::Engine)?;
        Ok(Self { monitor })
    }

    /// The same after these samples.
    fn after(&self, missed: &Bound<'_, PyAny>, whole: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (missed, whole) = (numbers(missed, "missed")?, numbers(whole, "whole")?);
        let mut monitor = self.monitor.clone();
        monitor.observe(&missed, &whole).map_err(Failure::Engine)?;
        Ok(Self { monitor })
    }

    /// What is missed of recent samples, as a multiple of what was missed of the first.
    #[getter]
    fn level(&self) -> f64 {
        self.monitor.level()
    }

    /// Everything it remembers.
    fn numbers(&self) -> [f64; 3] {
        self.monitor.to_numbers()
    }

    /// The monitor that had these numbers.
    #[staticmethod]
    fn from_numbers(numbers: [f64; 3]) -> PyResult<Self> {
        let impossible = || Failure::argument("these are no numbers of a drift monitor");
        let monitor = DriftMonitor::from_numbers(numbers, USUAL_WINDOW).ok_or_else(impossible)?;
        Ok(Self { monitor })
    }
}
