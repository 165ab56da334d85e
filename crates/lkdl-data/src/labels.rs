//! Class labels that a file writes as numbers, turned into indices.

use crate::error::DataError;

/// Labels as indices, and the name of every index.
#[derive(Debug, PartialEq)]
pub(crate) struct Indexed {
    pub(crate) labels: Vec<u32>,
    pub(crate) class_names: Vec<String>,
}

/// Why labels could not be indexed.
#[derive(Debug)]
pub(crate) enum LabelError {
    /// Sample `i` has a label that is not among the class names given.
    Unknown { i: usize },
    /// The class names given are not distinct numbers.
    Names(DataError),
}

/// Indices of `values` among `class_names`, which are compared as numbers ("1" is "1.0"); without
/// names, the distinct values in ascending order are the classes. All values are finite.
pub(crate) fn index_labels(
    values: &[f64],
    class_names: Option<&[String]>,
) -> Result<Indexed, LabelError> {
    let mut classes: Vec<(f64, u32)> = match class_names {
        Some(names) => numbered(names)?,
        None => values.iter().map(|v| (*v, 0)).collect(),
    };
    classes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let before = classes.len();
    // == and not the bits: 0 and −0 are one class
    classes.dedup_by(|a, b| a.0 == b.0);
    if class_names.is_none() {
        for (index, class) in classes.iter_mut().enumerate() {
            class.1 = index as u32;
        }
    } else if classes.len() < before {
        return Err(bad_names("a list with repeats", "distinct numbers"));
    }
    let labels = values.iter().enumerate().map(|(i, value)| {
        let place = classes.partition_point(|class| class.0 < *value);
        match classes.get(place) {
            Some(class) if class.0 == *value => Ok(class.1),
            _ => Err(LabelError::Unknown { i }),
        }
    });
    Ok(Indexed {
        labels: labels.collect::<Result<_, _>>()?,
        class_names: match class_names {
            Some(names) => names.to_vec(),
            // + 0.0: a lone −0 is written 0
            None => classes.iter().map(|class| (class.0 + 0.0).to_string()).collect(),
        },
    })
}

/// The largest whole number up to which `f64` tells all apart.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The number a label's text stands for. Not those that would not be written the same class:
/// infinities, whole numbers too large for `f64`, and codes such as "007".
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    if let [b'0', b'0'..=b'9', ..] = digits {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.abs() < MAX_INTEGER)
}

fn numbered(names: &[String]) -> Result<Vec<(f64, u32)>, LabelError> {
    let number = |(index, name): (usize, &String)| match name.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, index as u32)),
        _ => Err(bad_names(&format!("\"{name}\""), "numbers, as the labels in the file are")),
    };
    names.iter().enumerate().map(number).collect()
}

fn bad_names(value: &str, requirement: &str) -> LabelError {
    LabelError::Names(DataError::parameter("class_names", value, requirement))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn without_names_the_values_in_order_are_the_classes() {
        let indexed = index_labels(&[10.0, -1.0, 9.0, 10.0, 0.5], None).unwrap();
        assert_eq!(indexed.labels, [3, 0, 2, 3, 1]);
        assert_eq!(indexed.class_names, ["-1", "0.5", "9", "10"]);
        let zeros = index_labels(&[-0.0, 0.0, -0.0], None).unwrap();
        assert_eq!((zeros.labels, zeros.class_names), (vec![0, 0, 0], names(&["0"])));
    }

    #[test]
    fn given_names_fix_the_indices_even_of_absent_classes() {
        let given = names(&["7", "3.0", "1"]);
        let indexed = index_labels(&[1.0, 3.0], Some(&given)).unwrap();
        assert_eq!((indexed.labels, indexed.class_names), (vec![2, 1], given.clone()));
        let unknown = index_labels(&[7.0, 2.0], Some(&given));
        assert!(matches!(unknown, Err(LabelError::Unknown { i: 1 })));
        for bad in [names(&["1", "1.0"]), names(&["one"]), names(&["nan"])] {
            assert!(matches!(index_labels(&[1.0], Some(&bad)), Err(LabelError::Names(_))));
        }
    }
}
