//! Work outside the interpreter's lock: in a pool of threads of its own, watched for Ctrl-C and for
//! progress, and never able to end the interpreter.
//!
//! Pools belong to a process. A child that was forked has none of its parent's threads and would wait
//! for them for ever, so it builds pools of its own. Results do not depend on how many threads a pool
//! has.

use crate::error::Failure;
use lkdl::monitor::Monitor;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often Ctrl-C is looked for.
const TICK: Duration = Duration::from_millis(50);
/// How long work that was asked to stop may take to do so, before it is left behind.
const GRACE: Duration = Duration::from_millis(500);
/// How long work that waits for an answer leaves other work of its pool waiting.
const TURN: Duration = Duration::from_millis(1);
/// Threads at most: more than any machine has cores, and few enough to start.
const MAX_THREADS: usize = 1024;

/// The pools of one process, by their number of threads.
struct Pools {
    process: u32,
    by_threads: Option<HashMap<usize, Arc<ThreadPool>>>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, by_threads: None });

/// The pool of so many threads, 0 for all cores. Called with the interpreter's lock held, so that no
/// other thread can fork while the table is locked.
fn pool(_: Python<'_>, threads: usize) -> Result<Arc<ThreadPool>, Failure> {
    if threads > MAX_THREADS {
        let message = format!("n_jobs is {threads}, but must be at most {MAX_THREADS}");
        return Err(Failure::argument(message));
    }
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.process != process {
        // of the parent: their threads do not exist here, and to end them would wait for them
        std::mem::forget(pools.by_threads.take());
        pools.process = process;
    }
    let known = pools.by_threads.get_or_insert_default();
    if let Some(pool) = known.get(&threads) {
        return Ok(pool.clone());
    }
    let name = |i| format!("lkdl-{i}");
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
    let pool = pool.map(Arc::new).map_err(|error| {
        Failure::argument(format!("cannot start {threads} threads: {error}; set n_jobs lower"))
    })?;
    known.insert(threads, pool.clone());
    Ok(pool)
}

/// Leaves a pool to the work that does not stop; the next call builds another. Its threads end with
/// that work.
fn leave_pool(_: Python<'_>, threads: usize) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &mut pools.by_threads {
        known.remove(&threads);
    }
}

