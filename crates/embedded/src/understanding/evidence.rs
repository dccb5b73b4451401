//! Says which changes need which verbs in a request.

use lango_phrases::verbs::VerbClass;

use super::words::RequestWords;

/// Returns the class whose verbs a request for this tool has; none for a tool that changes nothing.
pub(super) fn class_of_tool(tool: &str) -> Option<VerbClass> {
    Some(match tool {
        "fs_copy" => VerbClass::Copy,
        "fs_move" => VerbClass::Move,
        "fs_delete" => VerbClass::Delete,
        "fs_append" => VerbClass::Append,
        "fs_write" => VerbClass::Write,
        "fs_mkdir" => VerbClass::MakeDirectory,
        "fs_edit" => VerbClass::Edit,
        _ => return None,
    })
}

/// Verbs that ask for a change of jobs and background tasks, by tool.
const JOB_VERBS: &[(&str, &[&str])] = &[
    ("cron_pause", &["pause", "stop", "suspend", "hold", "halt", "disable", "mute", "skip"]),
    ("cron_resume", &["resume", "continue", "restart", "unpause", "enable", "start"]),
    ("cron_remove", &["remove", "delete", "cancel", "stop", "drop", "kill", "end", "forget"]),
    ("bg_cancel", &["cancel", "stop", "abort", "kill", "end"]),
];

/// Tells whether a change of jobs is not asked for in so many words.
pub(crate) fn lacks_job_verb(tool: &str, text: &str) -> bool {
    let request = RequestWords::of(text);
    let known = JOB_VERBS.iter().find(|(name, _)| *name == tool);
    known.is_some_and(|(_, verbs)| !request.has_any(verbs))
}
