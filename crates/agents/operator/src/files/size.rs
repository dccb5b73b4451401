//! Reads and writes sizes of files as people do.

use serde::Deserialize;

/// Is a number of bytes, given as a number or as a text such as "500 KB" or "1GiB".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "SizeArgument")]
pub(super) struct ByteSize(pub(super) u64);

#[derive(Deserialize)]
#[serde(untagged)]
enum SizeArgument {
    Number(u64),
    Text(String),
}

impl TryFrom<SizeArgument> for ByteSize {
    type Error = String;

    fn try_from(argument: SizeArgument) -> Result<Self, String> {
        match argument {
            SizeArgument::Number(bytes) => Ok(Self(bytes)),
            SizeArgument::Text(text) => parse_size(&text).map(Self).ok_or_else(|| {
                format!("{text:?} is not a size; write it as \"500 KB\", \"1GiB\" or in bytes")
            }),
        }
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => 1,
        "k" | "kb" => 1_000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        "t" | "tb" => 1_000_000_000_000,
        "tib" => 1 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // Further digits are less than a byte of any unit.
    let fraction = &fraction[..fraction.len().min(12)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction = u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit) / scale;
    whole.checked_mul(unit)?.checked_add(u64::try_from(fraction).ok()?)
}

/// Returns a size as people write it: "1 byte", "12.3 kB", "4 GB".
pub(super) fn format_size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let Some((name, unit)) = UNITS.into_iter().find(|(_, unit)| bytes >= *unit) else {
        return crate::sentence::count_with_noun(bytes, "byte", "bytes");
    };
    match (bytes / unit, bytes % unit * 10 / unit) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("12 bytes", 12),
            ("1mb", 1_000_000),
            ("500 KB", 500_000),
            ("1GiB", 1 << 30),
            ("1.5 GB", 1_500_000_000),
            (".5k", 500),
            ("2.5 MiB", 2_621_440),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in
            ["", "big", "1 parsec", "-1", "1.2.3 MB", "99999999999999999999", "17000000 TiB"]
        {
            assert_eq!(parse_size(text), None, "{text}");
        }
        assert_eq!(serde_json::from_str::<ByteSize>("7").unwrap(), ByteSize(7));
        assert_eq!(serde_json::from_str::<ByteSize>("\"1 kib\"").unwrap(), ByteSize(1024));
        let error = serde_json::from_str::<ByteSize>("\"huge\"").unwrap_err().to_string();
        assert!(error.starts_with("\"huge\" is not a size; write it as"), "{error}");
    }

    #[test]
    fn sizes_are_written_with_one_digit_after_the_point() {
        for (bytes, text) in [
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1 kB"),
            (12_345, "12.3 kB"),
            (64_000_000, "64 MB"),
            (1_900_000_000, "1.9 GB"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }
}
