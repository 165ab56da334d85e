//! `lkdl inspect MODEL`: what is in it, in words and in pictures.

use crate::context::Context;
use crate::failure::Failure;
use crate::model_file;
use crate::output;
use crate::table::{Align, Table as TextTable};
use crate::words::{counted, shown};
use clap::Args;
use lkdl::FeatureMap;
use lkdl_model::{AnyModel, Card, Element, SavedModel};
use lkdl_report::image::{Mosaic, PixelOrder, Scaling, Shape, pictures};
use lkdl_report::{ClassSummary, ModelReport};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Atoms per row of a picture, at most; every pixel becomes a square of [`ZOOM`].
const ATOMS_PER_ROW: usize = 30;
const GAP: usize = 1;
const ZOOM: usize = 3;

/// What is in a model
#[derive(Debug, Args)]
#[command(after_help = "\
Atoms of a linear model are drawn as they are (of SRC: its samples); those of a kernel model live
in the kernel's space and are drawn through their pre-images, the samples whose images come closest.

Examples:
  lkdl inspect model.safetensors
  lkdl inspect model.safetensors --atoms atoms.png --html model.html")]
pub struct InspectArgs {
    /// A model of `lkdl fit`
    model: PathBuf,
    /// Draw the atoms as images: a .png or .svg file
    #[arg(long, value_name = "FILE")]
    atoms: Option<PathBuf>,
    /// Write a page with history, sizes and atoms
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Height and width of an image, such as 28x28 [default: as the data had it, or square]
    #[arg(long, value_name = "HxW", value_parser = image_shape)]
    image_shape: Option<(usize, usize)>,
    /// Pixels follow each other by columns, as in MATLAB, not by rows
    #[arg(long)]
    column_major: bool,
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Picture {
    Png,
    Svg,
}

impl Picture {
    /// What a file's ending asks for.
    fn of(output: &Path) -> Option<Self> {
        match output.extension()?.to_str()? {
            "png" => Some(Self::Png),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }
}

impl InspectArgs {
    /// Whether atoms are drawn, into a picture or into the page.
    fn draws(&self) -> bool {
        self.atoms.is_some() || self.html.is_some()
    }

    /// Refuses flags that mean nothing, before anything is read.
    fn check(&self) -> Result<(), Failure> {
        let flags =
            [("--image-shape", self.image_shape.is_some()), ("--column-major", self.column_major)];
        if let Some((flag, _)) = flags.into_iter().find(|(_, given)| *given && !self.draws()) {
            let fix = "say --atoms FILE or --html FILE, or leave it away";
            return Err(Failure::usage(format!("{flag} says how atoms are drawn; {fix}")));
        }
        match &self.atoms {
            Some(output) if Picture::of(output).is_none() => {
                let file = output.display();
                Err(Failure::usage(format!("--atoms is {file}, but must end in .png or .svg")))
            }
            Some(_) if self.atoms == self.html => {
                Err(Failure::usage("--atoms and --html name the same file; choose two"))
            }
            _ => Ok(()),
        }
    }
}

fn image_shape(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once('x').and_then(|(height, width)| {
        Some((height.parse::<usize>().ok()?, width.parse::<usize>().ok()?))
    });
    sides.filter(|(h, w)| *h > 0 && *w > 0).ok_or_else(|| "must be such as 28x28".to_string())
}

#[derive(Serialize)]
struct Report<'a> {
    file: String,
    library_version: &'a str,
    method: &'a str,
    /// What the file calls it, which several methods may share.
    classifier: &'static str,
    precision: &'static str,
    preparation: String,
    map: &'static str,
    kernel: Option<String>,
    n_features: usize,
    n_landmarks: Option<usize>,
    rank: usize,
    sparsity: Option<usize>,
    classes: Vec<ClassFacts>,
    warnings: &'a [String],
    #[serde(flatten)]
    card: &'a Card,
}

#[derive(Serialize)]
struct ClassFacts {
    name: String,
    n_atoms: Option<usize>,
    iterations: usize,
    error: Option<f64>,
    stop: String,
    n_replaced: usize,
    warnings: Vec<String>,
}

/// Prints, draws and writes.
pub fn run(args: &InspectArgs, context: &Context) -> Result<(), Failure> {
    args.check()?;
    for output in [&args.atoms, &args.html].into_iter().flatten() {
        output::check(output, context)?;
    }
    match &model_file::load(&args.model)? {
        AnyModel::F32(model) => inspect(args, model, context),
        AnyModel::F64(model) => inspect(args, model, context),
    }
}

fn inspect<T: Element>(
    args: &InspectArgs,
    model: &SavedModel<T>,
    context: &Context,
) -> Result<(), Failure> {
    let report = report(args, model);
    // what cannot be drawn is said before anything is printed
    let drawn = if args.draws() { drawable(args, model)? } else { None };
    if args.atoms.is_some() && drawn.is_none() {
        return Err(undrawable(model));
    }
    if context.json {
        context.print_json(&report)?;
    } else {
        context.print(text(&report))?;
    }
    if let (Some(output), Some(drawn)) = (&args.atoms, &drawn) {
        draw(output, drawn, context)?;
    }
    if let Some(output) = &args.html {
        let page = page(&report, model, drawn).to_html().map_err(Failure::run)?;
        write(output, page.as_bytes(), context)?;
    }
    Ok(())
}

fn write(output: &Path, bytes: &[u8], context: &Context) -> Result<(), Failure> {
    output::write(output, bytes, context)?;
    context.note(format!("written {}", output.display()));
    Ok(())
}

fn report<'a, T: Element>(args: &InspectArgs, model: &'a SavedModel<T>) -> Report<'a> {
    let pipeline = &model.pipeline;
    let (map, kernel, n_landmarks) = match pipeline.map() {
        FeatureMap::Nystroem(map) => {
            ("nystroem", Some(map.panel().kernel().to_string()), Some(map.n_landmarks()))
        }
        FeatureMap::Fourier(_) => ("fourier", None, None),
        FeatureMap::Fastfood(_) => ("fastfood", None, None),
        _ => ("none", pipeline.classifier().kernel().map(ToString::to_string), None),
    };
    let classifier = pipeline.classifier();
    let n_atoms = classifier.n_atoms();
    let class = |(l, name): (usize, &String)| {
        let history = model.history.get(l).cloned().unwrap_or_default();
        ClassFacts {
            name: name.clone(),
            n_atoms: n_atoms.get(l).copied(),
            iterations: history.errors.len(),
            error: history.errors.last().copied(),
            stop: history.stop,
            n_replaced: history.n_replaced,
            warnings: history.warnings,
        }
    };
    Report {
        file: args.model.display().to_string(),
        library_version: &model.library_version,
        method: model_file::method(model),
        classifier: classifier.method(),
        precision: T::NAME,
        preparation: pipeline.preparation().params().to_string(),
        map,
        kernel,
        n_features: pipeline.preparation().n_features(),
        n_landmarks,
        rank: classifier.n_features(),
        sparsity: classifier.sparsity(),
        classes: model.card.class_names.iter().enumerate().map(class).collect(),
        warnings: &model.warnings,
        card: &model.card,
    }
}

