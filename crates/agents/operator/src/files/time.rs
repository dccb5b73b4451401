//! Reads and writes the times at which files were changed.

use cap_std::fs::Metadata;
use jiff::civil::DateTime;
use jiff::{Span, Timestamp, ToSpan as _, Zoned};
use serde::Deserialize;

/// Returns the time of the last change, unless the system does not know it.
pub(super) fn read_modified_time(metadata: &Metadata) -> Option<Timestamp> {
    metadata.modified().ok().and_then(|time| Timestamp::try_from(time.into_std()).ok())
}

/// Returns the time of the last change in UTC, to the second; empty if the system does not know it.
pub(super) fn format_modified_time(metadata: &Metadata) -> String {
    read_modified_time(metadata).map(format_time).unwrap_or_default()
}

/// Returns a time in UTC, to the second.
pub(super) fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Is a point in time, given as a date, a time, or the age that it has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PointInTime(pub(super) Timestamp);

impl TryFrom<String> for PointInTime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_time(&text, &Zoned::now()).map(Self).ok_or_else(|| {
            format!(
                "{text:?} is not a time; write a date such as 2026-11-01, a time such as \
                 2026-11-01T09:30:00Z, or an age such as \"24h\", \"7d\" or \"1y\""
            )
        })
    }
}

/// Reads a time. One without an offset is in the time zone of `now`.
fn parse_time(text: &str, now: &Zoned) -> Option<Timestamp> {
    let text = text.trim();
    let zoned = match text.to_ascii_lowercase().as_str() {
        "now" => now.clone(),
        "today" => now.start_of_day().ok()?,
        "yesterday" => now.checked_sub(1.day()).ok()?.start_of_day().ok()?,
        _ => {
            if let Ok(time) = text.parse::<Timestamp>() {
                return Some(time);
            }
            match (text.parse::<DateTime>(), text.parse::<Span>()) {
                (Ok(time), _) => time.to_zoned(now.time_zone().clone()).ok()?,
                // "7d" and "7 days ago" are the same.
                (_, Ok(age)) => now.checked_sub(age.abs()).ok()?,
                _ => return None,
            }
        }
    };
    Some(zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_ages() {
        let now: Zoned = "2026-11-18T04:30:00+01:00[+01:00]".parse().unwrap();
        for (text, time) in [
            ("2026-11-01", "2026-10-31T23:00:00Z"),
            ("2026-11-01T10:00", "2026-11-01T09:00:00Z"),
            ("2026-11-01 10:00:05", "2026-11-01T09:00:05Z"),
            ("2026-11-01T09:30:00Z", "2026-11-01T09:30:00Z"),
            ("2026-11-01T09:30:00+02:00", "2026-11-01T07:30:00Z"),
            ("24h", "2026-11-17T03:30:00Z"),
            ("7d", "2026-11-11T03:30:00Z"),
            ("2 weeks", "2026-11-04T03:30:00Z"),
            ("3 days ago", "2026-11-15T03:30:00Z"),
            ("1 month", "2026-10-18T03:30:00Z"),
            ("1y", "2025-11-18T03:30:00Z"),
            ("today", "2026-11-17T23:00:00Z"),
            ("Yesterday", "2026-11-16T23:00:00Z"),
        ] {
            let time: Timestamp = time.parse().unwrap();
            assert_eq!(parse_time(text, &now), Some(time), "{text}");
        }
        for text in ["", "soon", "2026-13-01", "7", "99999999y"] {
            assert_eq!(parse_time(text, &now), None, "{text}");
        }
    }
}
