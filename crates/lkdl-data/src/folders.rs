//! Where named sets are looked for: the folder given, that of [`DATA_DIR`], the platform's.

use crate::error::DataError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable that names the directory of data.
pub const DATA_DIR: &str = "LKDL_DATA_DIR";

/// The directory that [`DATA_DIR`] names.
pub fn data_dir() -> Result<PathBuf, DataError> {
    variable(DATA_DIR).map(PathBuf::from).ok_or(DataError::NoDataDir)
}

/// The platform's folder for the data of this program: `$XDG_DATA_HOME/lkdl` or
/// `~/.local/share/lkdl`, `~/Library/Application Support/lkdl` on macOS, `%APPDATA%\lkdl` on
/// Windows. It need not be there yet.
pub fn platform_data_dir() -> Option<PathBuf> {
    platform_folder(variable)
}

/// The folders to look in, in that order.
pub fn data_dirs(given: Option<&Path>) -> Vec<PathBuf> {
    let given = given.map(PathBuf::from);
    given.into_iter().chain(data_dir().ok()).chain(platform_data_dir()).collect()
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn platform_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let home = || variable("HOME").map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("APPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        // a relative path is to be ignored, says the XDG specification
        let given = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| home().map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("lkdl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_platform_folder_follows_the_xdg_rules() {
        let with = |pairs: &[(&str, &str)]| {
            platform_folder(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            })
        };
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.local/share/lkdl".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Some("/x/lkdl".into()));
        let relative = with(&[("HOME", "/h"), ("XDG_DATA_HOME", "x")]);
        assert_eq!(relative, Some("/h/.local/share/lkdl".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn the_folder_given_comes_first() {
        assert_eq!(data_dirs(Some(Path::new("/given")))[0], Path::new("/given"));
    }
}
