//! Classifiers of every method, as the recipe makes them and as model files hold them.

use crate::array::{
    AnySamples, InPrecision, Number, dtype_of, in_precision, indices, labels, rows, vector,
};
use crate::error::Failure;
use crate::job::Call;
use crate::kernel::{custom, function};
use crate::map::nystroem;
use faer::Mat;
use lkdl::classify::ClassDictionaries;
use lkdl::dictionary::{Learned, Stop};
use lkdl::map::NystroemMap;
use lkdl::{FeatureMap, Warning};
use lkdl_model::{
    AnyModel as Saved, Card, ClassHistory, Classifier, DataRecord, Pipeline, SavedModel,
};
use lkdl_recipe::{KernelName, Settings, Wishes};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// A fitted pipeline and what is known of it.
pub struct Fitted<T: Number> {
    pipeline: Pipeline<T>,
    card: Card,
    /// What held-out samples decided.
    choice: Option<String>,
    history: Vec<ClassHistory>,
    warnings: Vec<String>,
}

impl<T: Number> Fitted<T> {
    /// A pipeline that has just been fitted, and what held-out samples decided before.
    pub fn new(pipeline: Pipeline<T>, card: Card, choice: Option<String>) -> Self {
        let of_class = |(class, warning): (usize, &Warning)| {
            format!("class {}: {warning}", card.class_names.get(class).map_or("?", String::as_str))
        };
        let of_fit = pipeline.warnings().iter().map(ToString::to_string);
        let warnings =
            of_fit.chain(pipeline.classifier().warnings().into_iter().map(of_class)).collect();
        let history = pipeline.classifier().history();
        Self { pipeline, card, choice, history, warnings }
    }
}

impl<T: Number> From<SavedModel<T>> for Fitted<T> {
    fn from(saved: SavedModel<T>) -> Self {
        let SavedModel { pipeline, card, history, warnings, .. } = saved;
        Self { pipeline, card, choice: None, history, warnings }
    }
}

/// A model in either precision.
pub enum AnyModel {
    F32(Arc<Fitted<f32>>),
    F64(Arc<Fitted<f64>>),
}

macro_rules! for_model {
    ($any:expr, $model:ident => $result:expr) => {
        match $any {
            AnyModel::F32($model) => $result,
            AnyModel::F64($model) => $result,
        }
    };
}

/// A model in its own precision.
pub trait Wrap<T: Number> {
    /// The model in either.
    fn wrap(model: Fitted<T>) -> Self;
    /// The model, if it is in this one.
    fn get(&self) -> Option<&Arc<Fitted<T>>>;
}

macro_rules! wrap {
    ($type:ty, $variant:ident) => {
        impl Wrap<$type> for AnyModel {
            fn wrap(model: Fitted<$type>) -> Self {
                Self::$variant(Arc::new(model))
            }

            fn get(&self) -> Option<&Arc<Fitted<$type>>> {
                match self {
                    Self::$variant(model) => Some(model),
                    _ => None,
                }
            }
        }
    };
}

wrap!(f32, F32);
wrap!(f64, F64);

/// The model in the precision of the samples.
fn own<T: Number>(model: &AnyModel) -> Result<Arc<Fitted<T>>, Failure>
where
    AnyModel: Wrap<T>,
{
    let other = || Failure::argument(format!("X is of {}, but the model is not", T::NAME));
    model.get().cloned().ok_or_else(other)
}

/// A trained classifier with preparation and map.
#[pyclass(frozen, module = "lkdl._core")]
pub struct Model {
    pub(crate) model: AnyModel,
}

/// κ(x, x) − ‖f‖² and κ(x, x) of every sample.
type Energies<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// What is learned: options as texts, and a kernel that is a function.
pub fn wishes(settings: &Bound<'_, PyDict>, kernel: Option<&Bound<'_, PyAny>>) -> PyResult<Wishes> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(k, v)| Ok((k.extract()?, v.extract()?))).collect::<PyResult<_>>()?;
    let texts = settings.iter().map(|(option, value)| (option.as_str(), value.as_str()));
    let mut wishes = Wishes::from_settings(texts).map_err(Failure::Recipe)?;
    if let Some(function) = kernel {
        wishes.kernel.kernel = Some(KernelName::Custom);
        wishes.kernel.custom = Some(custom(function));
    }
    Ok(wishes)
}