/// Name and value of everything a person may want to know.
fn facts(report: &Report<'_>) -> Vec<(String, String)> {
    let mut facts = vec![
        ("file", report.file.clone()),
        ("written by", format!("lkdl {}", report.library_version)),
        ("method", report.method.into()),
        ("precision", report.precision.into()),
        ("preparation", report.preparation.clone()),
        ("map", report.map.into()),
    ];
    facts.extend(report.kernel.clone().map(|kernel| ("kernel", kernel)));
    facts.extend(report.n_landmarks.map(|count| ("landmarks", count.to_string())));
    let data = &report.card.data;
    facts.extend([
        ("features", report.n_features.to_string()),
        ("rank", report.rank.to_string()),
        ("sparsity", report.sparsity.map_or("-".into(), |sparsity| sparsity.to_string())),
        ("seed", report.card.seed.to_string()),
        ("trained on", format!("{} ({})", data.name, counted(data.n_samples, "sample"))),
        ("data checksum", data.checksum.clone()),
    ]);
    for warning in report.warnings {
        facts.push(("warning", warning.clone()));
    }
    for class in &report.classes {
        for warning in &class.warnings {
            facts.push(("warning", format!("class {}: {warning}", class.name)));
        }
    }
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn text(report: &Report<'_>) -> String {
    let mut text = String::new();
    for (name, value) in facts(report) {
        text += &format!("{name:<14}{}\n", shown(&value));
    }
    let mut table = TextTable::new([
        ("class", Align::Left),
        ("atoms", Align::Right),
        ("iterations", Align::Right),
        ("relative error", Align::Right),
        ("stopped", Align::Left),
        ("replaced atoms", Align::Right),
    ]);
    for class in &report.classes {
        table.row([
            class.name.clone(),
            class.n_atoms.map_or("-".into(), |n_atoms| n_atoms.to_string()),
            class.iterations.to_string(),
            class.error.map_or("-".into(), |error| format!("{error:.4}")),
            class.stop.clone(),
            class.n_replaced.to_string(),
        ]);
    }
    format!("{text}\n{table}")
}

/// Atoms of all classes as pictures.
struct Drawn {
    shape: Shape,
    /// By class, one vector of pixels per atom.
    classes: Vec<Vec<Vec<f64>>>,
}

/// The atoms in the samples' own space, if they have one and are pictures.
fn drawable<T: Element>(
    args: &InspectArgs,
    model: &SavedModel<T>,
) -> Result<Option<Drawn>, Failure> {
    let n_features = model.pipeline.preparation().n_features();
    let order = if args.column_major { PixelOrder::ColumnMajor } else { PixelOrder::RowMajor };
    let shape = match args.image_shape {
        Some((height, width)) if height.checked_mul(width) == Some(n_features) => {
            Some(Shape { height, width, order })
        }
        Some((height, width)) => {
            let message = format!(
                "--image-shape is {height}x{width}, but samples have {n_features} features; \
                 height times width must be {n_features}"
            );
            return Err(Failure::usage(message));
        }
        None => match model.card.data.image_shape {
            Some((height, width)) => Some(Shape { height, width, order }),
            None => Shape::square(n_features).map(|shape| Shape { order, ..shape }),
        },
    };
    let Some(shape) = shape else { return Ok(None) };
    let mut classes = Vec::new();
    let Some(all) = model.pipeline.classifier().class_images()? else { return Ok(None) };
    for class in all {
        let atoms = match model.pipeline.map() {
            FeatureMap::Identity => class,
            FeatureMap::Nystroem(map) if !map.panel().kernel().is_on_vectors() => return Ok(None),
            FeatureMap::Nystroem(map) => map.pre_images(class.as_ref())?,
            _ => return Ok(None),
        };
        let pixels = |j: usize| atoms.col_as_slice(j).iter().map(|v| v.wide()).collect();
        classes.push((0..atoms.ncols()).map(pixels).collect());
    }
    Ok(Some(Drawn { shape, classes }))
}

fn undrawable<T: Element>(model: &SavedModel<T>) -> Failure {
    let n_features = model.pipeline.preparation().n_features();
    if let Ok(None) = model.pipeline.classifier().class_images() {
        let method = model_file::method(model);
        return Failure::usage(format!("this model of --method {method} has no atoms to draw"));
    }
    Failure::usage(match model.pipeline.map() {
        FeatureMap::Nystroem(map) if !map.panel().kernel().is_on_vectors() => {
            "atoms over a kernel that knows no vectors have no pre-images to draw".into()
        }
        FeatureMap::Identity | FeatureMap::Nystroem(_) => format!(
            "atoms of {n_features} features are no square image; say --image-shape HxW if they \
             are images"
        ),
        _ => "atoms over random features have no pre-images; train with --map nystroem".into(),
    })
}

fn draw(output: &Path, drawn: &Drawn, context: &Context) -> Result<(), Failure> {
    let atoms: Vec<Vec<f64>> = drawn.classes.iter().flatten().cloned().collect();
    let tiles = pictures(&atoms, drawn.shape, Scaling::Symmetric).map_err(Failure::run)?;
    let widest = drawn.classes.iter().map(Vec::len).max().unwrap_or(1);
    let mosaic = Mosaic { columns: widest.clamp(1, ATOMS_PER_ROW), gap: GAP, zoom: ZOOM };
    let bytes = match Picture::of(output) {
        Some(Picture::Svg) => {
            mosaic.to_svg(&tiles, "Atoms of all classes, row by row").map(String::into_bytes)
        }
        _ => mosaic.join(&tiles).and_then(|image| image.to_png()),
    };
    write(output, &bytes.map_err(Failure::run)?, context)
}

fn page<T: Element>(
    report: &Report<'_>,
    model: &SavedModel<T>,
    drawn: Option<Drawn>,
) -> ModelReport {
    let shape = drawn.as_ref().map(|drawn| drawn.shape);
    let mut atoms = drawn.map(|drawn| drawn.classes).unwrap_or_default().into_iter();
    let class = |(l, facts): (usize, &ClassFacts)| ClassSummary {
        name: facts.name.clone(),
        n_atoms: facts.n_atoms.unwrap_or(0),
        errors: model.history.get(l).map(|history| history.errors.clone()).unwrap_or_default(),
        atoms: atoms.next().unwrap_or_default(),
    };
    let note = match model.pipeline.map() {
        FeatureMap::Identity if model.pipeline.classifier().kernel().is_some() => {
            "Pre-images of the kernel's atoms: the samples whose kernel images come closest."
        }
        FeatureMap::Identity => "The atoms themselves, in prepared pixels.",
        _ => "Pre-images of the virtual atoms: the samples whose kernel images come closest.",
    };
    ModelReport {
        title: format!("Model {}", report.file),
        facts: facts(report),
        classes: report.classes.iter().enumerate().map(class).collect(),
        shape,
        atoms_note: note.into(),
    }
}
