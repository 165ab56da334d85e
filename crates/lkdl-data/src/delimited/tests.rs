use super::*;

fn options(label: &str) -> ReadOptions {
    ReadOptions { label: Some(label.into()), ..ReadOptions::default() }
}

fn read_with(text: &str, options: &ReadOptions) -> Result<Table, DataError> {
    read_from(text.as_bytes(), Path::new("t.csv"), b',', options)
}

fn read_plain(text: &str) -> Result<Table, DataError> {
    read_with(text, &ReadOptions::default())
}

fn unlabelled(text: &str) -> Table {
    let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    read_with(text, &options).unwrap()
}

fn names(table: &Table) -> Vec<&str> {
    table.labels.iter().flat_map(Labels::names).collect()
}

fn fault_of(text: &str) -> String {
    read_plain(text).unwrap_err().to_string()
}

#[test]
fn a_header_and_its_label_column_are_found() {
    let table = read_plain("\u{feff}a, Class ,b\r\n1,x,2\r\n\r\n3,\"y, z\",4\r\n").unwrap();
    assert_eq!(table.name, "t");
    assert_eq!(table.samples, Mat::from_fn(2, 2, |t, i| (2 * i + t + 1) as f64));
    assert_eq!(names(&table), ["x", "y, z"]);
}

#[test]
fn the_label_column_is_the_one_asked_for() {
    let text = "a,b,label\n1,2,3\n4,5,6\n";
    assert_eq!(names(&read_with(text, &options("a")).unwrap()), ["1", "4"]);
    assert_eq!(names(&read_with(text, &options("1")).unwrap()), ["2", "5"]);
    assert_eq!(names(&read_with(text, &options("-1")).unwrap()), ["3", "6"]);
    assert_eq!(unlabelled(text).n_features(), 3);
    let missing = read_with(text, &options("d")).unwrap_err().to_string();
    assert!(missing.contains("no label column d in the columns a, b, label"), "{missing}");
    assert!(read_with(text, &options("3")).is_err());
    assert!(read_with("1,2\n3,4\n", &options("x")).is_err());
    // a text label in front of a file without header
    let first = read_with("cat,1,2\ndog,3,4\n", &options("0")).unwrap();
    assert_eq!((names(&first), first.n_samples()), (vec!["cat", "dog"], 2));
}

#[test]
fn the_last_column_is_the_label_only_by_the_rules() {
    // a text
    assert_eq!(names(&read_plain("1,2,cat\n3,4,dog\n").unwrap()), ["cat", "dog"]);
    assert_eq!(names(&read_plain("a,b,kind\n3,4,dog\n").unwrap()), ["dog"]);
    // few whole numbers, no header
    assert_eq!(names(&read_plain("1,2,0\n3,4,1.0\n5,6,1\n7,8,0\n").unwrap()), ["0", "1", "1", "0"]);
    // an only column is a feature
    assert_eq!(read_plain("a\n1\n2\n").unwrap().n_features(), 1);
    assert_eq!(read_plain("0\n1\n1\n0\n").unwrap().n_features(), 1);
    // none: a header that does not say so, one kind, too many kinds, not whole
    for text in [
        "a,b,c\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n",
        "1,2,0\n3,4,0\n",
        "1,2,0\n3,4,1\n5,6,2\n",
        "1,2,0.5\n3,4,1\n5,6,1\n7,8,0\n",
    ] {
        let table = read_plain(text).unwrap();
        assert_eq!((table.n_features(), table.labels), (3, None), "{text}");
    }
}

#[test]
fn every_bad_cell_is_named_by_line_and_column() {
    for (text, fault) in [
        ("a,b,label\n1,,x\n", "t.csv, line 2: column 1 (b): the cell is empty"),
        ("1,2,x\n1,NaN,x\n", "line 2: column 1: \"NaN\" is not a finite number"),
        ("1,2,x\n\n1,1e999,x\n", "line 3: column 1: \"1e999\" is not a finite number"),
        ("1,2,x\r\n\r\n1,nan,x\r\n", "line 3: column 1: \"nan\""),
        ("1,2,\"x\ny\"\n1,2,z\n1,nan,x", "line 4: column 1: \"nan\""),
        ("a,b,label\n1,2,x\n1,inf,x\n", "line 3: column 1 (b): \"inf\""),
        ("1,2,x\n1,2\n", "line 2: 2 cells, where the first line has 3"),
        ("1,2,x\n1,2,3,4\n", "line 2: 4 cells"),
        ("a,b,label\n1,2,\n", "line 2: column 2 (label): the label is missing"),
        ("a,b,label\n1,2,nan\n", "the label is missing"),
        ("1,2,x\n1,2,\n", "column 2: the label of sample 1 is missing"),
        (",a,label\n0,1,x\n", "column 0 has no name"),
        ("a,b,label\n", "a header and no sample"),
        ("", "no line"),
        ("\n\n", "no line"),
        ("1;2;x\n3;4;y\n", "\"3;4;y\" is not a finite number; there is one column"),
        ("label\n1\n", "one column"),
    ] {
        let message = fault_of(text);
        assert!(message.contains(fault), "{text:?} gives {message}");
    }
    let latin = read_from(&b"1,2,x\n1,2,\xe9\n"[..], Path::new("t"), b',', &ReadOptions::default());
    assert!(latin.unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn what_is_written_is_read_back_bit_for_bit() {
    let values = [0.1, -0.0, 5e-324, f64::MAX, 1e15, 1.0 / 3.0, -12345678.9, 1e16];
    let samples = Mat::from_fn(4, 2, |t, i| values[4 * i + t]);
    for labels in [None, Some(Labels::from_texts(&["a \"b\", c", "d\ne"]))] {
        for separator in [b',', b'\t'] {
            let table = Table::new("t", samples.clone(), labels.clone()).unwrap();
            let mut bytes = Vec::new();
            write(&mut bytes, &table, separator).unwrap();
            let read = read_from(&bytes[..], Path::new("t"), separator, &ReadOptions::default());
            let read = read.unwrap();
            assert_eq!(read.checksum(), table.checksum());
            assert_eq!(read, table);
        }
    }
    for bad in ["", " a", "NaN"] {
        let labels = Some(Labels::from_texts(&["a", bad]));
        let table = Table::new("t", samples.clone(), labels).unwrap();
        assert!(write(&mut Vec::new(), &table, b',').is_err(), "{bad:?}");
    }
}
