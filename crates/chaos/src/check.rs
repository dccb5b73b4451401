//! Judges what is left after the faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What was seen from outside, and what the journal says.
#[derive(Debug, Default)]
pub(crate) struct RunRecord {
    /// The requests that a server accepted, by lane in the order of their acceptance. A lane is one
    /// conversation.
    pub(crate) accepted: Vec<AcceptedRequest>,
    /// The effects, one line each, with the name of the request.
    pub(crate) effects: Vec<String>,
    /// The turns of the journal, in the order of their sessions.
    pub(crate) turns: Vec<RecordedTurn>,
    /// What the model objected to.
    pub(crate) complaints: Vec<String>,
}

/// A request that a server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AcceptedRequest {
    /// Its name, unique in a run.
    pub(crate) name: String,
    /// Its conversation.
    pub(crate) lane: usize,
}

/// A turn as the journal has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RecordedTurn {
    /// The request that it carries out.
    pub(crate) name: String,
    /// The number of user messages.
    pub(crate) messages: usize,
    /// The number of ends.
    pub(crate) ends: usize,
    /// True if it was given up: it ended, and not because it was done.
    pub(crate) given_up: bool,
    /// True if a call reports success.
    pub(crate) reports_effect: bool,
}

/// What is wrong, by kind, with the names of the requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Accepted, and not ended in the journal.
    lost: BTreeSet<String>,
    /// Accepted, and ended without being done.
    given_up: BTreeSet<String>,
    /// More than one effect, message or end.
    twice: BTreeSet<String>,
    /// Before one that was accepted earlier in the same conversation.
    out_of_order: BTreeSet<String>,
    /// The journal reports an effect that did not happen.
    untrue: BTreeSet<String>,
    /// Requests that the model refused as no valid history.
    invalid_history: BTreeSet<String>,
}

impl Verdict {
    /// Tells whether nothing is wrong.
    pub(crate) fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether something that was accepted has not ended.
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, names) in [
            ("accepted and lost", &self.lost),
            ("accepted and given up", &self.given_up),
            ("run twice", &self.twice),
            ("out of order", &self.out_of_order),
            ("reported and not done", &self.untrue),
            ("invalid history", &self.invalid_history),
        ] {
            writeln!(f, "{:>6}  {kind}", names.len())?;
            for name in names.iter().take(5) {
                writeln!(f, "        {name}")?;
            }
        }
        Ok(())
    }
}

/// Judges what was observed.
pub(crate) fn check(observed: &RunRecord) -> Verdict {
    let mut verdict = Verdict::default();
    let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &observed.effects {
        *effects.entry(name).or_default() += 1;
    }
    verdict.twice.extend(
        effects.iter().filter(|(_, count)| **count > 1).map(|(name, _)| (*name).to_owned()),
    );
    let mut turns: BTreeMap<&str, Vec<(usize, &RecordedTurn)>> = BTreeMap::new();
    for (position, turn) in observed.turns.iter().enumerate() {
        turns.entry(&turn.name).or_default().push((position, turn));
        if turn.messages > 1 || turn.ends > 1 {
            verdict.twice.insert(turn.name.clone());
        }
        if turn.reports_effect && !effects.contains_key(turn.name.as_str()) {
            verdict.untrue.insert(turn.name.clone());
        }
    }
    let repeated = turns.iter().filter(|(_, turns)| turns.len() > 1);
    verdict.twice.extend(repeated.map(|(name, _)| (*name).to_owned()));
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for accepted in &observed.accepted {
        let recorded = turns.get(accepted.name.as_str()).and_then(|turns| turns.first());
        match recorded {
            Some((position, turn)) if turn.ends > 0 => {
                if turn.given_up {
                    verdict.given_up.insert(accepted.name.clone());
                }
                let before = last.insert(accepted.lane, *position);
                if before.is_some_and(|before| before > *position) {
                    verdict.out_of_order.insert(accepted.name.clone());
                }
            }
            _ => {
                verdict.lost.insert(accepted.name.clone());
            }
        }
    }
    verdict.invalid_history.extend(observed.complaints.iter().cloned());
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(name: &str) -> RecordedTurn {
        let name = name.to_owned();
        RecordedTurn { name, messages: 1, ends: 1, reports_effect: true, ..RecordedTurn::default() }
    }

    fn observed(names: &[&str]) -> RunRecord {
        let accepted = |name: &&str| AcceptedRequest { name: (*name).to_owned(), lane: 0 };
        RunRecord {
            accepted: names.iter().map(accepted).collect(),
            effects: names.iter().map(|name| (*name).to_owned()).collect(),
            turns: names.iter().map(|name| turn(name)).collect(),
            complaints: Vec::new(),
        }
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_was_done_once_and_in_order_is_clean() {
        assert!(check(&observed(&["a", "b"])).is_clean());
    }

    #[test]
    fn each_kind_of_damage_is_found() {
        let mut seen = observed(&["a", "b", "c"]);
        seen.turns.remove(1);
        assert_eq!(check(&seen).lost, names(&["b"]));
        let mut seen = observed(&["a", "b"]);
        seen.turns[1].ends = 0;
        assert_eq!(check(&seen).lost, names(&["b"]));
        let mut seen = observed(&["a", "b"]);
        seen.turns[1].given_up = true;
        assert_eq!(check(&seen).given_up, names(&["b"]));
        let mut seen = observed(&["a", "b"]);
        seen.effects.push("a".to_owned());
        assert_eq!(check(&seen).twice, names(&["a"]));
        let mut seen = observed(&["a", "b"]);
        seen.turns.push(turn("b"));
        assert_eq!(check(&seen).twice, names(&["b"]));
        let mut seen = observed(&["a", "b"]);
        seen.turns[0].messages = 2;
        assert_eq!(check(&seen).twice, names(&["a"]));
        let mut seen = observed(&["a", "b"]);
        seen.turns.reverse();
        assert_eq!(check(&seen).out_of_order, names(&["b"]));
        let mut seen = observed(&["a", "b"]);
        seen.effects.remove(0);
        assert_eq!(check(&seen).untrue, names(&["a"]));
        let mut seen = observed(&["a"]);
        seen.complaints.push("a result without its call".to_owned());
        assert!(!check(&seen).is_clean());
    }

    #[test]
    fn other_conversations_have_an_order_of_their_own() {
        let mut seen = observed(&["a", "b"]);
        seen.accepted[1].lane = 1;
        seen.turns.reverse();
        assert!(check(&seen).is_clean());
    }
}