fn fit<T: Number>(
    samples: &crate::array::Samples<T>,
    labels: &[usize],
    wishes: &Wishes,
    class_names: Vec<String>,
    seed: u64,
    watch: &dyn lkdl::monitor::Monitor,
) -> Result<Fitted<T>, Failure> {
    let samples = samples.view();
    watch.begin("choose", 0);
    let recipe = wishes.recipe(samples, labels, seed)?;
    let pipeline = recipe.params.fit_monitored(samples, labels, watch)?;
    let data = DataRecord { n_samples: labels.len(), ..DataRecord::default() };
    let card = Card { class_names, seed, data, settings: recipe.settings };
    Ok(Fitted::new(pipeline, card, recipe.verdict.map(|verdict| verdict.to_string())))
}

#[pymethods]
impl Model {
    /// Learns from the rows of X and their class indices.
    #[staticmethod]
    #[pyo3(signature = (X, labels, class_names, settings, kernel=None, seed=0, threads=0,
        progress=None))]
    #[allow(clippy::too_many_arguments)] // one for each argument of Python
    fn fit<'py>(
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        labels: &Bound<'py, PyAny>,
        class_names: Vec<String>,
        settings: &Bound<'py, PyDict>,
        kernel: Option<&Bound<'py, PyAny>>,
        seed: u64,
        threads: usize,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let (wishes, labels) = (wishes(settings, kernel)?, self::labels(labels)?);
        in_precision!(AnySamples::of(X, "X")?, X => {
            let model = Call { py, threads, progress }.run(move |watch| {
                fit(&X, &labels, &wishes, class_names, seed, watch)
            })?;
            Ok(Self { model: AnyModel::wrap(model) })
        })
    }

    /// The model in the bytes of a file, or in those that lack the function that is its kernel.
    #[staticmethod]
    #[pyo3(signature = (data, kernel=None))]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        kernel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let saved = match kernel {
            None => lkdl_model::from_bytes(data).map_err(Failure::Model)?,
            // landmarks' values are asked of the function, which needs the interpreter's lock
            Some(function) => {
                let (data, kernel) = (data.to_vec(), custom(function));
                Call::silent(py, 1).run(move |_| {
                    lkdl_model::from_bytes_with_kernel(&data, &kernel).map_err(Failure::Model)
                })?
            }
        };
        let model = match saved {
            Saved::F32(saved) => AnyModel::wrap(Fitted::from(*saved)),
            Saved::F64(saved) => AnyModel::wrap(Fitted::from(*saved)),
        };
        Ok(Self { model })
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = for_model!(&self.model, model => {
            py.detach(|| lkdl_model::to_bytes(&model.pipeline, &model.card))
        });
        Ok(PyBytes::new(py, &bytes.map_err(Failure::Model)?))
    }

    /// The bytes of the model without the function that is its kernel, if it is one.
    fn to_bytes_without_kernel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = for_model!(&self.model, model => {
            py.detach(|| lkdl_model::to_bytes_without_kernel(&model.pipeline, &model.card))
        });
        Ok(PyBytes::new(py, &bytes.map_err(Failure::Model)?))
    }

    /// The function that is the kernel, if it is one.
    #[getter]
    fn kernel_function<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        for_model!(&self.model, model => {
            lkdl_model::custom_kernel(&model.pipeline).and_then(|kernel| function(py, kernel))
        })
    }

    /// The model with the same preparation and map, but these atoms (rows, class by class) and the
    /// errors they left.
    fn with_dictionaries(
        &self,
        dictionaries: Vec<Bound<'_, PyAny>>,
        errors: Vec<Vec<f64>>,
        class_names: Vec<String>,
        sparsity: usize,
        n_samples: usize,
    ) -> PyResult<Self> {
        for_model!(&self.model, model => {
            let learned = learned(model, &dictionaries, errors)?;
            let classifier = ClassDictionaries::new(learned, sparsity).map_err(Failure::Engine)?;
            let mut card = model.card.clone();
            (card.class_names, card.data.n_samples) = (class_names, n_samples);
            Ok(Self::of(model, model.pipeline.map().clone(), classifier, card))
        })
    }

    /// Virtual samples of the rows of X; what the landmarks miss of each, and κ(x, x), if the map has
    /// landmarks and the kernel is positive semi-definite.
    #[pyo3(signature = (X, threads=0))]
    fn mapped<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Energies<'py>>)> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let model = own(&self.model)?;
            let (mapped, energies) = Call::silent(py, threads).run(move |_| {
                let map = match model.pipeline.map() {
                    FeatureMap::Nystroem(map) if has_residuals(map) => map,
                    _ => return Ok((model.pipeline.transform(X.view())?, None)),
                };
                let prepared = model.pipeline.preparation().apply(X.view())?.samples;
                let mapped = map.transform(prepared.as_ref())?;
                let missed = map.residual_energy(prepared.as_ref(), mapped.as_ref())?;
                let whole = map.panel().kernel().diagonal(prepared.as_ref())?;
                Ok((mapped, Some((missed, whole))))
            })?;
            let energies = energies.map(|(missed, whole)| (vector(py, missed), vector(py, whole)));
            Ok((rows(py, mapped.as_ref()), energies))
        })
    }

    /// The model whose map has more landmarks: at most so many of the rows of X, those that it misses
    /// most of. Virtual samples gain values and keep those they had; atoms are padded with zeros.
    #[pyo3(signature = (X, n_landmarks, seed=0, threads=0))]
    fn grown<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        n_landmarks: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let model = own(&self.model)?;
            let of_work = model.clone();
            let (map, classifier) = Call::silent(py, threads).run(move |_| {
                let map = nystroem(of_work.pipeline.map())?;
                let prepared = of_work.pipeline.preparation().apply(X.view())?.samples;
                let chosen = map.missed_landmarks(prepared.as_ref(), n_landmarks, seed)?;
                let map = if chosen.points.ncols() == 0 {
                    map.clone()
                } else {
                    map.grow(chosen.points.as_ref())?
                };
                let classifier = padded(of_work.pipeline.classifier(), map.rank())?;
                Ok((FeatureMap::Nystroem(Box::new(map)), classifier))
            })?;
            Ok(Self::of(&model, map, classifier, model.card.clone()))
        })
    }

    /// Class indices of the rows of X, the score of every class (the smaller, the better it fits)
    /// and how clear each decision was.
    #[pyo3(signature = (X, threads=0))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let model = own(&self.model)?;
            let found =
                Call::silent(py, threads).run(move |_| Ok(model.pipeline.predict(X.view())?))?;
            let scores = rows(py, found.scores.as_ref());
            Ok((indices(py, &found.labels), scores, vector(py, found.margins)))
        })
    }

    /// Virtual samples of the rows of X.
    #[pyo3(signature = (X, threads=0))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let model = own(&self.model)?;
            let mapped =
                Call::silent(py, threads).run(move |_| Ok(model.pipeline.transform(X.view())?))?;
            Ok(rows(py, mapped.as_ref()))
        })
    }

    /// Options and values that would repeat the fit.
    #[getter]
    fn settings(&self) -> Settings {
        for_model!(&self.model, model => model.card.settings.clone())
    }

    /// What the classes are called.
    #[getter]
    fn class_names(&self) -> Vec<String> {
        for_model!(&self.model, model => model.card.class_names.clone())
    }

    /// The seed of the fit.
    #[getter]
    fn seed(&self) -> u64 {
        for_model!(&self.model, model => model.card.seed)
    }

    /// What held-out samples decided, in words.
    #[getter]
    fn choice(&self) -> Option<String> {
        for_model!(&self.model, model => model.choice.clone())
    }

    /// Features of a sample.
    #[getter]
    fn n_features(&self) -> usize {
        for_model!(&self.model, model => model.pipeline.preparation().n_features())
    }

    /// What the features are called, if the files it was learned from say it.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        for_model!(&self.model, model => model.card.data.feature_names.clone())
    }

    /// The dimension of virtual samples.
    #[getter]
    fn rank(&self) -> usize {
        for_model!(&self.model, model => model.pipeline.classifier().n_features())
    }

    /// Landmarks of the map, if it has any.
    #[getter]
    fn n_landmarks(&self) -> Option<usize> {
        for_model!(&self.model, model => match model.pipeline.map() {
            FeatureMap::Nystroem(map) => Some(map.n_landmarks()),
            _ => None,
        })
    }

    /// Atoms per code at most, where the method has such a limit.
    #[getter]
    fn sparsity(&self) -> Option<usize> {
        for_model!(&self.model, model => model.pipeline.classifier().sparsity())
    }

    /// How many atoms each class has.
    #[getter]
    fn n_atoms(&self) -> Vec<usize> {
        for_model!(&self.model, model => model.pipeline.classifier().n_atoms())
    }

    /// The atoms of each class as rows, in the space of virtual samples; none for methods whose
    /// atoms are not vectors there.
    #[getter]
    fn class_atoms<'py>(&self, py: Python<'py>) -> Option<Vec<Bound<'py, PyAny>>> {
        for_model!(&self.model, model => {
            let atoms = model.pipeline.classifier().class_atoms()?;
            Some(atoms.into_iter().map(|atoms| rows(py, atoms)).collect())
        })
    }

    /// The relative error of every iteration, class by class, or of the one dictionary.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        for_model!(&self.model, model => {
            model.history.iter().map(|class| vector(py, class.errors.clone())).collect()
        })
    }

    /// What the fit wants known.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        for_model!(&self.model, model => model.warnings.clone())
    }

    /// The precision of the model.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.model {
            AnyModel::F32(_) => dtype_of::<f32>(py),
            AnyModel::F64(_) => dtype_of::<f64>(py),
        }
    }
}

