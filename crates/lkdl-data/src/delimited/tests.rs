use super::*;
use crate::options::Header;

fn options(label: &str) -> ReadOptions {
    ReadOptions { label: Some(label.into()), ..ReadOptions::default() }
}

fn read_with(text: &str, options: &ReadOptions) -> Result<Table, DataError> {
    read_from(text.as_bytes(), Path::new("t.csv"), ',', options)
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
fn a_header_of_numbers_is_no_sample() {
    let table = read_plain("0,1,2,label\n5,7,9,a\n6,8,0,b\n").unwrap();
    assert_eq!((table.n_samples(), names(&table)), (2, vec!["a", "b"]));
    assert_eq!(table.feature_names.unwrap(), ["0", "1", "2"]);
    let with = |text, header| {
        let options = ReadOptions { header, ..ReadOptions::default() };
        read_with(text, &options)
    };
    let table = with("5,7\n1,2\n3,4\n", Header::Yes).unwrap();
    assert_eq!(
        (table.n_samples(), table.feature_names.unwrap()),
        (2, vec!["5".into(), "7".into()])
    );
    let table = with("0,1,2\n5,7,1\n", Header::No).unwrap();
    assert_eq!((table.n_samples(), table.feature_names), (2, None));
    assert!(with("a,b\n1,2\n", Header::No).unwrap_err().to_string().contains("line 1: column 0"));
}

#[test]
fn features_keep_their_names() {
    let table = read_plain("u,class,v w\n1,x,2\n3,y,4\n").unwrap();
    assert_eq!(table.feature_names.as_deref().unwrap(), ["u", "v w"]);
    assert_eq!(unlabelled("u,label\n1,2\n3,4\n").feature_names.unwrap(), ["u", "label"]);
    // the last column is a feature after all
    assert_eq!(read_plain("u,v\n1,2\n").unwrap().feature_names.unwrap(), ["u", "v"]);
    assert_eq!(read_plain("1,2\n").unwrap().feature_names, None);
    for twice in ["u,u,label\n1,2,x\n", "label,u,label\n1,2,x\n"] {
        let error = read_plain(twice).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "two columns are called {:?}",
                &twice[..twice.find(',').unwrap()]
            )),
            "{error}"
        );
    }
    for names in [["a;b", "#c"], ["a \"b\"", "y"], ["f1", "f0"], ["0", "1"]] {
        let names: Vec<String> = names.map(String::from).into();
        let table = Table { feature_names: Some(names), ..table.clone() };
        let mut bytes = Vec::new();
        write(&mut bytes, &table, b',').unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let back = read_plain(&text).unwrap();
        assert_eq!((&back.feature_names, &back.labels), (&table.feature_names, &table.labels));
    }
    let written = |names: [&str; 2], labels: Option<&Labels>| {
        let names: Vec<String> = names.map(String::from).into();
        let table = Table { feature_names: Some(names), labels: labels.cloned(), ..table.clone() };
        write(&mut Vec::new(), &table, b',').map_err(|error| error.to_string())
    };
    let labels = table.labels.as_ref();
    assert!(written(["a", "LABEL"], labels).unwrap_err().contains("feature name is \"LABEL\""));
    assert!(written(["a", " b"], labels).unwrap_err().contains("no blank"));
    assert!(written(["5", "7"], None).unwrap_err().contains("to be told from values"));
    assert!(written(["a", "LABEL"], None).is_ok());
}

#[test]
fn separators_and_comments_are_found_out() {
    let expected = read_plain("1,2,x\n3,4,y\n").unwrap();
    for text in [
        "1;2;x\n3;4;y\n",
        "1\t2\tx\n3\t4\ty\n",
        "1 2 x\n3  4 y\n",
        "# u, v\n1,2,x\n\n# more\n3,4,y\n",
    ] {
        assert_eq!(read_plain(text).unwrap(), expected, "{text:?}");
    }
    assert_eq!(names(&read_plain("a;b;class\n1;2;x\n").unwrap()), ["x"]);
}

#[test]
fn an_index_without_a_name_is_left_out() {
    let table = read_plain(",a,label\n0,1,x\n1,2,y\n").unwrap();
    assert_eq!(
        (table.feature_names.as_deref().unwrap(), names(&table)),
        (&["a".into()][..], vec!["x", "y"])
    );
    assert_eq!(table.samples, Mat::from_fn(1, 2, |_, i| (i + 1) as f64));
    // a text is passed over as well; the label it is if that is asked for
    assert_eq!(read_plain(",a\nrow,1\n").unwrap().n_features(), 1);
    assert_eq!(names(&read_with(",a\nrow,1\n", &options("0")).unwrap()), ["row"]);
}

#[test]
fn a_line_that_never_ends_is_refused() {
    let endless = std::io::BufReader::new(std::io::repeat(b'1'));
    let error = read_from(endless, Path::new("t"), ',', &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("line 1: longer than"), "{error}");
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
        ("a,,label\n0,1,x\n", "column 1 has no name"),
        ("\n1,\"2,x\n3,4,y\n", "line 2: a quote is opened and never closed"),
        ("1,5;2,5;x\n1,0;2,0;y\n", "\"1,0\" is not a finite number; write decimals with a point"),
        ("a;b;label\n1;2,5;x\n", "\"2,5\" is not a finite number; write decimals with a point"),
        ("a,b,label\n", "a header and no sample"),
        ("", "no line"),
        ("\n\n", "no line"),
        ("1|2|x\n3|4|y\n", "\"3|4|y\" is not a finite number; there is one column"),
        ("label\n1\n", "one column"),
    ] {
        let message = fault_of(text);
        assert!(message.contains(fault), "{text:?} gives {message}");
    }
    let latin = read_from(&b"1,2,x\n1,2,\xe9\n"[..], Path::new("t"), ',', &ReadOptions::default());
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
            let (options, usual) = (ReadOptions::default(), char::from(separator));
            let read = read_from(&bytes[..], Path::new("t"), usual, &options).unwrap();
            assert_eq!(read.checksum(), table.checksum());
            assert_eq!(Table { feature_names: None, ..read }, table);
        }
    }
    for bad in ["", " a", "NaN"] {
        let labels = Some(Labels::from_texts(&["a", bad]));
        let table = Table::new("t", samples.clone(), labels).unwrap();
        assert!(write(&mut Vec::new(), &table, b',').is_err(), "{bad:?}");
    }
}
