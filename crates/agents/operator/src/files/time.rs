//! Formats the modification time of a file.

use cap_std::fs::Metadata;

/// Returns the time of the last change in UTC, to the second; empty if the system does not know it.
pub(super) fn format_modified_time(metadata: &Metadata) -> String {
    metadata
        .modified()
        .ok()
        .and_then(|time| jiff::Timestamp::try_from(time.into_std()).ok())
        .map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}
