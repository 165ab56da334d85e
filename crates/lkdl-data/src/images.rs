//! A folder of images: one sub-folder per class, or images alone if they have no labels.
//!
//! PNG, JPEG, BMP and PNM files are read, as grey values 0 to 255, row by row; all must have one
//! size. Classes come in their usual order, the images of one in that of their names. Hidden files
//! and other endings are passed over. Written are PNG files, named by the sample's number, if the
//! values are whole numbers of 0 to 255 and the image's size is known or a square; reading them
//! back gives the samples class by class.

use crate::atomic::Temporary;
use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use crate::options::ReadOptions;
use crate::table::{Labels, Table, check_writable};
use faer::Mat;
use image::{DynamicImage, ExtendedColorType, ImageEncoder, ImageReader, Limits};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const ENDINGS: [&str; 9] = ["png", "jpg", "jpeg", "bmp", "pgm", "ppm", "pbm", "pnm", "pam"];
/// The longest side of an image that is decoded.
const MAX_SIDE: u32 = 1 << 12;
/// The most memory one image may take.
const MAX_ALLOCATED: u64 = 1 << 26;
/// From 16-bit grey values to 0..255: 65535 / 255.
const WIDE: f64 = 257.0;

pub(crate) fn read(folder: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let (classes, beside) = list(folder)?;
    let labels = Labels::from_texts(&classes.iter().map(|class| &class.name).collect::<Vec<_>>());
    let wrong = |problem: String, fix| Err(DataError::format(folder, problem, fix));
    let found: Vec<(u32, &PathBuf)> = match (classes.is_empty(), beside.is_empty()) {
        (true, true) => {
            let problem = format!("no image ending in {}", ENDINGS.join(", "));
            return wrong(problem, "make one sub-folder of images per class");
        }
        (false, false) => {
            let problem = "images both beside and inside the folders of classes".to_string();
            return wrong(problem, "move them all into folders of classes");
        }
        (true, false) => beside.iter().map(|image| (0, image)).collect(),
        (false, true) => {
            let mut found: Vec<_> = labels
                .indices
                .iter()
                .zip(&classes)
                .flat_map(|(index, class)| class.images.iter().map(|image| (*index, image)))
                .collect();
            // stable: images of a class stay in the order of their names
            found.sort_by_key(|(index, _)| *index);
            found
        }
    };
    let is_labelled = !classes.is_empty() && !options.unlabelled;
    let (samples, image_shape) = decode_all(&found)?;
    let labels = is_labelled.then(|| Labels {
        indices: found.iter().map(|(index, _)| *index).collect(),
        class_names: labels.class_names,
    });
    let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let table = Table::new(name, samples, labels).map_err(|error| error.in_file(folder))?;
    Ok(table.with_image_shape(image_shape))
}

/// The images of one class.
struct Class {
    name: String,
    images: Vec<PathBuf>,
}

/// The classes that have images, and the images in the folder itself, in the order of names.
fn list(folder: &Path) -> Result<(Vec<Class>, Vec<PathBuf>), DataError> {
    let (mut classes, mut beside) = (Vec::new(), Vec::new());
    for path in entries(folder)? {
        if path.is_dir() {
            let images: Vec<_> = entries(&path)?.into_iter().filter(|p| is_image(p)).collect();
            let Some(name) = path.file_name().and_then(OsStr::to_str) else {
                let fix = "rename the folder";
                return Err(DataError::format(&path, "the name is not UTF-8", fix));
            };
            if !images.is_empty() {
                classes.push(Class { name: name.into(), images });
            }
        } else if is_image(&path) {
            beside.push(path);
        }
    }
    Ok((classes, beside))
}

/// What is in a folder and not hidden, in the order of names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let fix = "check the path and its permissions";
    let failed = |source| DataError::Io { file: folder.into(), source, fix };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) && !path.is_dir()
}

/// All images as columns, and their rows and columns of pixels.
type Decoded = (Mat<f64>, Option<(usize, usize)>);

