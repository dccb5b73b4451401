//! Which turn a request belongs to, in words that other systems understand.

use lango_protocol::{CallId, TurnId};
use sha2::{Digest as _, Sha256};

/// The value of `traceparent` (W3C Trace Context): the trace is the turn, the span is the hand-over.
pub(crate) fn traceparent(turn: TurnId, call: &CallId) -> String {
    let trace = turn.to_string().replace('-', "");
    let digest = Sha256::digest(call.as_str().as_bytes());
    let span: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("00-{trace}-{span}-01")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_the_same_for_the_same_hand_over() {
        let (turn, call) = (TurnId::generate(), "Abc123xyz".parse().unwrap());
        let value = traceparent(turn, &call);
        assert_eq!(value, traceparent(turn, &call));
        assert_ne!(value, traceparent(turn, &"Abc123xyZ".parse().unwrap()));
        let parts: Vec<usize> = value.split('-').map(str::len).collect();
        assert_eq!(parts, [2, 32, 16, 2]);
        assert!(value.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c)));
    }
}
