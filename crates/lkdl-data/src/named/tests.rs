//! Named sets against what is known of their files.

use super::*;
use crate::folders::{DATA_DIR, data_dir};

/// The real files, or `None` with a note where they are not at hand.
fn real(set: NamedSet) -> Option<TrainTest> {
    let Ok(directory) = data_dir() else {
        println!("{DATA_DIR} is not set: the check of {set} against its files did not run");
        return None;
    };
    Some(set.load(&directory).unwrap())
}

/// Test samples whose nearest training sample (Euclidean) has another label.
fn nearest_neighbour_errors(set: &TrainTest) -> usize {
    let products = set.train.samples.transpose() * &set.test.samples;
    let sq_norms: Vec<f64> =
        (0..set.train.n_samples()).map(|j| set.train.samples.col(j).squared_norm_l2()).collect();
    let wrong = (0..set.test.n_samples()).filter(|&i| {
        let distances = products.col_as_slice(i).iter().zip(&sq_norms).map(|(xy, y)| y - 2.0 * xy);
        let nearest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        set.train.labels[nearest] != set.test.labels[i]
    });
    wrong.count()
}

#[test]
fn usps_is_the_known_set() {
    let Some(set) = real(NamedSet::Usps) else { return };
    assert_eq!(set.train.class_counts(), [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]);
    assert_eq!(set.test.class_counts(), [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]);
    assert_eq!((set.train.n_features(), set.test.n_features()), (256, 256));
    assert_eq!(set.train.class_names, ten_digits());
    let (mut lowest, mut highest) = (f64::MAX, f64::MIN);
    for i in 0..set.train.n_samples() {
        for &v in set.train.samples.col_as_slice(i) {
            (lowest, highest) = (lowest.min(v), highest.max(v));
        }
    }
    assert!(lowest >= -1.0 && highest <= 1.0 && lowest < -0.99 && highest > 0.99);
    // 4.98 % of 2,007
    assert_eq!(nearest_neighbour_errors(&set), 100);
}

#[test]
fn mnist_is_the_known_set() {
    let Some(set) = real(NamedSet::Mnist) else { return };
    let train = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
    assert_eq!(set.train.class_counts(), train);
    let test = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009];
    assert_eq!(set.test.class_counts(), test);
    assert_eq!((set.train.n_features(), set.test.n_features()), (784, 784));
    assert_eq!(set.train.image_shape, Some((28, 28)));
    let sum: f64 = (0..60_000).map(|i| set.train.samples.col_as_slice(i).iter().sum::<f64>()).sum();
    assert!((sum / (784.0 * 60_000.0) - 33.3184).abs() < 5e-5);
}

#[test]
fn a_missing_file_is_named_with_the_place_it_was_looked_for() {
    for (set, file) in
        [(NamedSet::Usps, "usps/usps.bz2"), (NamedSet::Mnist, "mnist/train-images-idx3-ubyte.gz")]
    {
        let message = set.load(Path::new("/no/such/place")).unwrap_err().to_string();
        assert!(message.contains(file) && message.contains("/no/such/place"), "{message}");
    }
}

#[test]
fn names_are_read_back_as_written() {
    for set in NamedSet::ALL {
        assert_eq!(set.to_string().parse::<NamedSet>().unwrap(), set);
    }
    let error = "uspz".parse::<NamedSet>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "data set is \"uspz\", but must be one of usps, usps-esl, mnist, yaleb, ar"
    );
}

#[test]
fn usps_as_the_book_gives_it_is_the_known_set() {
    let Some(set) = real(NamedSet::UspsEsl) else { return };
    assert_eq!(set.train.class_counts(), [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]);
    assert_eq!(set.test.class_counts(), [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]);
    // 5.63 % of 2,007
    assert_eq!(nearest_neighbour_errors(&set), 113);
}

#[test]
fn a_whole_set_is_its_parts_one_after_the_other() {
    let Some(set) = real(NamedSet::Usps) else { return };
    let whole = NamedSet::Usps.table(None, data_dir().ok().as_deref()).unwrap();
    assert_eq!((whole.n_samples(), whole.n_features()), (7291 + 2007, 256));
    assert_eq!(whole.image_shape, Some((16, 16)));
    assert_eq!(whole.samples.col_as_slice(7291), set.test.samples.col_as_slice(0));
    let labels = whole.labels.unwrap();
    assert_eq!(labels.indices[..7291], set.train.labels);
    assert_eq!(labels.indices[7291..], set.test.labels);
}

#[test]
fn parts_and_folders_that_are_not_there_are_errors() {
    assert!(NamedSet::Ar.load(Path::new("/no")).is_err());
    let nowhere = NamedSet::Mnist.table(Some(Part::Test), Some(Path::new("/no/such/place")));
    // found all the same where the environment names a folder
    if let Err(error) = nowhere {
        assert!(error.to_string().contains("/no/such/place"), "{error}");
    }
    for part in Part::ALL {
        assert_eq!(part.to_string().parse::<Part>().unwrap(), part);
    }
    for set in NamedSet::ALL {
        assert!(set.files().iter().all(|file| file.sha256.len() == 64));
    }
}

/// A table of faces, or `None` with a note where the files are not at hand.
fn faces(set: NamedSet, part: Option<Part>) -> Option<Table> {
    let Ok(directory) = data_dir() else {
        println!("{DATA_DIR} is not set: the check of {set} against its files did not run");
        return None;
    };
    Some(set.table(part, Some(&directory)).unwrap())
}

#[test]
fn the_faces_are_the_known_sets() {
    for (set, part, p, n, classes) in [
        (NamedSet::YaleB, Some(Part::Train), 504, 1216, 38),
        (NamedSet::YaleB, Some(Part::Test), 504, 1198, 38),
        (NamedSet::YaleB, None, 504, 2414, 38),
        (NamedSet::Ar, None, 540, 2600, 100),
    ] {
        let Some(table) = faces(set, part) else { return };
        assert_eq!((table.n_features(), table.n_samples()), (p, n), "{set}");
        let set = table.into_dataset().unwrap();
        assert_eq!(
            (set.n_classes(), set.class_names[classes - 1].as_str()),
            (classes, &*classes.to_string())
        );
        // sorted by class in the file
        assert!(n == 2414 || set.labels.is_sorted());
    }
}
