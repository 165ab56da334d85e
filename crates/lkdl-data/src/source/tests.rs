use super::*;
use crate::scratch::Scratch;
use crate::{Labels, read, write};
use std::path::PathBuf;

/// Whole numbers, some of them zero, and labels that are not in their order.
fn table(n: usize) -> Table {
    let samples = Mat::from_fn(5, n, |t, i| ((7 * i + 3 * t) % 5) as f64 - (t % 2) as f64);
    let texts: Vec<String> = (0..n).map(|i| [10, 9, 2][i % 3].to_string()).collect();
    Table::new("t", samples, Some(Labels::from_texts(&texts))).unwrap()
}

fn open(
    paths: &[PathBuf],
    options: &ReadOptions,
    size: usize,
) -> Result<BlockSource<f64>, DataError> {
    let data: Vec<DataArgument> = paths.iter().cloned().map(DataArgument::File).collect();
    BlockSource::open(&data, None, options, size)
}

fn one(path: &Path, options: &ReadOptions, size: usize) -> Result<BlockSource<f64>, DataError> {
    open(&[path.into()], options, size)
}

/// The samples side by side, their class indices, the sizes of blocks.
type Pass = (Vec<f64>, Vec<usize>, Vec<usize>);

fn pass(source: &mut BlockSource<f64>) -> Result<Pass, LkdlError> {
    source.rewind()?;
    let (mut values, mut labels, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(block) = source.next_block()? {
        (0..block.samples.ncols()).for_each(|i| values.extend(block.samples.col_as_slice(i)));
        labels.extend(&block.labels);
        sizes.push(block.labels.len());
    }
    Ok((values, labels, sizes))
}

/// Two passes give what the whole table holds.
fn check(source: &mut BlockSource<f64>, whole: &Table) {
    let (values, first_labels, _) = pass(source).unwrap();
    let expected: Vec<f64> =
        (0..whole.n_samples()).flat_map(|i| whole.samples.col_as_slice(i).to_vec()).collect();
    assert_eq!(values, expected);
    let (names, classes) = source.settle();
    let labels = whole.labels.as_ref().unwrap();
    assert_eq!(names, labels.class_names);
    let indices: Vec<usize> = labels.indices.iter().map(|&i| i as usize).collect();
    assert_eq!(first_labels.iter().map(|&l| classes[l]).collect::<Vec<_>>(), indices);
    let (again, settled, _) = pass(source).unwrap();
    assert_eq!((again, settled), (values, indices));
}

#[test]
fn blocks_of_every_format_are_the_table_in_parts() {
    let scratch = Scratch::new("source-formats");
    let whole = table(23);
    for name in ["t.npz", "t.csv", "t.tsv.gz", "t.svm", "t.idx", "t.parquet"] {
        let path = scratch.0.join(name);
        write(&path, &whole, None, false).unwrap();
        let options = ReadOptions::default();
        let whole = read(&path, &options).unwrap();
        for size in [1, 4, 23, 100] {
            let mut source = one(&path, &options, size).unwrap();
            assert_eq!(source.n_features(), 5, "{name}");
            assert_eq!(source.feature_names(), whole.feature_names, "{name}");
            assert_eq!(source.index_base(), whole.index_base, "{name}");
            check(&mut source, &whole);
            let sizes = pass(&mut source).unwrap().2;
            assert!(sizes.iter().take(sizes.len() - 1).all(|n| *n == size), "{name}");
        }
    }
}

#[test]
fn an_array_has_its_labels_in_a_column_or_beside_it() {
    let scratch = Scratch::new("source-npy");
    let whole = table(11);
    let labels = whole.labels.clone().unwrap();
    let bare = Table { labels: None, ..whole.clone() };
    let path = scratch.0.join("x.npy");
    write(&path, &bare, None, false).unwrap();
    let lines: Vec<&str> = labels.names().collect();
    let text = scratch.file("y.txt", lines.join("\n").as_bytes());
    let column: Vec<f64> = lines.iter().map(|name| name.parse().unwrap()).collect();
    let array = Table::new("y", Mat::from_fn(1, 11, |_, i| column[i]), None).unwrap();
    let npy = scratch.0.join("y.npy");
    write(&npy, &array, None, false).unwrap();
    for labels in [&text, &npy] {
        let label = Some(labels.to_str().unwrap().to_string());
        let options = ReadOptions { label, ..ReadOptions::default() };
        check(&mut one(&path, &options, 4).unwrap(), &whole);
    }
    let options = ReadOptions { label: Some("2".into()), ..ReadOptions::default() };
    let whole = read(&path, &options).unwrap();
    check(&mut one(&path, &options, 4).unwrap(), &whole);
    let error = one(&path, &ReadOptions::default(), 4).err().unwrap();
    assert!(matches!(error, DataError::Unlabelled { .. }), "{error}");
    let short = Table::new("y", Mat::zeros(1, 10), None).unwrap();
    write(&npy, &short, None, true).unwrap();
    let label = Some(npy.to_str().unwrap().to_string());
    let options = ReadOptions { label, ..ReadOptions::default() };
    let error = open(&[scratch.0.join("x.npy")], &options, 4).err().unwrap().to_string();
    assert!(error.contains("10 labels for 11 samples"), "{error}");
}

#[test]
fn several_files_are_one_source_and_must_have_the_same_features() {
    let scratch = Scratch::new("source-files");
    let paths = ["a.csv", "b.csv"].map(|name| scratch.0.join(name));
    paths.iter().for_each(|path| write(path, &table(7), None, false).unwrap());
    let mut source = open(&paths, &ReadOptions::default(), 5).unwrap();
    let (values, labels, sizes) = pass(&mut source).unwrap();
    assert_eq!((values.len(), labels.len(), sizes), (70, 14, vec![5, 5, 4]));
    let other = Table::new("o", Mat::zeros(4, 2), Some(Labels::from_texts(&["1", "2"]))).unwrap();
    write(&paths[1], &other, None, true).unwrap();
    let error = open(&paths, &ReadOptions::default(), 5).err().unwrap().to_string();
    assert!(error.contains("b.csv: 4 features, where another file has 5"), "{error}");
    // one that leaves out zeros has as many as its neighbour
    let (a, b) = (scratch.file("a.svm", b"1 1:2\n2 3:4\n"), scratch.file("b.svm", b"2 2:5\n"));
    let (values, ..) = pass(&mut open(&[a, b], &ReadOptions::default(), 5).unwrap()).unwrap();
    assert_eq!(values, [2.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
}

#[test]
fn classes_are_named_as_in_tables_however_they_are_spelt() {
    let scratch = Scratch::new("source-names");
    let path = scratch.file("t.csv", b"f0,label\n1,10\n2,9.0\n3,+9\n4,1e1\n");
    let mut source = one(&path, &ReadOptions::default(), 3).unwrap();
    assert_eq!(pass(&mut source).unwrap().1, [0, 1, 2, 3]);
    let written = source.written_names().to_vec();
    assert_eq!(source.settle(), (vec!["9".into(), "10".into()], vec![1, 0, 0, 1]));
    // one that was settled before needs no first pass
    let mut source = one(&path, &ReadOptions::default(), 3).unwrap();
    source.settle_as(&written);
    assert_eq!(pass(&mut source).unwrap().1, [1, 0, 0, 1]);
    // nor is a name that it does not know let through
    let path = scratch.file("u.csv", b"f0,label\n1,10\n2,9.0\n3,+9\n4,11\n");
    let mut source = one(&path, &ReadOptions::default(), 3).unwrap();
    source.settle_as(&written);
    let error = pass(&mut source).unwrap_err().to_string();
    assert!(error.contains("class \"11\", which was not there in the first pass"), "{error}");
}

#[test]
fn files_that_change_between_or_within_passes_are_named() {
    let scratch = Scratch::new("source-changed");
    let whole = table(40);
    for name in ["t.npz", "t.csv", "t.svm", "t.idx", "t.parquet"] {
        let path = scratch.0.join(name);
        let fresh = || {
            write(&path, &whole, None, true).unwrap();
            one(&path, &ReadOptions::default(), 7).unwrap()
        };
        let refused = |error: LkdlError, text: &str| {
            assert!(matches!(error, LkdlError::SourceChanged { .. }), "{name}: {error}");
            assert!(error.to_string().contains(text), "{name}: {error}");
        };
        let mut source = fresh();
        assert!(pass(&mut source).is_ok(), "{name}");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        refused(pass(&mut source).unwrap_err(), "bytes, not");
        // while it is read: at the end of the pass at the latest
        let mut source = fresh();
        source.rewind().unwrap();
        source.next_block().unwrap();
        std::fs::write(&path, [&bytes[..], b"\n"].concat()).unwrap();
        let mut next = || loop {
            match source.next_block() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{name}: the change was not noticed"),
                Err(error) => break error,
            }
        };
        refused(next(), "bytes, not");
        let mut source = fresh();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        std::fs::File::open(&path).unwrap().set_modified(later).unwrap();
        refused(source.rewind().unwrap_err(), "it has been written to");
    }
    let (path, labels) = (scratch.0.join("x.npy"), scratch.0.join("y.npy"));
    write(&path, &Table { labels: None, ..whole }, None, true).unwrap();
    write(&labels, &Table::new("y", Mat::zeros(1, 40), None).unwrap(), None, true).unwrap();
    let label = Some(labels.to_str().unwrap().to_string());
    let options = ReadOptions { label, ..ReadOptions::default() };
    let mut source = one(&path, &options, 7).unwrap();
    std::fs::write(&labels, "").unwrap();
    let error = source.rewind().unwrap_err().to_string();
    assert!(error.contains("y.npy: it has 0 bytes"), "{error}");
}

#[test]
fn files_that_break_off_or_hold_what_is_no_number_are_named() {
    let scratch = Scratch::new("source-broken");
    let path = scratch.0.join("t.npz");
    write(&path, &table(40), None, false).unwrap();
    let npy = scratch.0.join("t.npy");
    write(&npy, &Table { labels: None, ..table(40) }, None, false).unwrap();
    let bytes = std::fs::read(&npy).unwrap();
    std::fs::write(&npy, &bytes[..bytes.len() - 50]).unwrap();
    let options = ReadOptions { label: Some("0".into()), ..ReadOptions::default() };
    let error = pass(&mut one(&npy, &options, 7).unwrap()).unwrap_err().to_string();
    assert!(error.contains("t.npy: ends after 38 of the 40 samples promised"), "{error}");
    std::fs::write(&npy, [&bytes[..], &[0; 8]].concat()).unwrap();
    let error = pass(&mut one(&npy, &options, 7).unwrap()).unwrap_err().to_string();
    assert!(error.contains("more than the 40 samples promised"), "{error}");
    let path = scratch.file("t.csv", b"f0,label\n1,a\nnan,b\n");
    let mut source = one(&path, &ReadOptions::default(), 1).unwrap();
    let error = pass(&mut source).unwrap_err().to_string();
    assert!(error.contains("t.csv, line 3: column 0 (f0): \"nan\" is not a finite"), "{error}");
    let path = scratch.file("u.csv", b"f0,f1\n1,2\n3,4\n");
    let error = one(&path, &ReadOptions::default(), 1).err().unwrap();
    assert!(matches!(error, DataError::Unlabelled { .. }), "{error}");
}

#[test]
fn a_fortran_array_of_samples_in_rows_is_refused_with_the_fix() {
    let scratch = Scratch::new("source-fortran");
    let head = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    (0..6).for_each(|v| bytes.extend(f64::from(v).to_le_bytes()));
    let path = scratch.file("x.npy", &bytes);
    let options = ReadOptions { label: Some("0".into()), ..ReadOptions::default() };
    let error = one(&path, &options, 2).err().unwrap().to_string();
    assert!(error.contains("numpy.ascontiguousarray"), "{error}");
    // its columns are next to each other
    let layout = crate::options::Layout::Columns;
    let options = ReadOptions { layout, ..options };
    let whole = read(&path, &options).unwrap();
    check(&mut one(&path, &options, 1).unwrap(), &whole);
}

#[test]
fn every_image_is_shifted_in_every_direction_once() {
    let images = Mat::from_fn(6, 4, |t, i| (1 + t + 10 * i) as f64);
    let texts = ["a", "b", "a", "c"];
    let images = Table::new("i", images, Some(Labels::from_texts(&texts))).unwrap();
    let shaped = images.clone().with_image_shape(Some((2, 3)));
    let all = |seed| pass(&mut BlockSource::shifted(shaped.clone(), seed, 5).unwrap()).unwrap();
    let (values, labels, sizes) = all(1);
    assert_eq!((sizes.len(), labels.len()), (8, 4 * SHIFTS));
    assert_eq!(all(1).0, values);
    assert_ne!(all(2).0, values, "another seed is another order");
    let mut found: Vec<Vec<f64>> = values.chunks(6).map(<[f64]>::to_vec).collect();
    let mut expected = Vec::new();
    for i in 0..4 {
        for down in -1i32..=1 {
            for right in -1i32..=1 {
                let pixel = |row: i32, column: i32| {
                    let inside =
                        (0..2).contains(&(row - down)) && (0..3).contains(&(column - right));
                    let place = 3 * (row - down) + column - right;
                    if inside { images.samples[(place as usize, i)] } else { 0.0 }
                };
                expected.push((0..6).map(|t| pixel(t / 3, t % 3)).collect::<Vec<f64>>());
            }
        }
    }
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(found, expected);
    assert!(BlockSource::<f64>::shifted(images, 1, 5).is_err(), "of unknown size");
}
