//! Turns times on a wall clock into moments, also in the nights in which clocks are set.
//!
//! - A time that does not exist, because clocks are set forward over it, is the moment at which they
//!   are set. Several times of one gap are one moment, and so happen once.
//! - A time that happens twice, because clocks are set back, is the first of both.
//! - A schedule that repeats through the day ("every 15 minutes") goes by the clock as it is: what
//!   the clock does not show does not happen, and what it shows twice happens twice.

use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, civil};

/// Limits how far clocks are set forward in one step: a zone may skip a day.
const MAX_GAP: SignedDuration = SignedDuration::from_hours(25);

/// Limits the times of one gap that are passed over.
const MAX_SKIPPED_COUNT: usize = 2000;

/// Returns the moment of a time on the wall clock.
pub(crate) fn resolve(zone: &TimeZone, local: civil::DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
        AmbiguousOffset::Gap { before, .. } => {
            let inside = before.to_timestamp(local).ok()?;
            let later = inside.checked_add(SignedDuration::from_secs(1)).ok()?;
            zone.preceding(later).next().map(|transition| transition.timestamp())
        }
    }
}

/// Returns the first moment after another that a function of the wall clock names, each time of day
/// once.
pub(crate) fn next_by_date(
    zone: &TimeZone,
    after: Timestamp,
    next_local: impl Fn(civil::DateTime) -> Option<civil::DateTime>,
) -> Option<Timestamp> {
    let mut local = zone.to_datetime(after);
    // A time that a gap has just passed over is the end of that gap, which may be still to come.
    let recent = zone.preceding(after).next();
    let is_near = |transition: Timestamp| after.duration_since(transition) <= MAX_GAP;
    let following = zone.following(after).next();
    let comes = |transition: Timestamp| transition.duration_since(after) <= MAX_GAP;
    if recent.is_some_and(|transition| is_near(transition.timestamp()))
        || following.is_some_and(|transition| comes(transition.timestamp()))
    {
        local = local.checked_sub(MAX_GAP).ok()?;
    }
    for _ in 0..MAX_SKIPPED_COUNT {
        local = next_local(local)?;
        let moment = resolve(zone, local)?;
        if moment > after {
            return Some(moment);
        }
    }
    None
}

/// Returns the first moment after another at which the clock shows a time that a function names.
pub(crate) fn next_by_clock(
    zone: &TimeZone,
    after: Timestamp,
    next_local: impl Fn(civil::DateTime) -> Option<civil::DateTime>,
) -> Option<Timestamp> {
    let mut start = after;
    let mut is_included = false;
    // Each round passes one change of the clock; a search for a rare date passes many.
    for _ in 0..MAX_SKIPPED_COUNT {
        let offset = zone.to_offset(start);
        let local = offset.to_datetime(start);
        let from =
            if is_included { local.checked_sub(SignedDuration::from_secs(1)).ok()? } else { local };
        let candidate = offset.to_timestamp(next_local(from)?).ok()?;
        match zone.following(start).next() {
            Some(transition) if transition.timestamp() <= candidate => {
                start = transition.timestamp();
                is_included = true;
            }
            _ => return Some(candidate),
        }
    }
    None
}
