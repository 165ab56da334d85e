use super::reader::MatFile;
use super::{read, write};
use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use crate::options::{Layout, ReadOptions};
use crate::round_trip::check_round_trip;
use crate::scratch::Scratch;
use crate::table::{Labels, Table};
use crate::variables::{self, Class, Content, Source};
use crate::{DATA_DIR, data_dir};
use faer::Mat;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn expected() -> Mat<f64> {
    Mat::from_fn(3, 5, |t, i| (10 * t + i) as f64 / 4.0 - 3.0)
}

fn names(table: &Table) -> Vec<&str> {
    table.labels.as_ref().unwrap().names().collect()
}

fn from_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Table, DataError> {
    let file = Path::new("x.mat");
    variables::read(&MatFile::open(bytes, file)?, options, file)
}

fn written(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, table).unwrap();
    bytes
}

/// A file of elements written for a test, in either byte order.
struct Builder {
    bytes: Vec<u8>,
    big: bool,
}

impl Builder {
    fn new(big: bool) -> Self {
        let mut bytes = vec![b'.'; 124];
        bytes.extend(if big { *b"\x01\x00MI" } else { *b"\x00\x01IM" });
        Self { bytes, big }
    }

    fn word(&self, word: u32) -> [u8; 4] {
        if self.big { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    fn part(&self, kind: u32, payload: &[u8]) -> Vec<u8> {
        let mut part = [self.word(kind), self.word(payload.len() as u32)].concat();
        part.extend(payload);
        part.resize(part.len().next_multiple_of(8), 0);
        part
    }

    fn words(&self, kind: u32, words: &[u32]) -> Vec<u8> {
        self.part(kind, &words.iter().flat_map(|w| self.word(*w)).collect::<Vec<_>>())
    }

    /// Appends a matrix whose values are in `parts`.
    fn matrix(mut self, class: u32, shape: &[u32], name: &str, parts: &[Vec<u8>]) -> Self {
        let mut payload = self.words(6, &[class, 0]);
        payload.extend(self.words(5, shape));
        payload.extend(self.part(1, name.as_bytes()));
        payload.extend(parts.concat());
        let element = self.part(14, &payload);
        self.bytes.extend(element);
        self
    }
}

#[test]
fn what_scipy_writes_is_read() {
    for (name, p) in
        [("columns_v5.mat", 3), ("columns_v7.mat", 3), ("rows.mat", 3), ("one_hot.mat", 3)]
    {
        let table = read(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(table.n_features(), p, "{name}");
        assert_eq!(table.samples, expected(), "{name}");
        assert_eq!(names(&table), ["3", "1", "3", "2", "1"], "{name}");
        assert_eq!(table.name, name.trim_end_matches(".mat"));
    }
}

#[test]
fn every_class_is_read_or_named() {
    let bytes = std::fs::read(fixture("kinds.mat")).unwrap();
    let file = Path::new("kinds.mat");
    let source = MatFile::open(&bytes, file).unwrap();
    let index = |name: &str| source.variables().iter().position(|v| v.name == name).unwrap();
    let load = |name: &str| source.load(index(name));
    for kind in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "single", "double"] {
        let values = Content::Real(vec![1.0, 4.0, 2.0, 5.0, 3.0, 100.0]);
        assert_eq!(load(&format!("v_{kind}")).unwrap(), values, "{kind}");
    }
    assert_eq!(load("v_int64").unwrap(), Content::Integers(vec![1, 4, 2, 5, 3, 100]));
    assert_eq!(load("v_uint64").unwrap(), Content::Unsigned(vec![1, 4, 2, 5, 3, 100]));
    let texts = |list: &[&str]| Content::Text(list.iter().map(|text| text.to_string()).collect());
    assert_eq!(load("flag").unwrap(), Content::Real(vec![1.0, 0.0]));
    assert_eq!(load("text").unwrap(), texts(&["one", "two"]));
    assert_eq!(load("accents").unwrap(), texts(&["bär"]));
    assert_eq!(load("cells").unwrap(), texts(&["cat", "ant", "cat", "bär", "ant"]));
    let dense = (0..5).flat_map(|i| (0..3).map(move |t| expected()[(t, i)].max(0.0))).collect();
    assert_eq!(load("sparse").unwrap(), Content::Real(dense));
    assert_eq!(source.variables()[index("cube")].shape, [2, 3, 4]);
    assert_eq!(load("empty").unwrap(), Content::Real(vec![]));
    assert_eq!(load("after").unwrap(), Content::Real(vec![7.5]));
    assert_eq!(source.variables()[index("complex")].class, Class::Complex);
    assert!(load("complex").unwrap_err().to_string().contains("complex is of complex numbers"));
    assert!(load("record").unwrap_err().to_string().contains("record is a structure"));
    assert!(load("nested").unwrap_err().to_string().contains("cell 1 of nested is not"));
}

#[test]
fn variables_are_chosen_by_name() {
    let choose = |samples: &str, label: Option<&str>| {
        let samples = Some(samples.to_string());
        let label = label.map(String::from);
        read(&fixture("kinds.mat"), &ReadOptions { samples, label, ..Default::default() })
    };
    let table = choose("sparse", Some("cells")).unwrap();
    assert_eq!(names(&table), ["cat", "ant", "cat", "bär", "ant"]);
    assert_eq!((table.n_features(), table.n_samples()), (3, 5));
    // two rows of text: the two rows of the matrix are the samples
    let table = choose("v_single", Some("text")).unwrap();
    assert_eq!((names(&table), table.n_features()), (vec!["one", "two"], 3));
    let fault = |samples, label| choose(samples, label).unwrap_err().to_string();
    let message = fault("nothing", None);
    assert!(message.contains("no variable nothing; found v_int8 (2 x 3), "), "{message}");
    assert!(message.contains("complex (1 x 1 complex)"), "{message}");
    assert!(message.contains("record (a structure)"), "{message}");
    assert!(fault("v_int8", Some("none")).contains("no variable none"));
    assert!(fault("v_int8", Some("v_int8")).contains("holds the samples already"));
    assert!(fault("v_int8", Some("cells")).contains("5 labels cells (5 x 1 cells) do not fit"));
    assert!(fault("cube", None).contains("not a matrix"));
    assert!(fault("complex", None).contains("complex is of complex numbers"));
    assert!(fault("cells", None).contains("cells is of cells"));
}

#[test]
fn large_labels_are_told_apart() {
    for big in [false, true] {
        let builder = Builder::new(big);
        let bytes = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let labels = builder.part(13, &[bytes(u64::MAX), bytes(u64::MAX - 1)].concat());
        let samples = builder.part(2, &[1, 2]);
        let file = builder.matrix(9, &[1, 2], "X", &[samples]).matrix(15, &[2, 1], "y", &[labels]);
        let table = from_bytes(&file.bytes, &ReadOptions::default()).unwrap();
        assert_eq!(names(&table), ["18446744073709551615", "18446744073709551614"]);
    }
}

#[test]
fn what_is_in_doubt_is_asked_for() {
    let builder = Builder::new(false);
    let (x, y) = (builder.part(2, &[1, 2, 3, 4, 5, 6]), builder.part(2, &[1, 2, 2]));
    let two = builder
        .matrix(9, &[2, 3], "a", std::slice::from_ref(&x))
        .matrix(9, &[2, 3], "b", &[x])
        .matrix(9, &[1, 3], "c", std::slice::from_ref(&y));
    let fault = |bytes: &[u8], options| from_bytes(bytes, &options).unwrap_err().to_string();
    let message = fault(&two.bytes, ReadOptions::default());
    assert!(
        message.contains("several matrices could hold the samples; found a (2 x 3)"),
        "{message}"
    );
    let options = ReadOptions { samples: Some("b".into()), ..Default::default() };
    assert_eq!(names(&from_bytes(&two.bytes, &options).unwrap()), ["1", "2", "2"]);
    let three = two.matrix(9, &[3, 1], "d", &[y]);
    let message = fault(&three.bytes, options);
    assert!(message.contains("several variables could be the labels"), "{message}");
}

#[test]
fn the_layout_is_as_asked_or_as_the_labels_tell() {
    let rows = ReadOptions { layout: Layout::Rows, unlabelled: true, ..Default::default() };
    let table = read(&fixture("columns_v5.mat"), &rows).unwrap();
    assert_eq!((table.n_samples(), table.labels), (3, None));
    let columns = ReadOptions { layout: Layout::Columns, ..rows.clone() };
    assert_eq!(read(&fixture("columns_v5.mat"), &columns).unwrap().samples, expected());
    // labels that the layout asked for does not fit
    let rows = ReadOptions { layout: Layout::Rows, label: Some("y".into()), ..Default::default() };
    let error = read(&fixture("columns_v5.mat"), &rows).unwrap_err().to_string();
    assert!(error.contains("5 labels y (5 x 1) do not fit samples X (3 x 5)"), "{error}");
    // as many samples as features: columns
    let square = Table::new("s", Mat::from_fn(2, 2, |t, i| (2 * t + i) as f64), None).unwrap();
    let labels = Some(Labels::from_numbers(&[1.0, 2.0]).unwrap());
    let square = Table { labels, ..square };
    assert_eq!(
        from_bytes(&written(&square), &ReadOptions::default()).unwrap().samples,
        square.samples
    );
}

#[test]
fn a_table_survives_the_round_trip_bit_for_bit() {
    check_round_trip(|table| from_bytes(&written(table), &ReadOptions::default()).unwrap());
}

#[test]
fn a_written_file_is_read_from_disk_through_compression() {
    let scratch = Scratch::new("matlab-gz");
    let table = Table::new("x", expected(), Some(Labels::from_texts(&["a", "b", "a", "b", "c"])));
    let table = table.unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    write(&mut gzip, &table).unwrap();
    let path = scratch.file("x.mat.gz", &gzip.finish().unwrap());
    assert_eq!(read(&path, &ReadOptions::default()).unwrap(), table);
}

#[test]
fn big_endian_files_are_read() {
    for big in [false, true] {
        let builder = Builder::new(big);
        let values: Vec<u8> = [1.5f32, -2.0, 0.25, 8.0, 0.0, 1.0]
            .iter()
            .flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() })
            .collect();
        let x = builder.part(7, &values);
        let units: Vec<u8> = "abbcda"
            .encode_utf16()
            .flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() })
            .collect();
        let y = builder.part(17, &units);
        let builder = builder.matrix(7, &[2, 3], "X", &[x]).matrix(4, &[3, 2], "y", &[y]);
        let table = from_bytes(&builder.bytes, &ReadOptions::default()).unwrap();
        assert_eq!(
            table.samples,
            Mat::from_fn(2, 3, |t, i| [[1.5, 0.25, 0.0], [-2.0, 8.0, 1.0]][t][i])
        );
        assert_eq!(names(&table), ["ac", "bd", "ba"]);
    }
}

