//! The drift of a stream of samples against the landmarks of a map. A monitor never changes; what it
//! is after more samples is another one, so that a block that is refused leaves it as it was.

use crate::error::Failure;
use crate::sums::numbers;
use lkdl::map::DriftMonitor;
use pyo3::prelude::*;

/// Samples that the running share reaches back.
const WINDOW: usize = 1000;

/// What the landmarks miss of recent samples, against what they missed of the first.
#[pyclass(frozen, module = "lkdl._core")]
pub struct Drift {
    monitor: DriftMonitor,
}

#[pymethods]
impl Drift {
    /// From what the map misses of the first samples, and κ(x, x) of them.
    #[staticmethod]
    fn of(missed: &Bound<'_, PyAny>, whole: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (missed, whole) = (numbers(missed, "missed")?, numbers(whole, "whole")?);
        let monitor = DriftMonitor::new(&missed, &whole, WINDOW).map_err(Failure::Engine)?;
        Ok(Self { monitor })
    }

    /// The same after these samples.
    fn after(&self, missed: &Bound<'_, PyAny>, whole: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (missed, whole) = (numbers(missed, "missed")?, numbers(whole, "whole")?);
        let mut monitor = self.monitor.clone();
        monitor.observe(&missed, &whole).map_err(Failure::Engine)?;
        Ok(Self { monitor })
    }

    /// The running share as a multiple of the first.
    #[getter]
    fn level(&self) -> f64 {
        self.monitor.level()
    }

    /// All that it remembers.
    fn state(&self) -> [f64; 5] {
        self.monitor.state()
    }

    /// The monitor that remembered this.
    #[staticmethod]
    fn from_state(state: [f64; 5]) -> PyResult<Self> {
        Ok(Self { monitor: DriftMonitor::from_state(state).map_err(Failure::Engine)? })
    }
}
