//! An object of Python that work speaks to while it runs, on the thread that made the call.

use crate::job::Watch;
use lkdl::LkdlError;
use pyo3::prelude::*;
use std::sync::Arc;

/// An object of the caller, and what its code raised.
pub struct Caller<'a> {
    object: Arc<Py<PyAny>>,
    watch: &'a Watch,
    raised: Option<PyErr>,
}

impl<'a> Caller<'a> {
    /// The object, and the watch of the work that asks it.
    pub fn new(object: Py<PyAny>, watch: &'a Watch) -> Self {
        Self { object: Arc::new(object), watch, raised: None }
    }

    /// The answer of the object; one that raises ends the work.
    pub fn ask<A: Send + 'static>(
        &mut self,
        question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<A> + Send + 'static,
    ) -> Result<A, LkdlError> {
        let object = self.object.clone();
        match self.watch.ask(move |py| question(object.bind(py))) {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => {
                self.raised = Some(error);
                Err(LkdlError::Cancelled)
            }
            None => Err(LkdlError::Cancelled),
        }
    }

    /// What its code raised, if that is why the work ended.
    pub fn raised(self) -> Option<PyErr> {
        self.raised
    }
}
