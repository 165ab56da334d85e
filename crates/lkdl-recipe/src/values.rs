//! Values of options that are more than a number: `auto`, `20%`, `0.5median`, `4GB`.

use lkdl::map::{Indefinite, Variant};
use lkdl::sampling::LandmarkCount;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// A count, or what the data suggest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// From the data.
    Auto,
    /// As given.
    Exact(usize),
}

impl Count {
    /// The count, if one was given.
    pub fn exact(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::Exact(count) => Some(count),
        }
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Exact).map_err(|_| "must be a count or `auto`".into()),
        }
    }
}

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exact(count) => count.fmt(f),
        }
    }
}

/// `auto`, a count, or a share of the samples such as `20%`.
pub fn landmarks(text: &str) -> Result<LandmarkCount, String> {
    let wrong = || "must be `auto`, a count, or a share such as 20%".to_string();
    if text == "auto" {
        return Ok(LandmarkCount::default());
    }
    match text.strip_suffix('%') {
        Some(percent) => {
            let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
            Ok(LandmarkCount::Share(percent / 100.0))
        }
        None => text.parse().map(LandmarkCount::Exact).map_err(|_| wrong()),
    }
}

/// What [`landmarks`] reads.
pub(crate) fn landmarks_text(count: LandmarkCount) -> String {
    match count {
        LandmarkCount::Exact(count) => count.to_string(),
        LandmarkCount::Share(share) => format!("{}%", 100.0 * share),
        LandmarkCount::Auto { .. } => "auto".into(),
    }
}

/// The width of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// As given.
    Value(f64),
    /// This multiple of the median distance between samples.
    Median(f64),
}

impl FromStr for Width {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a number, `median`, or a multiple such as 0.5median".to_string();
        let (number, of_median) = match text.strip_suffix("median") {
            Some("") => return Ok(Self::Median(1.0)),
            Some(factor) => (factor, true),
            None => (text, false),
        };
        let value: f64 = number.trim().parse().map_err(|_| wrong())?;
        if !(value > 0.0 && value.is_finite()) {
            return Err("must be above 0".into());
        }
        Ok(if of_median { Self::Median(value) } else { Self::Value(value) })
    }
}

impl Display for Width {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(width) => width.fmt(f),
            Self::Median(factor) if *factor == 1.0 => f.write_str("median"),
            Self::Median(factor) => write!(f, "{factor}median"),
        }
    }
}

/// A memory budget: bytes, or with a unit such as `512MB` or `4GB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be bytes, or a size such as 512MB or 4GB".to_string();
        let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let scale = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1048576.0,
            "gib" => 1073741824.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        Ok(Self((number * scale) as u64))
    }
}

/// `standard`, `cholesky` or `optimal`.
pub fn variant(text: &str) -> Result<Variant, String> {
    match text {
        "standard" => Ok(Variant::Standard),
        "cholesky" => Ok(Variant::Cholesky),
        "optimal" => Ok(Variant::Optimal),
        _ => Err("must be standard, cholesky or optimal".into()),
    }
}

/// What [`variant`] reads.
pub(crate) fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::Standard => "standard",
        Variant::Cholesky => "cholesky",
        Variant::Optimal => "optimal",
    }
}

/// `reject`, `clip`, `flip` or `shift`.
pub fn indefinite(text: &str) -> Result<Indefinite, String> {
    match text {
        "reject" => Ok(Indefinite::Reject),
        "clip" => Ok(Indefinite::Clip),
        "flip" => Ok(Indefinite::Flip),
        "shift" => Ok(Indefinite::Shift),
        _ => Err("must be reject, clip, flip or shift".into()),
    }
}

/// What [`indefinite`] reads.
pub(crate) fn indefinite_name(policy: Indefinite) -> &'static str {
    match policy {
        Indefinite::Reject => "reject",
        Indefinite::Clip => "clip",
        Indefinite::Flip => "flip",
        Indefinite::Shift => "shift",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_shares_and_widths_are_read() {
        assert_eq!("auto".parse(), Ok(Count::Auto));
        assert_eq!("12".parse(), Ok(Count::Exact(12)));
        assert!("-1".parse::<Count>().is_err());
        assert_eq!(landmarks("20%"), Ok(LandmarkCount::Share(0.2)));
        assert_eq!(landmarks("256"), Ok(LandmarkCount::Exact(256)));
        assert!(landmarks("many").is_err() && landmarks("x%").is_err());
        assert_eq!("median".parse(), Ok(Width::Median(1.0)));
        assert_eq!("0.5median".parse(), Ok(Width::Median(0.5)));
        assert_eq!("3e-1".parse(), Ok(Width::Value(0.3)));
        for bad in ["0", "-1median", "nan", "inf", "medium"] {
            assert!(bad.parse::<Width>().is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!("4GB".parse(), Ok(Bytes(4_000_000_000)));
        assert_eq!("1.5 MiB".parse(), Ok(Bytes(1_572_864)));
        assert_eq!("100".parse(), Ok(Bytes(100)));
        assert!("4XB".parse::<Bytes>().is_err() && "GB".parse::<Bytes>().is_err());
    }
}
