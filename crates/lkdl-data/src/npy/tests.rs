//! Arrays as NumPy writes them, spelt out byte by byte.

use super::*;
use crate::scratch::Scratch;

/// A file with this header and data.
pub(crate) fn file(version: u8, dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((dictionary.len() as u16).to_le_bytes()),
        _ => bytes.extend((dictionary.len() as u32).to_le_bytes()),
    }
    bytes.extend(dictionary.as_bytes());
    bytes.extend(data);
    bytes
}

fn array(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}   \n");
    file(1, &text, data)
}

fn samples(bytes: &[u8], layout: Layout) -> Result<Mat<f64>, DataError> {
    let file = Path::new("x.npy");
    Array::parse(bytes, file)?.samples(layout, file)
}

fn fault(bytes: &[u8]) -> String {
    samples(bytes, Layout::Auto).unwrap_err().to_string()
}

#[test]
fn every_number_type_in_both_byte_orders_is_read() {
    let cases: [(&str, Vec<u8>, f64); 17] = [
        ("|b1", vec![1], 1.0),
        ("|i1", vec![0xfe], -2.0),
        ("|u1", vec![0xfe], 254.0),
        ("<i2", (-300i16).to_le_bytes().into(), -300.0),
        (">i2", (-300i16).to_be_bytes().into(), -300.0),
        ("<u2", 65_000u16.to_le_bytes().into(), 65_000.0),
        (">u2", 65_000u16.to_be_bytes().into(), 65_000.0),
        ("<i4", (-70_000i32).to_le_bytes().into(), -70_000.0),
        (">i4", (-70_000i32).to_be_bytes().into(), -70_000.0),
        ("<u4", u32::MAX.to_le_bytes().into(), f64::from(u32::MAX)),
        ("<i8", (-5i64).to_le_bytes().into(), -5.0),
        (">i8", (-5i64).to_be_bytes().into(), -5.0),
        (">u8", 5u64.to_be_bytes().into(), 5.0),
        ("<f4", 0.1f32.to_le_bytes().into(), f64::from(0.1f32)),
        (">f4", 0.1f32.to_be_bytes().into(), f64::from(0.1f32)),
        ("<f8", 0.1f64.to_le_bytes().into(), 0.1),
        (">f8", 0.1f64.to_be_bytes().into(), 0.1),
    ];
    for (descr, data, value) in cases {
        let read = samples(&array(descr, "False", "(1, 1)", &data), Layout::Auto).unwrap();
        assert_eq!(read[(0, 0)], value, "{descr}");
    }
}

