//! Builds the trace context that links a request to its turn.

use lango_protocol::{CallId, TurnId};
use sha2::{Digest as _, Sha256};

/// Returns the value of `traceparent` (W3C Trace Context): the trace is the turn, or the one that
/// the turn was requested in; the span is the delegation.
pub(crate) fn traceparent(turn: TurnId, call: &CallId, given: Option<&str>) -> String {
    let given = given.and_then(|given| given.split('-').nth(1)).filter(|trace| is_trace(trace));
    let trace = given.map_or_else(|| turn.to_string().replace('-', ""), str::to_owned);
    let digest = Sha256::digest(call.as_str().as_bytes());
    let span = lango_text::hex(&digest[..8]);
    format!("00-{trace}-{span}-01")
}

fn is_trace(trace: &str) -> bool {
    trace.len() == 32
        && trace.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && trace.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_the_same_for_the_same_delegation() {
        let (turn, call) = (TurnId::generate(), "Abc123xyz".parse().unwrap());
        let value = traceparent(turn, &call, None);
        assert_eq!(value, traceparent(turn, &call, None));
        assert_ne!(value, traceparent(turn, &"Abc123xyZ".parse().unwrap(), None));
        let parts: Vec<usize> = value.split('-').map(str::len).collect();
        assert_eq!(parts, [2, 32, 16, 2]);
        assert!(value.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c)));
    }
    #[test]
    fn a_trace_that_was_begun_goes_on_and_nonsense_begins_none() {
        let (turn, call) = (TurnId::generate(), "Abc123xyz".parse().unwrap());
        let given = format!("00-{}-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736");
        let value = traceparent(turn, &call, Some(&given));
        assert!(value.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"), "{value}");
        assert_ne!(value, given);
        for nonsense in ["", "x", "00-short-00f067aa0ba902b7-01", &format!("00-{:032}-1-01", 0)] {
            assert_eq!(traceparent(turn, &call, Some(nonsense)), traceparent(turn, &call, None));
        }
    }
}