fn decode_all(found: &[(u32, &PathBuf)]) -> Result<Decoded, DataError> {
    let mut values: Vec<f64> = Vec::new();
    let mut first: Option<(&Path, (u32, u32))> = None;
    for (_, path) in found {
        let (size, pixels) = decode(path)?;
        let (first_path, first_size) = *first.get_or_insert((path, size));
        if size != first_size {
            let problem = format!(
                "the image is {} x {}, but {} is {} x {}",
                size.0,
                size.1,
                first_path.display(),
                first_size.0,
                first_size.1
            );
            return Err(DataError::format(path, problem, "bring all images to one size"));
        }
        if pixels.len().saturating_mul(found.len()) > MAX_ENTRIES {
            let problem =
                format!("{} images of this size exceed {MAX_ENTRIES} values", found.len());
            return Err(DataError::format(path, problem, "use smaller or fewer images"));
        }
        values.extend(pixels);
    }
    let p = values.len() / found.len().max(1);
    let mut samples = Mat::zeros(p, found.len());
    for (i, pixels) in values.chunks_exact(p.max(1)).enumerate() {
        samples.col_as_slice_mut(i).copy_from_slice(pixels);
    }
    let shape = first.map(|(_, (width, height))| (height as usize, width as usize));
    Ok((samples, shape))
}

/// Width and height, and the grey values row by row.
fn decode(path: &Path) -> Result<((u32, u32), Vec<f64>), DataError> {
    let failed = |source| DataError::reading(path, source);
    let mut reader =
        ImageReader::open(path).and_then(ImageReader::with_guessed_format).map_err(failed)?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_ALLOCATED);
    reader.limits(limits);
    let image = reader.decode().map_err(|error| {
        let fix = "the file may be truncated or damaged, or too large: mend or drop it";
        DataError::format(path, format!("not a readable image ({error})"), fix)
    })?;
    let size = (image.width(), image.height());
    let is_wide = matches!(
        image,
        DynamicImage::ImageLuma16(_)
            | DynamicImage::ImageLumaA16(_)
            | DynamicImage::ImageRgb16(_)
            | DynamicImage::ImageRgba16(_)
    );
    let pixels = if is_wide {
        image.into_luma16().into_raw().iter().map(|v| f64::from(*v) / WIDE).collect()
    } else {
        image.into_luma8().into_raw().iter().map(|v| f64::from(*v)).collect()
    };
    Ok((size, pixels))
}

/// Writes the folder, which must not be there yet, or be empty.
pub(crate) fn write(folder: &Path, table: &Table) -> Result<(), DataError> {
    let side = table.n_features().isqrt();
    let (rows, columns) = table.image_shape.unwrap_or((side, side));
    if rows * columns != table.n_features() || rows.max(columns) > MAX_SIDE as usize {
        let requirement = format!("a square, of at most {MAX_SIDE} each way, to be images");
        return Err(DataError::parameter("n_features", table.n_features(), requirement));
    }
    let is_name = |name: &str| {
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
    };
    check_writable(table, is_name, "the name of a folder")?;
    for i in 0..table.n_samples() {
        let values = table.samples.col_as_slice(i);
        if let Some(t) = values.iter().position(|v| f64::from(*v as u8) != *v) {
            let value = format!("{} at feature {t} of sample {i}", values[t]);
            let requirement = "whole numbers of 0 to 255 to be images";
            return Err(DataError::parameter("samples", value, requirement));
        }
    }
    if folder.exists() && fs::read_dir(folder).map_or(true, |mut inside| inside.next().is_some()) {
        // never replaced, even when asked: what else may be in there is not ours to delete
        let problem = "a folder of images is not written over what is there";
        return Err(DataError::format(folder, problem, "remove it, or choose another name"));
    }
    let temporary =
        Temporary::folder(folder).map_err(|source| DataError::writing(folder, source))?;
    fill(temporary.path(), table, (columns as u32, rows as u32))
        .map_err(|source| DataError::writing(folder, source))?;
    temporary.publish_folder(folder)
}

