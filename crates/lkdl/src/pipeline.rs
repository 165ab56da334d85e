//! LKDL as the paper draws it: prepare the samples, map them to virtual samples, hand those to any
//! linear method.
//!
//! The method is any [`Train`]; it never learns that its samples are virtual. With
//! [`MapParams::None`] the same pipeline runs it linearly.

use crate::classify::{Classify, Predictions, Train, class_members};
use crate::error::{LkdlError, Warning};
use crate::kernel::Kernel;
use crate::map::fastfood::{FastfoodMap, FastfoodParams};
use crate::map::fourier::{FourierMap, FourierParams};
use crate::map::nystroem::{NystroemMap, NystroemParams};
use crate::map::plan::{cut_landmarks, nystroem_stages};
use crate::matrix::{check_samples, check_size, matrix_bytes};
use crate::memory::{MemoryPlan, StageMemory};
use crate::monitor::{Monitor, Silent};
use crate::prepare::{Preparation, PrepareParams};
use crate::real::Real;
use faer::{Mat, MatMut, MatRef};

/// Samples mapped and classified at a time, so that predicting needs memory for these only.
const PREDICT_BATCH: usize = 8192;

/// Which map makes virtual samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MapParams {
    /// None: the method runs on the prepared samples.
    None,
    /// Nyström on any kernel.
    Nystroem(NystroemParams),
    /// Random Fourier features of the Gaussian kernel.
    Fourier(FourierParams),
    /// Fastfood features of the Gaussian kernel.
    Fastfood(FastfoodParams),
}

/// A fitted map of any kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FeatureMap<T: Real> {
    /// Virtual samples are the samples.
    Identity,
    /// Nyström.
    Nystroem(Box<NystroemMap<T>>),
    /// Random Fourier features.
    Fourier(FourierMap<T>),
    /// Fastfood features.
    Fastfood(FastfoodMap<T>),
}

impl MapParams {
    /// Fits the map.
    pub fn fit<T: Real>(&self, samples: MatRef<'_, T>) -> Result<FeatureMap<T>, LkdlError> {
        Ok(match self {
            Self::None => FeatureMap::Identity,
            Self::Nystroem(params) => FeatureMap::Nystroem(Box::new(params.fit(samples)?)),
            Self::Fourier(params) => FeatureMap::Fourier(params.fit(samples.nrows())?),
            Self::Fastfood(params) => FeatureMap::Fastfood(params.fit(samples.nrows())?),
        })
    }

    /// Kernel values are no features: centring or scaling them would make another matrix.
    pub(crate) fn check_preparation(&self, prepare: &PrepareParams) -> Result<(), LkdlError> {
        let precomputed = matches!(self, Self::Nystroem(map) if map.kernel == Kernel::Precomputed);
        if precomputed && *prepare != PrepareParams::default() {
            return Err(LkdlError::Unsupported {
                what: "preparation",
                problem: "would change the values of a precomputed kernel",
                fix: "prepare the samples before computing the kernel, and choose no preparation",
            });
        }
        Ok(())
    }
}

impl<T: Real> FeatureMap<T> {
    /// Virtual samples, one per column.
    pub fn transform(&self, samples: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        match self {
            Self::Identity => {
                check_samples(samples, "samples")?;
                Ok(samples.to_owned())
            }
            Self::Nystroem(map) => map.transform(samples),
            Self::Fourier(map) => map.transform(samples),
            Self::Fastfood(map) => map.transform(samples),
        }
    }

    /// [`FeatureMap::transform`] into memory of the caller.
    pub fn transform_into(
        &self,
        samples: MatRef<'_, T>,
        mut F: MatMut<'_, T>,
    ) -> Result<(), LkdlError> {
        if let Self::Nystroem(map) = self {
            return map.transform_into(samples, F);
        }
        let mapped = self.transform(samples)?;
        check_size("virtual samples' rank", F.nrows(), mapped.nrows())?;
        check_size("virtual samples' count", F.ncols(), mapped.ncols())?;
        F.copy_from(mapped);
        Ok(())
    }

    /// Dimension of the virtual samples of samples of so many features.
    pub fn rank(&self, n_features: usize) -> usize {
        match self {
            Self::Identity => n_features,
            Self::Nystroem(map) => map.rank(),
            Self::Fourier(map) => map.rank(),
            Self::Fastfood(map) => map.rank(),
        }
    }

    /// [`FeatureMap::transform`] of samples that are not needed any more.
    pub(crate) fn consume(&self, samples: Mat<T>) -> Result<Mat<T>, LkdlError> {
        match self {
            Self::Identity => Ok(samples),
            map => map.transform(samples.as_ref()),
        }
    }
}

