//! Represents time as the journal stores it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Counts microseconds since the Unix epoch; users and programs read it as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the present time.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
    }

    /// Creates a timestamp from microseconds since the epoch, as the database stores them.
    pub fn from_microseconds(microseconds: i64) -> Self {
        Self(microseconds)
    }

    /// Returns the microseconds since the epoch.
    pub fn as_microseconds(self) -> i64 {
        self.0
    }

    /// Returns how long ago `earlier` was; zero if it was later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns this time plus `duration`.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Returns the day, in UTC: `2026-11-15`.
    pub fn day(self) -> String {
        let mut text = self.to_string();
        text.truncate("2026-11-15".len());
        text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse::<jiff::Timestamp>()
            .map(|time| Self(time.as_microsecond()))
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_utc_and_read_back() {
        let time = Timestamp::from_microseconds(1_700_000_000_000_001);
        let text = serde_json::to_string(&time).unwrap();
        assert_eq!(text, "\"2023-11-14T22:13:20.000001Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), time);
        assert_eq!(time.day(), "2023-11-14");
    }
}