/// Something to be asked of Python code that belongs to the caller's thread.
type Question = Box<dyn FnOnce(Python<'_>) + Send>;

/// What work says while it runs.
enum Message<R> {
    Progress(Progress),
    Ask(Question),
    Done(Result<R, Failure>),
}

/// How far a fit is.
struct Progress {
    stage: &'static str,
    done: usize,
    steps: usize,
    /// Class and relative error of an iteration.
    iteration: Option<(usize, f64)>,
}

/// Watches a fit from the side of the work.
pub struct Watch {
    cancelled: AtomicBool,
    stage: Mutex<(&'static str, usize, usize)>,
    report: Option<Box<dyn Fn(Progress) + Send + Sync>>,
    ask: Box<dyn Fn(Question) + Send + Sync>,
}

impl Watch {
    fn progress(&self, steps: usize, iteration: Option<(usize, f64)>) {
        let (stage, done, steps) = {
            let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
            stage.1 += steps;
            *stage
        };
        if let Some(report) = &self.report {
            report(Progress { stage, done, steps, iteration });
        }
    }

    /// The answer of the thread that made the call: the user's iterators, and what they read from,
    /// may be of no use in another. `None` if that thread waits no more.
    pub fn ask<A: Send + 'static>(
        &self,
        question: impl FnOnce(Python<'_>) -> A + Send + 'static,
    ) -> Option<A> {
        let (sender, receiver) = channel();
        (self.ask)(Box::new(move |py| {
            let _ = sender.send(question(py)); // the work waits for it
        }));
        loop {
            match receiver.recv_timeout(TURN) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return None,
                // what was asked may call lkdl, and this may be the only thread of the pool
                Err(RecvTimeoutError::Timeout) => {
                    rayon::yield_now();
                }
            }
        }
    }
}

impl Monitor for Watch {
    fn begin(&self, stage: &'static str, steps: usize) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = (stage, 0, steps);
        self.progress(0, None);
    }

    fn advance(&self, steps: usize) {
        self.progress(steps, None);
    }

    fn iterated(&self, class: usize, error: f64) {
        self.progress(1, Some((class, error)));
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// How a call shall run.
pub struct Call<'py> {
    /// The interpreter.
    pub py: Python<'py>,
    /// Threads; 0 for all cores.
    pub threads: usize,
    /// Told of progress: `progress(stage, done, steps, class, error)`.
    pub progress: Option<Bound<'py, PyAny>>,
}

impl<'py> Call<'py> {
    /// A call that reports nothing.
    pub fn silent(py: Python<'py>, threads: usize) -> Self {
        Self { py, threads, progress: None }
    }

    /// Runs the work without the interpreter's lock.
    pub fn run<R: Send + 'static>(
        self,
        work: impl FnOnce(&Watch) -> Result<R, Failure> + Send + 'static,
    ) -> PyResult<R> {
        let (sender, receiver) = channel();
        // A kernel in Python that calls lkdl: this thread is one of a pool, which might wait for
        // itself.
        let is_in_pool = rayon::current_thread_index().is_some();
        let watch = Arc::new(Watch {
            cancelled: AtomicBool::new(false),
            stage: Mutex::new(("", 0, 0)),
            report: self.progress.is_some().then(|| reporter(sender.clone())),
            ask: if is_in_pool { Box::new(ask_here) } else { asker(sender.clone()) },
        });
        if is_in_pool {
            return Ok(self.py.detach(|| work(&watch))?);
        }
        let pool = pool(self.py, self.threads)?;
        let of_work = watch.clone();
        pool.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&of_work)));
            let result = result.unwrap_or_else(|panic| Err(Failure::Panic(said(&*panic))));
            let _ = sender.send(Message::Done(result)); // nobody may be waiting any more
        });
        self.wait(receiver, &watch)
    }

    fn wait<R: Send>(&self, mut messages: Receiver<Message<R>>, watch: &Watch) -> PyResult<R> {
        let py = self.py;
        loop {
            let message;
            (messages, message) = py.detach(move || {
                let message = messages.recv_timeout(TICK);
                (messages, message)
            });
            let said = match message {
                Ok(Message::Done(result)) => return Ok(result?),
                Ok(Message::Progress(progress)) => self.tell(&progress),
                Ok(Message::Ask(question)) => {
                    question(py);
                    py.check_signals()
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Panic("work ended without a result".into()).into());
                }
            };
            if let Err(error) = said {
                watch.cancelled.store(true, Ordering::Relaxed);
                if !py.detach(move || winds_down(&messages)) {
                    leave_pool(py, self.threads);
                }
                return Err(error);
            }
        }
    }

    fn tell(&self, progress: &Progress) -> PyResult<()> {
        let Progress { stage, done, steps, iteration } = progress;
        if let Some(callback) = &self.progress {
            let (class, error) = (iteration.map(|i| i.0), iteration.map(|i| i.1));
            callback.call1((*stage, *done, *steps, class, error))?;
        }
        self.py.check_signals()
    }
}

fn reporter<R: Send + 'static>(sender: Sender<Message<R>>) -> Box<dyn Fn(Progress) + Send + Sync> {
    let sender = Mutex::new(sender);
    Box::new(move |progress| {
        let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(Message::Progress(progress));
    })
}

fn asker<R: Send + 'static>(sender: Sender<Message<R>>) -> Box<dyn Fn(Question) + Send + Sync> {
    let sender = Mutex::new(sender);
    Box::new(move |question| {
        let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(Message::Ask(question)); // who is gone leaves it unanswered
    })
}

/// Asks on the thread that works, which is the one that called.
fn ask_here(question: Question) {
    let _ = Python::try_attach(question); // an interpreter that ends leaves it unanswered
}

/// Gives work that was asked to stop the time to do so; whether it did.
fn winds_down<R>(messages: &Receiver<Message<R>>) -> bool {
    let end = Instant::now() + GRACE;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        match messages.recv_timeout(left) {
            Ok(Message::Progress(_) | Message::Ask(_)) => {}
            Ok(Message::Done(_)) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
    false
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into())
}