fn fill(folder: &Path, table: &Table, (width, height): (u32, u32)) -> io::Result<()> {
    let class_folders: Vec<PathBuf> = match &table.labels {
        Some(labels) => labels.class_names.iter().map(|name| folder.join(name)).collect(),
        None => vec![folder.into()],
    };
    let digits = table.n_samples().to_string().len();
    for i in 0..table.n_samples() {
        let class = table.labels.as_ref().and_then(|labels| labels.indices.get(i));
        let Some(class_folder) = class_folders.get(class.map_or(0, |class| *class as usize)) else {
            continue;
        };
        fs::create_dir_all(class_folder)?;
        let pixels: Vec<u8> = table.samples.col_as_slice(i).iter().map(|v| *v as u8).collect();
        let mut png = Vec::new();
        image::codecs::png::PngEncoder::new(&mut png)
            .write_image(&pixels, width, height, ExtendedColorType::L8)
            .map_err(io::Error::other)?;
        fs::write(class_folder.join(format!("{i:0digits$}.png")), png)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn example(labels: Option<&[&str]>) -> Table {
        let samples = Mat::from_fn(9, 4, |t, i| ((31 * t + 87 * i) % 256) as f64);
        Table::new("set", samples, labels.map(Labels::from_texts)).unwrap()
    }

    fn read_plain(folder: &Path) -> Result<Table, DataError> {
        read(folder, &ReadOptions::default())
    }

    #[test]
    fn what_is_written_is_read_back_class_by_class() {
        let scratch = Scratch::new("images-round");
        let folder = scratch.0.join("set");
        let table = example(Some(&["9", "10", "10", "9"]));
        write(&folder, &table).unwrap();
        let read = read_plain(&folder).unwrap();
        assert_eq!((read.name.as_str(), read.n_samples()), ("set", 4));
        assert_eq!(
            read.labels.as_ref().unwrap().names().collect::<Vec<_>>(),
            ["9", "9", "10", "10"]
        );
        for (now, before) in [0, 3, 1, 2].into_iter().enumerate() {
            assert_eq!(read.samples.col_as_slice(now), table.samples.col_as_slice(before));
        }
        // nothing else is left, and nothing is written over
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
        assert!(write(&folder, &table).unwrap_err().to_string().contains("remove it"));
        let bare = scratch.0.join("bare");
        write(&bare, &example(None)).unwrap();
        assert_eq!(read_plain(&bare).unwrap().samples, example(None).samples);
        assert_eq!(read_plain(&bare).unwrap().labels, None);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let scratch = Scratch::new("images-refused");
        let refuse = |table: &Table| write(&scratch.0.join("set"), table).unwrap_err().to_string();
        let mut half = example(None);
        half.samples[(3, 1)] = 0.5;
        assert!(refuse(&half).contains("0.5 at feature 3 of sample 1"));
        assert!(refuse(&example(Some(&["a/b", "c", "c", "c"]))).contains("name of a folder"));
        assert!(refuse(&example(Some(&["..", "c", "c", "c"]))).contains("name of a folder"));
        let flat = Table::new("x", Mat::zeros(5, 1), None).unwrap();
        assert!(refuse(&flat).contains("n_features is 5"));
    }

    #[test]
    fn folders_that_do_not_fit_are_errors_that_name_the_file() {
        let scratch = Scratch::new("images-odd");
        assert!(read_plain(&scratch.0).unwrap_err().to_string().contains("no image"));
        fs::create_dir(scratch.0.join("a")).unwrap();
        scratch.file("a/1.pgm", b"P5 2 1 255\n\x05\x06");
        scratch.file("a/notes.txt", b"passed over");
        scratch.file("a/.hidden.png", b"passed over");
        let one = read_plain(&scratch.0).unwrap();
        assert_eq!(one.samples.col_as_slice(0), [5.0, 6.0]);
        assert_eq!(one.image_shape, Some((1, 2)));
        let copy = scratch.0.join("copy-of-a-wide-image");
        write(&copy, &one).unwrap();
        assert_eq!(read_plain(&copy).unwrap().image_shape, Some((1, 2)));
        fs::remove_dir_all(&copy).unwrap();
        // 16 bits are brought to 0..255
        scratch.file("a/2.pgm", b"P5 2 1 65535\n\xff\xff\x01\x01");
        assert_eq!(read_plain(&scratch.0).unwrap().samples.col_as_slice(1), [255.0, 1.0]);
        scratch.file("a/3.pgm", b"P5 1 1 255\n\x05");
        let size = read_plain(&scratch.0).unwrap_err().to_string();
        assert!(
            size.contains("3.pgm: the image is 1 x 1, but") && size.contains("is 2 x 1"),
            "{size}"
        );
        scratch.file("a/3.pgm", b"P5 2 1 255\n\x05");
        assert!(read_plain(&scratch.0).unwrap_err().to_string().contains("3.pgm"));
        scratch.file("a/3.pgm", b"P5 4000000000 4000000000 255\n\x05");
        assert!(read_plain(&scratch.0).unwrap_err().to_string().contains("3.pgm"));
        fs::remove_file(scratch.0.join("a/3.pgm")).unwrap();
        scratch.file("top.pgm", b"P5 2 1 255\n\x05\x06");
        assert!(read_plain(&scratch.0).unwrap_err().to_string().contains("both beside"));
    }
}
