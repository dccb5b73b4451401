//! Moments in milliseconds, as the tables keep them and the wire shows them.

use chrono::{DateTime, Utc};
use lango_protocol::Timestamp;

/// The present.
pub(crate) fn now() -> i64 {
    super::projection::milliseconds(Timestamp::now())
}

/// A moment as the protocol's types have it.
pub(crate) fn on_the_wire(milliseconds: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(milliseconds)
}

/// A moment of the wire. What lies between two milliseconds counts as the later one.
pub(crate) fn from_the_wire(moment: DateTime<Utc>) -> i64 {
    let exact = moment.timestamp_subsec_nanos().is_multiple_of(1_000_000);
    moment.timestamp_millis().saturating_add(i64::from(!exact))
}
