//! Files that were changed.

use lango_model::AnsweredCall;
use lango_tool::visible_short;
use serde::Deserialize;

use super::answer::{Answer, code};
use super::deed::given;
use super::files::path;

/// Every change of a file is recorded with what was there before.
const UNDO: &str = "`lango undo` takes it back.";

/// `fs_write`.
pub(super) fn written(call: &AnsweredCall) -> Option<Answer> {
    let path = path(call)?;
    let (what, rest) = call.result.split_once(' ')?;
    let done = match what {
        "created" => "Created",
        "replaced" => "Replaced the content of",
        _ => return None,
    };
    let facts = rest.strip_prefix(path.as_str())?.strip_prefix(", ")?;
    let (bytes, _) = facts.split_once(" bytes")?;
    bytes.parse::<u64>().ok()?;
    Some(Answer::new(format!("{done} {}: {facts}.", code(&path))).note(UNDO))
}

/// `fs_edit`.
pub(super) fn edited(call: &AnsweredCall) -> Option<Answer> {
    let path = path(call)?;
    let rest = call.result.strip_prefix("edited ")?.strip_prefix(path.as_str())?;
    let (facts, difference) = rest.split_once('\n')?;
    let (places, lines) = facts.split_once(", ")?;
    let is_count = lines.starts_with('+') && lines.ends_with(" lines");
    let is_place = places.is_empty() || (places.starts_with(" in ") && places.ends_with(" places"));
    if !is_count || !is_place {
        return None;
    }
    let lead = format!("Edited {}{places}, {lines}:", code(&path));
    Some(Answer::new(lead).fenced(difference).note(UNDO))
}

/// `fs_mkdir`.
pub(super) fn made(call: &AnsweredCall) -> Option<Answer> {
    let path = path(call)?;
    let name = code(&path);
    if call.result == format!("made {path}") {
        return Some(Answer::new(format!("Made the directory {name}.")).note(UNDO));
    }
    (call.result == format!("{path} was there already"))
        .then(|| Answer::new(format!("{name} was there already; nothing was changed.")))
}

#[derive(Deserialize)]
struct Move {
    from: String,
    to: String,
}

/// `fs_move`.
pub(super) fn moved(call: &AnsweredCall) -> Option<Answer> {
    let Move { from, to } = given(call)?;
    let (from, to) = (visible_short(&from), visible_short(&to));
    (call.result == format!("moved {from} to {to}"))
        .then(|| Answer::new(format!("Moved {} to {}.", code(&from), code(&to))).note(UNDO))
}

/// `fs_delete`.
pub(super) fn deleted(call: &AnsweredCall) -> Option<Answer> {
    let path = path(call)?;
    let rest = call.result.strip_prefix("deleted ")?.strip_prefix(path.as_str())?;
    let name = code(&path);
    let lead = if rest.is_empty() {
        format!("Deleted {name}.")
    } else {
        let number = rest.strip_prefix(" with ")?.strip_suffix(" entries")?;
        match number.parse::<u64>().ok()? {
            1 => format!("Deleted {name} with the one entry in it."),
            number => format!("Deleted {name} with the {number} entries in it."),
        }
    };
    Some(Answer::new(lead).note(UNDO))
}
