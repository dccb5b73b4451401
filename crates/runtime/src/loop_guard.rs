//! Detects repeated calls.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use lango_protocol::AgentName;

/// Remembers the calls of a turn. A call is a repetition once it was answered
/// [`Self::MAX_SAME_RESULTS`] times with the same result; a call whose results change, such as a
/// progress query, is not, and is limited by the budget alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoopGuard {
    calls: HashMap<u64, CallAnswers>,
}

#[derive(Debug, Clone, Copy)]
struct CallAnswers {
    result: u64,
    same: u32,
}

impl LoopGuard {
    const MAX_SAME_RESULTS: u32 = 2;

    /// Tells whether this call would only return the same result again.
    pub(crate) fn is_repetition(&self, agent: &AgentName, tool: &str, arguments: &str) -> bool {
        self.calls
            .get(&hash_call(agent.as_str(), tool, arguments))
            .is_some_and(|answers| answers.same >= Self::MAX_SAME_RESULTS)
    }

    /// Records a result.
    pub(crate) fn record_result(&mut self, agent: &str, tool: &str, arguments: &str, result: &str) {
        let result = hash(result);
        let answers = self
            .calls
            .entry(hash_call(agent, tool, arguments))
            .or_insert(CallAnswers { result, same: 0 });
        answers.same = if answers.result == result { answers.same + 1 } else { 1 };
        answers.result = result;
    }
}

/// Computes the key of a call. Arguments that differ only in white space or key order are the same
/// call.
fn hash_call(agent: &str, tool: &str, arguments: &str) -> u64 {
    let canonical = serde_json::from_str::<serde_json::Value>(arguments)
        .map_or_else(|_| arguments.to_owned(), |value| value.to_string());
    hash((agent, tool, canonical))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_time_is_a_repetition_unless_something_moves() {
        let agent: AgentName = "operator".parse().unwrap();
        let mut guard = LoopGuard::default();
        for expected in [false, false, true, true] {
            assert_eq!(guard.is_repetition(&agent, "fs_stat", r#"{"a":1,"b":2}"#), expected);
            guard.record_result("operator", "fs_stat", r#"{ "b": 2, "a": 1 }"#, "same");
        }
        assert!(!guard.is_repetition(&agent, "fs_stat", r#"{"a":1}"#));
        for count in 0..5 {
            assert!(!guard.is_repetition(&agent, "exec_status", "{}"));
            guard.record_result("operator", "exec_status", "{}", &format!("line {count}"));
        }
    }
}