impl Model {
    fn of<T: Number>(
        like: &Fitted<T>,
        map: FeatureMap<T>,
        classifier: ClassDictionaries<T>,
        card: Card,
    ) -> Self
    where
        AnyModel: Wrap<T>,
    {
        let classifier = Classifier::from(classifier);
        let (history, choice) = (classifier.history(), like.choice.clone());
        let warnings = like.warnings.clone();
        let pipeline = Pipeline::from_parts(like.pipeline.preparation().clone(), map, classifier);
        Self { model: AnyModel::wrap(Fitted { pipeline, card, choice, history, warnings }) }
    }
}

/// A kernel that may be indefinite promises no part that landmarks miss.
fn has_residuals<T: Number>(map: &NystroemMap<T>) -> bool {
    map.panel().kernel().is_positive_semidefinite()
}

/// Dictionaries in the precision and of the dimension of the model, with the errors they left.
fn learned<T: Number>(
    model: &Fitted<T>,
    dictionaries: &[Bound<'_, PyAny>],
    errors: Vec<Vec<f64>>,
) -> Result<Vec<Learned<T>>, Failure>
where
    AnySamples: InPrecision<T>,
{
    let n_features = model.pipeline.classifier().n_features();
    let learned = |(atoms, errors): (&Bound<'_, PyAny>, Vec<f64>)| {
        let atoms = AnySamples::of(atoms, "dictionary")?.samples("dictionary")?;
        if atoms.view().nrows() != n_features {
            return Err(Failure::argument(format!(
                "atoms have {} values, but virtual samples have {n_features}",
                atoms.view().nrows()
            )));
        }
        let dictionary = atoms.view().to_owned();
        Ok(Learned { dictionary, errors, stop: Stop::MaxIters, n_replaced: 0, warnings: vec![] })
    };
    dictionaries.iter().zip(errors).map(learned).collect()
}

/// Class dictionaries whose atoms have zeros for the dimensions that are new.
fn padded<T: Number>(
    classifier: &Classifier<T>,
    rank: usize,
) -> Result<ClassDictionaries<T>, Failure> {
    let Classifier::ClassDictionaries(classifier) = classifier else {
        return Err(Failure::argument("only class dictionaries can grow"));
    };
    let pad = |class: &Learned<T>| {
        let D = &class.dictionary;
        let value = |t, j| if t < D.nrows() { D[(t, j)] } else { T::of(0.0) };
        Learned { dictionary: Mat::from_fn(rank, D.ncols(), value), ..class.clone() }
    };
    let learned = classifier.learned().iter().map(pad).collect();
    Ok(ClassDictionaries::new(learned, classifier.sparsity())?)
}

/// Writes a file, whole or not at all.
#[pyfunction]
#[pyo3(signature = (path, data, overwrite=true))]
pub fn write_file(path: PathBuf, data: &[u8], overwrite: bool) -> PyResult<()> {
    let written = lkdl_data::atomic::write_file(&path, overwrite, |out| out.write_all(data));
    Ok(written.map_err(Failure::Data)?)
}