/// The whole method: preparation, map, and the linear method `M` that is kernelized.
///
/// ```
/// use lkdl::prelude::*;
///
/// // Two rings: no linear dictionary tells them apart, a degree-2 kernel does.
/// let samples = faer::Mat::from_fn(2, 200, |row, i| {
///     let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
///     radius * if row == 0 { angle.cos() } else { angle.sin() }
/// });
/// let labels: Vec<usize> = (0..200).map(|i| i % 2).collect();
/// let params = LkdlParams {
///     prepare: PrepareParams::default(),
///     map: MapParams::Nystroem(NystroemParams {
///         kernel: Kernel::Polynomial { degree: 2.0, offset: 1.0 },
///         n_landmarks: LandmarkCount::Exact(20),
///         rank: Rank::Exact(6),
///         ..Default::default()
///     }),
///     method: ClassDictionariesParams {
///         learner: KsvdParams { n_atoms: 8, sparsity: 3, ..Default::default() },
///         sparsity: 3,
///     },
///     memory: None,
/// };
/// let model = params.fit(samples.as_ref(), &labels)?;
/// let accuracy = model.predict(samples.as_ref())?.accuracy(&labels)?;
/// assert!(accuracy > 0.95, "{accuracy}");
///
/// let linear = LkdlParams { map: MapParams::None, ..params };
/// let model = linear.fit(samples.as_ref(), &labels)?;
/// let accuracy = model.predict(samples.as_ref())?.accuracy(&labels)?;
/// assert!(accuracy < 0.65, "{accuracy}");
/// # Ok::<(), LkdlError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LkdlParams<M> {
    /// What is done to every sample first.
    pub prepare: PrepareParams,
    /// The map to virtual samples.
    pub map: MapParams,
    /// The linear method.
    pub method: M,
    /// Bytes the fit may use beside the caller's samples; `None` for no limit.
    pub memory: Option<u64>,
}

/// A fitted pipeline.
#[derive(Debug, Clone)]
pub struct Lkdl<T: Real, C> {
    preparation: Preparation<T>,
    map: FeatureMap<T>,
    classifier: C,
    warnings: Vec<Warning>,
}

impl<M> LkdlParams<M> {
    /// Fits preparation and map, and trains the method on the virtual samples.
    pub fn fit<T: Real>(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
    ) -> Result<Lkdl<T, M::Model>, LkdlError>
    where
        M: Train<T>,
    {
        self.fit_monitored(samples, labels, &Silent)
    }

    /// [`LkdlParams::fit`] under watch: stages and steps are reported, and a request to stop is
    /// answered with [`LkdlError::Cancelled`].
    pub fn fit_monitored<T: Real>(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Lkdl<T, M::Model>, LkdlError>
    where
        M: Train<T>,
    {
        check_samples(samples, "samples")?;
        self.map.check_preparation(&self.prepare)?;
        let members = class_members(labels, samples.ncols())?;
        let class_sizes: Vec<usize> = members.iter().map(Vec::len).collect();
        let map_params = self.map_within_budget::<T>(samples.nrows(), &class_sizes)?;
        if let Some(budget) = self.memory {
            let threads = rayon::current_num_threads();
            self.plan_with::<T>(&map_params, samples.nrows(), &class_sizes, threads)?
                .check(budget)?;
        }
        monitor.begin("prepare", 0);
        let preparation = self.prepare.fit(samples)?;
        let prepared = preparation.apply(samples)?;
        let mut warnings: Vec<Warning> = prepared.warning().into_iter().collect();
        monitor.check()?;
        monitor.begin("landmarks", 0);
        let mut map = map_params.fit(prepared.samples.as_ref())?;
        monitor.check()?;
        monitor.begin("map", 0);
        // `consume` frees the prepared samples before training starts.
        let virtual_samples = map.consume(prepared.samples)?;
        if let FeatureMap::Nystroem(map) = &mut map {
            map.forget_budget();
            warnings.extend(map.warnings().iter().cloned());
        }
        monitor.check()?;
        let classifier = self.method.train_monitored(virtual_samples.as_ref(), labels, monitor)?;
        Ok(Lkdl { preparation, map, classifier, warnings })
    }
}

impl<M> LkdlParams<M> {
    /// What [`LkdlParams::fit`] will need on classes of these sizes, stage by stage, beside the
    /// caller's samples. With an automatic landmark count this is the most it can come to.
    pub fn memory_plan<T: Real>(
        &self,
        n_features: usize,
        class_sizes: &[usize],
    ) -> Result<MemoryPlan, LkdlError>
    where
        M: Train<T>,
    {
        let map = self.map_within_budget::<T>(n_features, class_sizes)?;
        self.plan_with::<T>(&map, n_features, class_sizes, rayon::current_num_threads())
    }