#[test]
fn one_hot_rows_and_columns_count_classes_from_1() {
    let hot = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let by_row: Vec<f64> = (0..3).flat_map(|l| hot.map(|row| row[l])).collect();
    let by_column: Vec<f64> = hot.concat();
    let x: Vec<f64> = (0..8).map(f64::from).collect();
    for (shape, values) in [([4, 3], &by_row), ([3, 4], &by_column)] {
        let builder = Builder::new(false);
        let (x, h) = (builder.part(9, &doubles(&x)), builder.part(9, &doubles(values)));
        let builder = builder.matrix(6, &[2, 4], "data", &[x]).matrix(6, &shape, "H", &[h]);
        let table = from_bytes(&builder.bytes, &ReadOptions::default()).unwrap();
        assert_eq!(names(&table), ["3", "1", "3", "2"]);
    }
    // a matrix of the right shape that is not one-hot is no label unless named
    let builder = Builder::new(false);
    let (x, h) = (builder.part(9, &doubles(&x)), builder.part(9, &doubles(&[0.5; 12])));
    let builder = builder.matrix(6, &[2, 4], "data", &[x]).matrix(6, &[3, 4], "H", &[h]);
    assert_eq!(from_bytes(&builder.bytes, &ReadOptions::default()).unwrap().labels, None);
    let named = ReadOptions { label: Some("H".into()), ..Default::default() };
    let error = from_bytes(&builder.bytes, &named).unwrap_err().to_string();
    assert!(error.contains("neither a vector nor one-hot"), "{error}");
}

