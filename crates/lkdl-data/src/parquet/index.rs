//! The index that pandas stores among the columns: row numbers or names, not features.

use super::reader::ParquetFile;
use serde_json::Value;

/// The names of the columns that are an index: those that pandas notes in the file as such, and
/// those that have the names it gives to an index without one.
pub(super) fn columns(parquet: &ParquetFile<'_>) -> Vec<String> {
    let noted = parquet.pandas.map(noted).unwrap_or_default();
    let unnamed = parquet.columns.iter().map(|column| &column.name).filter(|name| is_unnamed(name));
    noted.into_iter().chain(unnamed.cloned()).collect()
}

/// `index_columns` of the note: names of columns, or objects for what is stored nowhere.
fn noted(note: &[u8]) -> Vec<String> {
    let Ok(note) = serde_json::from_slice::<Value>(note) else { return Vec::new() };
    let columns = note.get("index_columns").and_then(Value::as_array);
    let names = columns.into_iter().flatten().filter_map(Value::as_str);
    names.map(String::from).collect()
}

/// `__index_level_0__` and so on.
fn is_unnamed(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_known_by_their_note_or_their_name() {
        let note = br#"{"index_columns": ["id", {"kind": "range", "start": 0}], "columns": []}"#;
        assert_eq!(noted(note), ["id"]);
        for note in [&b""[..], b"{}", b"[1]", b"{\"index_columns\": 3}", b"\xff"] {
            assert!(noted(note).is_empty());
        }
        assert!(is_unnamed("__index_level_0__") && is_unnamed("__index_level_12__"));
        for name in ["__index_level___", "__index_level_x__", "index", "__index_level_0"] {
            assert!(!is_unnamed(name));
        }
    }
}
