use super::{read, read_bytes, write};
use crate::error::DataError;
use crate::options::ReadOptions;
use crate::round_trip::check_round_trip;
use crate::table::{Labels, Table};
use faer::Mat;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn expected() -> Mat<f64> {
    Mat::from_fn(3, 5, |t, i| (10 * t + i) as f64 / 4.0 - 3.0)
}

fn from_bytes(bytes: &[u8]) -> Result<Table, DataError> {
    read_bytes(bytes, Path::new("x.parquet"), &ReadOptions::default())
}

fn written(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, table).unwrap();
    bytes
}

fn names(table: &Table) -> Vec<&str> {
    table.labels.as_ref().unwrap().names().collect()
}

#[test]
fn what_pyarrow_writes_is_read() {
    for (name, labels) in [
        ("numbers.parquet", ["3", "1", "3", "2", "1"]),
        ("zstd.parquet", ["3", "1", "3", "2", "1"]),
        ("version2.parquet", ["3", "1", "3", "2", "1"]),
        ("strings.parquet", ["cat", "ant", "cat", "bär", "ant"]),
    ] {
        let table = read(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(table.samples, expected(), "{name}");
        assert_eq!(names(&table), labels, "{name}");
        assert_eq!(table.name, name.trim_end_matches(".parquet"));
    }
}

#[test]
fn every_kind_of_number_is_a_feature() {
    let table = read(&fixture("kinds.parquet"), &ReadOptions::default()).unwrap();
    let first = [1.0, -1.0, 255.0, 4_294_967_295.0, -5.0, 0.5, 0.1];
    let second = [0.0, 2.0, 0.0, 0.0, 6.0, 0.25, 0.2];
    assert_eq!(table.samples, Mat::from_fn(7, 2, |t, i| [first, second][i][t]));
    assert_eq!(names(&table), ["a", "b"]);
}

#[test]
fn the_label_column_is_as_asked() {
    let choose = |label: &str| {
        let options = ReadOptions { label: Some(label.into()), ..Default::default() };
        read(&fixture("numbers.parquet"), &options)
    };
    let table = choose("f1").unwrap();
    assert_eq!((table.n_features(), names(&table)[0]), (3, "-0.5"));
    assert_eq!(choose("-1").unwrap(), choose("label").unwrap());
    assert!(choose("nothing").unwrap_err().to_string().contains("no label column nothing"));
    let options = ReadOptions { unlabelled: true, ..Default::default() };
    let table = read(&fixture("numbers.parquet"), &options).unwrap();
    assert_eq!((table.n_features(), table.labels), (4, None));
    let error = read(&fixture("strings.parquet"), &options).unwrap_err().to_string();
    assert!(error.contains("column 0 (label) holds texts"), "{error}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let fault = |name| read(&fixture(name), &ReadOptions::default()).unwrap_err().to_string();
    let message = fault("null.parquet");
    assert!(message.contains("column 0 (a): row 2 is null"), "{message}");
    let message = fault("nested.parquet");
    assert!(message.contains("column 0 (a) is nested"), "{message}");
    let message = fault("dates.parquet");
    assert!(
        message.contains("column 1 (day): dates, times and decimals are not read"),
        "{message}"
    );
    for (bytes, problem) in [
        (&b""[..], "no Parquet magic"),
        (b"PAR1PAR1", "no Parquet magic"),
        (b"PAR1\x01\x00\x00\x00PAR1", "a footer of 1 bytes in a file of 12"),
        (b"PAR1\x00\x00\x00\x00\x00PAR1", "its footer is damaged"),
    ] {
        let error = from_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_table_survives_the_round_trip_bit_for_bit() {
    check_round_trip(|table| from_bytes(&written(table)).unwrap());
}

#[test]
fn features_keep_their_names() {
    let table = read(&fixture("kinds.parquet"), &ReadOptions::default()).unwrap();
    let expected = ["flag", "int32", "uint8", "uint32", "int64", "single", "double"];
    assert_eq!(table.feature_names.as_deref().unwrap(), expected);
    assert_eq!(from_bytes(&written(&table)).unwrap().feature_names, table.feature_names);
    let taken = Table { feature_names: Some(vec!["Label".into(); 7]), ..table };
    let error = write(&mut Vec::new(), &taken).unwrap_err().to_string();
    assert!(error.contains("feature name is \"Label\", but must be other than label"), "{error}");
}

#[test]
fn two_columns_of_one_name_are_named() {
    let table = read(&fixture("kinds.parquet"), &ReadOptions::default()).unwrap();
    let names = ["u", "v", "w", "v", "x", "y", "z"].map(String::from).to_vec();
    let twice = Table { feature_names: Some(names), ..table };
    let error = from_bytes(&written(&twice)).unwrap_err().to_string();
    assert!(error.contains("two columns are called \"v\""), "{error}");
}

#[test]
fn the_index_of_pandas_is_no_feature() {
    for name in ["index.parquet", "named_index.parquet"] {
        let table = read(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(table.feature_names.as_deref().unwrap(), ["f0", "f1", "f2"], "{name}");
        assert_eq!(table.samples, expected(), "{name}");
        assert_eq!(names(&table), ["cat", "ant", "cat", "bär", "ant"], "{name}");
    }
    let named = |label: &str| {
        let options = ReadOptions { label: Some(label.into()), ..Default::default() };
        read(&fixture("named_index.parquet"), &options)
    };
    // the label, if that is what it is called
    assert!(named("person").unwrap_err().to_string().contains("(kind) holds texts"));
    assert_eq!(names(&named("-1").unwrap())[1], "ant");
}

#[test]
fn large_labels_are_told_apart() {
    let table = read(&fixture("unsigned.parquet"), &ReadOptions::default()).unwrap();
    assert_eq!(
        names(&table),
        [
            "18446744073709551615",
            "18446744073709551614",
            "9007199254740993",
            "9007199254740992",
            "1"
        ]
    );
}

#[test]
fn several_row_groups_make_one_table() {
    // 2 columns of 150,000 rows: three groups
    let n = 150_000;
    let labels = Labels {
        indices: (0..n).map(|i| i % 3).collect(),
        class_names: ["0", "1", "2"].map(String::from).into(),
    };
    let samples = Mat::from_fn(1, n as usize, |_, i| i as f64 * 0.1);
    let table = Table::new("x", samples, Some(labels)).unwrap();
    let back = from_bytes(&written(&table)).unwrap();
    assert_eq!(Table { feature_names: None, ..back }, table);
}

#[test]
fn no_flipped_bit_changes_a_value_unnoticed() {
    let table = Table::new("x", expected(), None).unwrap();
    let good = written(&table);
    let mut checksums = 0;
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 1;
        match from_bytes(&bad) {
            // names and notes are not checked
            Ok(read) => assert_eq!(read.samples, table.samples, "byte {place}"),
            Err(error) => checksums += usize::from(error.to_string().contains("checksum is wrong")),
        }
    }
    assert!(checksums > 100, "{checksums}");
}