    fn plan_with<T: Real>(
        &self,
        map: &MapParams,
        n_features: usize,
        class_sizes: &[usize],
        threads: usize,
    ) -> Result<MemoryPlan, LkdlError>
    where
        M: Train<T>,
    {
        let n_samples = class_sizes.iter().sum();
        let prepared = matrix_bytes::<T>(n_features, n_samples);
        let mut stages = vec![StageMemory { stage: "prepare", bytes: prepared }];
        let k = match map {
            MapParams::None => n_features,
            MapParams::Nystroem(params) => {
                let (more, k) =
                    nystroem_stages::<T>(params, n_features, n_samples, prepared, threads)?;
                stages.extend(more);
                k
            }
            MapParams::Fourier(FourierParams { rank, .. })
            | MapParams::Fastfood(FastfoodParams { rank, .. }) => {
                let F = matrix_bytes::<T>(*rank, n_samples);
                stages.push(StageMemory { stage: "map", bytes: prepared + F });
                *rank
            }
        };
        let F = matrix_bytes::<T>(k, n_samples);
        let bytes = F + self.method.training_bytes(k, class_sizes, threads);
        stages.push(StageMemory { stage: "learn", bytes });
        Ok(MemoryPlan { stages })
    }

    /// The map's parameters, adapted to the budget where they leave room for it.
    fn map_within_budget<T: Real>(
        &self,
        n_features: usize,
        class_sizes: &[usize],
    ) -> Result<MapParams, LkdlError>
    where
        M: Train<T>,
    {
        let (MapParams::Nystroem(params), Some(budget)) = (&self.map, self.memory) else {
            return Ok(self.map.clone());
        };
        let n_samples = class_sizes.iter().sum();
        let left = budget.saturating_sub(matrix_bytes::<T>(n_features, n_samples));
        let memory = Some(params.memory.unwrap_or(left).min(left));
        let within = NystroemParams { memory, ..params.clone() };
        let fits = |params: &NystroemParams| {
            let map = MapParams::Nystroem(params.clone());
            // for one thread, so that the model does not depend on how many there are
            Ok(self.plan_with::<T>(&map, n_features, class_sizes, 1)?.check(budget).is_ok())
        };
        Ok(MapParams::Nystroem(cut_landmarks(&within, n_samples, fits)?))
    }
}

impl<T: Real, C: Classify<T>> Lkdl<T, C> {
    /// A fitted pipeline from its parts.
    pub fn from_parts(preparation: Preparation<T>, map: FeatureMap<T>, classifier: C) -> Self {
        Self { preparation, map, classifier, warnings: Vec::new() }
    }

    /// The same, with what its fit wants known.
    pub(crate) fn with_warnings(self, warnings: Vec<Warning>) -> Self {
        Self { warnings, ..self }
    }

    /// Labels every column of `samples`, in batches of bounded memory.
    pub fn predict(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        let batches: Vec<Predictions> = (0..samples.ncols())
            .step_by(PREDICT_BATCH)
            .map(|start| {
                let count = PREDICT_BATCH.min(samples.ncols() - start);
                let F = self.transform(samples.subcols(start, count));
                let F = F.map_err(|error| error.counted_from(start))?;
                self.classifier.classify(F.as_ref())
            })
            .collect::<Result<_, _>>()?;
        Predictions::join(batches)
    }

    /// Virtual samples of any samples.
    pub fn transform(&self, samples: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        let prepared = self.preparation.apply(samples)?;
        self.map.consume(prepared.samples)
    }

    /// What is done to every sample first.
    pub fn preparation(&self) -> &Preparation<T> {
        &self.preparation
    }

    /// The fitted map.
    pub fn map(&self) -> &FeatureMap<T> {
        &self.map
    }

    /// The trained linear method.
    pub fn classifier(&self) -> &C {
        &self.classifier
    }

    /// The same pipeline with its classifier as another type, such as one of several that a file
    /// can hold.
    pub fn map_classifier<D>(self, convert: impl FnOnce(C) -> D) -> Lkdl<T, D> {
        let Self { preparation, map, classifier, warnings } = self;
        Lkdl { preparation, map, classifier: convert(classifier), warnings }
    }

    /// What preparation and map want known; the classifier has its own.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}
