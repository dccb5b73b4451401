//! Tells a reminder from a task. A reminder is shown to the user at its time, and needs no model.

use crate::JobAction;

/// Phrases of users who want to be told something.
const PHRASES: &[&str] = &[
    "remind me",
    "reminder",
    "wake me",
    "alarm",
    "ping me",
    "tell me to",
    "say me to",
    "nudge me",
    "don't let me forget",
    "reminding me",
];

/// Sets how near to the task a phrase must be, in bytes.
const NEARNESS: usize = 60;

/// Decides what happens at the occurrences of a job, from its task and the words of the user.
pub(crate) fn choose_action(task: &str, user_words: Option<&str>) -> JobAction {
    let task = task.to_lowercase();
    if task.trim_start().starts_with("remind") {
        return JobAction::Remind;
    }
    let Some(words) = user_words.map(str::to_lowercase) else { return JobAction::Run };
    let near = match words.find(task.trim()) {
        None => words.as_str(),
        Some(start) => {
            let from = words.floor_char_boundary(start.saturating_sub(NEARNESS));
            let to = words.ceil_char_boundary((start + task.len() + NEARNESS).min(words.len()));
            &words[from..to]
        }
    };
    let is_reminder = PHRASES.iter().any(|phrase| near.contains(phrase));
    if is_reminder { JobAction::Remind } else { JobAction::Run }
}

/// The beginnings of a reminder that are not part of what the user is told.
const BEGINNINGS: &[&str] = &["remind me to ", "remind me ", "please remind me to ", "tell me to "];

/// Returns what the user is told, without "remind me to".
pub(crate) fn reminder_text(task: &str) -> &str {
    let task = task.trim();
    let lower = task.to_lowercase();
    let beginning = BEGINNINGS.iter().find(|beginning| lower.starts_with(*beginning));
    // They are ASCII, so that lengths agree.
    let rest = beginning.and_then(|beginning| task.get(beginning.len()..));
    rest.map(str::trim).filter(|rest| !rest.is_empty()).unwrap_or(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_wants_to_be_told_is_a_reminder() {
        for (words, task) in [
            ("remind me to stretch every two hours", "stretch"),
            ("after 30 minute tell me to drink water", "drink water"),
            (
                "I have to renew the insurance, could you remind me on the 1st",
                "renew the insurance",
            ),
            ("", "Remind the user to call Petra"),
        ] {
            assert_eq!(choose_action(task, Some(words)), JobAction::Remind, "{words}");
        }
    }

    #[test]
    fn a_reminder_says_what_to_do() {
        assert_eq!(reminder_text("remind me to stretch"), "stretch");
        assert_eq!(reminder_text("Remind me "), "Remind me");
        assert_eq!(reminder_text("call Petra"), "call Petra");
    }

    #[test]
    fn work_is_no_reminder() {
        for (words, task) in [
            ("run the backup nightly at half past two", "run the backup"),
            ("every monday 9am: list open TODOs in src", "list open TODOs in src"),
        ] {
            assert_eq!(choose_action(task, Some(words)), JobAction::Run, "{words}");
        }
        assert_eq!(choose_action("run the backup", None), JobAction::Run);
    }
}
