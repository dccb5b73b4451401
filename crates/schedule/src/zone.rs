//! Names the time zone of a schedule.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::ScheduleError;

/// A time zone with the name that it is stored under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// Returns Coordinated Universal Time.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }

    /// Returns the zone of this machine; UTC if its zone has no name.
    pub fn of_machine() -> Self {
        let rules = TimeZone::system();
        match rules.iana_name() {
            Some(name) if name != "Etc/Unknown" => Self { name: name.to_owned(), rules },
            _ => Self::utc(),
        }
    }

    /// Finds a zone by its name, in any case, or by the city that it is named after: `Europe/Berlin`,
    /// `europe/berlin`, `Berlin`.
    pub fn find(text: &str) -> Result<Self, ScheduleError> {
        let wanted = text.trim().replace(' ', "_");
        let unknown = || ScheduleError::Zone(text.trim().to_owned());
        if wanted.is_empty() || wanted.len() > 64 {
            return Err(unknown());
        }
        if ["utc", "z", "gmt"].contains(&wanted.to_lowercase().as_str()) {
            return Ok(Self::utc());
        }
        if let Ok(rules) = TimeZone::get(&wanted)
            && let Some(name) = rules.iana_name()
        {
            return Ok(Self { name: name.to_owned(), rules });
        }
        let is_its_city = |name: &str| {
            name.rsplit_once('/').is_some_and(|(_, city)| city.eq_ignore_ascii_case(&wanted))
        };
        let mut found = jiff::tz::db().available().filter(|name| is_its_city(name.as_str()));
        match (found.next(), found.next()) {
            (Some(name), None) => {
                let rules = TimeZone::get(name.as_str()).map_err(|_| unknown())?;
                Ok(Self { name: name.to_string(), rules })
            }
            _ => Err(unknown()),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the date that a moment has in it, such as `2026-11-18`.
    pub fn show_day(&self, moment: Timestamp) -> String {
        moment.to_zoned(self.rules.clone()).date().to_string()
    }

    pub(crate) fn rules(&self) -> &TimeZone {
        &self.rules
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