#[test]
fn false_claims_cost_nothing() {
    let fault = |bytes: &[u8]| from_bytes(bytes, &ReadOptions::default()).unwrap_err().to_string();
    let values = Builder::new(false).part(9, &[0; 16]);
    let huge =
        Builder::new(false).matrix(6, &[1 << 16, 1 << 15], "X", std::slice::from_ref(&values));
    assert!(fault(&huge.bytes).contains(&format!("more than {MAX_ENTRIES} values")));
    let large = Builder::new(false).matrix(6, &[1 << 15, 1 << 10], "X", &[values]);
    assert!(fault(&large.bytes).contains("16 bytes for 33554432 values"));
    // nothing stored, 4 GiB of zeros meant
    let builder = Builder::new(false);
    let parts = [builder.words(5, &[]), builder.words(5, &[0, 0]), builder.part(9, &[])];
    let sparse = builder.matrix(5, &[1 << 29, 1], "X", &parts);
    assert!(fault(&sparse.bytes).contains("sparse matrix of 0 values"));
    // an index outside the matrix
    let builder = Builder::new(false);
    let parts = [builder.words(5, &[2]), builder.words(5, &[0, 1]), builder.part(9, &[0; 8])];
    let sparse = builder.matrix(5, &[2, 1], "X", &parts);
    assert!(fault(&sparse.bytes).contains("do not fit together"));
    // zlib data that claims to be far more than deflate can make of it
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let tag = [14u32.to_le_bytes(), (1u32 << 31).to_le_bytes()].concat();
    std::io::Write::write_all(&mut encoder, &tag).unwrap();
    let packed = encoder.finish().unwrap();
    let mut bytes = Builder::new(false).bytes;
    bytes.extend([15u32.to_le_bytes(), (packed.len() as u32).to_le_bytes()].concat());
    bytes.extend(packed);
    assert!(fault(&bytes).contains("claimed to inflate to 2147483648"));
}