#[test]
fn orders_layouts_and_stacks_of_images_are_told_apart() {
    let data: Vec<u8> = (0..6).collect();
    let read = |order, shape, layout| samples(&array("|u1", order, shape, &data), layout).unwrap();
    let c_order = Mat::from_fn(3, 2, |t, i| (3 * i + t) as f64);
    assert_eq!(read("False", "(2, 3)", Layout::Auto), c_order);
    assert_eq!(read("False", "(2, 3)", Layout::Columns), c_order.transpose());
    assert_eq!(read("True", "(2, 3)", Layout::Rows), Mat::from_fn(3, 2, |t, i| (2 * t + i) as f64));
    assert_eq!(read("False", "(6,)", Layout::Auto), Mat::from_fn(1, 6, |_, i| i as f64));
    assert_eq!(read("False", "(1, 2, 3)", Layout::Auto), Mat::from_fn(6, 1, |t, _| t as f64));
    // (h, w, N)
    assert_eq!(read("False", "(1, 2, 3)", Layout::Columns), c_order.transpose());
    // NumPy writes what lies in Fortran order; features are flattened in C order all the same
    let stack = read("True", "(1, 2, 3)", Layout::Auto);
    assert_eq!(stack.col_as_slice(0), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
}

#[test]
fn versions_and_spellings_of_the_header_are_read() {
    for (version, text) in [
        (1, "{'descr': '<u1', 'fortran_order': False, 'shape': (1, 2), }"),
        (2, "{\"shape\": (1L, 2L), \"descr\": \"|u1\", \"fortran_order\": False}\n"),
        (3, "{'descr':'|u1','fortran_order':False,'shape':(1,2)}"),
    ] {
        let read = samples(&file(version, text, &[3, 4]), Layout::Auto).unwrap();
        assert_eq!(read.col_as_slice(0), [3.0, 4.0]);
    }
}

#[test]
fn hostile_headers_are_refused_before_memory_is_taken() {
    let claims = |shape| fault(&array("<f8", "False", shape, &[0; 8]));
    assert!(claims("(2, 1)").contains("8 bytes follow"));
    assert!(claims("(4611686018427387904, 4)").contains("claims shape"));
    assert!(claims("(18446744073709551615, 18446744073709551615)").contains("claims shape"));
    assert!(claims("(99999999999999999999, 1)").contains("is not one of an array"));
    assert!(claims("(-1, 1)").contains("is not one of an array"));
    assert!(claims("()").contains("holds no sample"));
    assert!(fault(&array("<f8", "False", "(0, 3)", &[])).contains("holds no sample"));
    for descr in ["|O", "<c16", "<f2", "<i3", "<f", "f8", "<U99999999999999999999", "é8", "<é8", ""]
    {
        assert!(fault(&array(descr, "False", "(1, 1)", &[0; 8])).contains("type"), "{descr}");
    }
    assert!(fault(&file(7, "{}", &[])).contains("version 7.0"));
    assert!(fault(&file(2, &"x".repeat(10), &[])[..15]).contains("cut off"));
    assert!(fault(b"PK\x03\x04").contains("first bytes"));
    assert!(fault(&array("<U1", "False", "(1, 1)", &[0; 4])).contains("texts"));
}

#[test]
fn texts_and_numbers_become_labels() {
    let labels = |bytes: &[u8]| {
        let file = Path::new("y.npy");
        Array::parse(bytes, file).and_then(|array| array.labels(file))
    };
    let ucs4: Vec<u8> = "é\0ab".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let text = labels(&array("<U2", "False", "(2,)", &ucs4)).unwrap();
    assert_eq!(text.names().collect::<Vec<_>>(), ["é", "ab"]);
    let ascii = labels(&array("|S2", "False", "(2, 1)", b"b\0ab")).unwrap();
    assert_eq!(ascii.names().collect::<Vec<_>>(), ["b", "ab"]);
    let wide = labels(&array("<i8", "False", "(1,)", &i64::MIN.to_le_bytes())).unwrap();
    assert_eq!(wide.class_names, [i64::MIN.to_string()]);
    assert!(labels(&array("|u1", "False", "(2, 2)", &[0; 4])).is_err());
    assert!(labels(&array("<f4", "False", "(1,)", &f32::NAN.to_le_bytes())).is_err());
}

#[test]
fn labels_are_a_column_or_another_file() {
    let scratch = Scratch::new("npy-labels");
    let path = scratch.file("x.npy", &array("|u1", "False", "(2, 3)", &[1, 7, 2, 3, 9, 4]));
    let plain = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((plain.name.as_str(), plain.labels), ("x", None));
    let with = |label: &str| {
        crate::read(&path, &ReadOptions { label: Some(label.into()), ..ReadOptions::default() })
    };
    assert_eq!(with("-2").unwrap(), with("1").unwrap());
    let column = with("1").unwrap();
    assert_eq!(column.labels.unwrap().class_names, ["7", "9"]);
    assert_eq!(column.samples.col_as_slice(1), [3.0, 4.0]);
    let labels = scratch.file("y.npy", &array("|u1", "False", "(2,)", &[5, 5]));
    assert_eq!(with(labels.to_str().unwrap()).unwrap().labels.unwrap().class_names, ["5"]);
    assert!(with("3").unwrap_err().to_string().contains("label column 3"));
    assert!(with("/no/such.npy").is_err());
}

#[test]
fn stacks_of_images_keep_their_shape() {
    let scratch = Scratch::new("npy-stack");
    let stack = array("|u1", "False", "(2, 3, 1)", &[0; 6]);
    let path = scratch.file("x.npy", &stack);
    let shape = |layout| {
        let options = ReadOptions { layout, ..ReadOptions::default() };
        read(&path, &options).unwrap().image_shape
    };
    assert_eq!((shape(Layout::Auto), shape(Layout::Columns)), (Some((3, 1)), Some((2, 3))));
    let flat = scratch.file("y.npy", &array("|u1", "False", "(2, 3)", &[0; 6]));
    assert_eq!(read(&flat, &ReadOptions::default()).unwrap().image_shape, None);
}

#[test]
fn what_is_written_is_read_back() {
    let samples_in = Mat::from_fn(3, 2, |t, i| -0.1 * (3 * i + t) as f64);
    let table = Table::new("x", samples_in.clone(), None).unwrap();
    let mut bytes = Vec::new();
    write(&mut bytes, &table).unwrap();
    assert_eq!(bytes.len(), 128 + 8 * 6);
    assert_eq!(samples(&bytes, Layout::Auto).unwrap(), samples_in);
    let labelled = Table { labels: Some(Labels::from_texts(&["a", "b"])), ..table };
    assert!(write(&mut Vec::new(), &labelled).unwrap_err().to_string().contains("npz"));
}
