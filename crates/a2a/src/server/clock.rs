//! Converts points in time: milliseconds in the tables, date and time on the wire.

use chrono::{DateTime, Utc};
use lango_protocol::Timestamp;

/// Returns the current time.
pub(crate) fn now() -> i64 {
    super::projection::to_milliseconds(Timestamp::now())
}

/// Converts a time to the protocol's type.
pub(crate) fn to_wire(milliseconds: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(milliseconds)
}

/// Converts a time from the protocol's type. Fractions of a millisecond are rounded up.
pub(crate) fn from_wire(moment: DateTime<Utc>) -> i64 {
    let exact = moment.timestamp_subsec_nanos().is_multiple_of(1_000_000);
    moment.timestamp_millis().saturating_add(i64::from(!exact))
}