#[test]
fn other_files_are_told_apart() {
    let fault = |bytes: &[u8]| from_bytes(bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert!(fault(b"").contains("shorter than a MATLAB header"));
    assert!(fault(&[0; 200]).contains("byte order mark [00, 00]"));
    let mut newer = Builder::new(false).bytes;
    newer[125] = 3;
    assert!(fault(&newer).contains("MATLAB version 0x0300"));
    assert!(fault(&Builder::new(true).bytes).contains("no matrix of numbers; found no variable"));
}

#[test]
fn a_table_too_large_for_the_format_is_refused_before_it_is_written() {
    // 2^28 samples of 1 feature would be 2 GiB; the samples themselves need not exist
    let labels = Some(Labels { indices: vec![], class_names: vec![] });
    let table = Table::new("x", Mat::zeros(1, 1), None).unwrap();
    let table = Table { samples: Mat::zeros(0, 0), labels, ..table };
    assert!(write(&mut Vec::new(), &table).is_ok());
    let error = super::writer::numbers("X", 6, 9, [1, 1 << 28]).unwrap_err().to_string();
    assert!(error.contains("write another format"), "{error}");
}

#[test]
fn the_face_sets_are_the_known_ones() {
    let Ok(directory) = data_dir() else {
        println!("{DATA_DIR} is not set: the check against the face sets did not run");
        return;
    };
    for (file, samples, (p, n, n_classes), value, label) in FACES {
        let options = ReadOptions { samples: samples.map(String::from), ..Default::default() };
        let set = read(&directory.join(file), &options).unwrap().into_dataset().unwrap();
        assert_eq!(
            (set.n_features(), set.n_samples(), set.n_classes()),
            (p, n, n_classes),
            "{file}"
        );
        assert_eq!(set.samples[(3, 5)], value, "{file}");
        assert_eq!(set.class_names[set.labels[1000 % n] as usize], label, "{file}");
        assert!(set.class_names.iter().enumerate().all(|(l, name)| *name == (l + 1).to_string()));
    }
}

/// File, samples if not the default, (p, N, classes), feature 3 of sample 5 as SciPy reads it, and
/// the label of sample 1000 mod N.
type Face = (&'static str, Option<&'static str>, (usize, usize, usize), f64, &'static str);

const FACES: [Face; 7] = [
    ("yaleb/featurevectors_rebuilt.mat", None, (504, 1216, 38), 176.55751681253633, "32"),
    (
        "yaleb/featurevectors_rebuilt.mat",
        Some("testing_feats"),
        (504, 1198, 38),
        169.87433424117657,
        "32",
    ),
    ("yaleb/ExtendedYaleB.mat", None, (2016, 2414, 38), 48.0, "16"),
    ("yaleb/YaleB_32x32.mat", None, (1024, 2414, 38), 41.0, "16"),
    ("ar/randomfaces4ar_rebuilt.mat", None, (540, 2600, 100), -100.13423951533646, "39"),
    ("ar/AR_EigenFace.mat", None, (300, 700, 100), -0.060121173924742914, "43"),
    ("ar/AR_EigenFace.mat", Some("tt_dat"), (300, 699, 100), -0.013127485089445045, "44"),
];
