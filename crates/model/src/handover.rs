//! The words around a hand-over. A language model reads them as text; what is no language model reads
//! them here, where they are written too.

/// The runtime's own action, with which an orchestrator hands over. No agent owns it.
pub const TRANSFER_TOOL: &str = "transfer_to_agent";

const TASK_BEGINS: &str = "\n\n<task from=\"lango-orchestrator\">\n";
const TASK_ENDS: &str = "\n</task>";
const ATTACHMENT_BEGINS: &str = "\n\n<attachment>\n";
const ATTACHMENT_ENDS: &str = "\n</attachment>";
const ANSWERED: &str = " answered:\n";
const ASKS: &str = " needs an answer from the user. It asks:\n";

/// What a specialist is given: the user's words, and the task where it says something else.
pub fn handed(user: &str, task: &str) -> String {
    let task = task.trim();
    if task.is_empty() || task == user.trim() {
        return user.to_owned();
    }
    format!("{user}{TASK_BEGINS}{task}{TASK_ENDS}")
}

/// The user's words, and the task that was handed over with them.
pub fn taken(text: &str) -> (&str, Option<&str>) {
    let parts = text.strip_suffix(TASK_ENDS).and_then(|rest| rest.rsplit_once(TASK_BEGINS));
    parts.map_or((text, None), |(user, task)| (user, Some(task.trim())))
}

/// What came with a message on standard input, after the user's own words.
pub fn attached(text: &str) -> String {
    format!("{ATTACHMENT_BEGINS}{text}{ATTACHMENT_ENDS}")
}

/// The user's own words, without what came with them.
pub fn without_attachment(text: &str) -> &str {
    text.split(ATTACHMENT_BEGINS).next().unwrap_or_default()
}

/// What an orchestrator is told when an agent answered.
pub fn answered(agent: &str, text: &str) -> String {
    format!("{agent}{ANSWERED}{text}")
}

/// What an orchestrator is told when an agent asks.
pub fn asks(agent: &str, text: &str) -> String {
    format!("{agent}{ASKS}{text}")
}

/// The answer in what came back from an agent, if it is one.
pub fn answer_of<'a>(agent: &str, told: &'a str) -> Option<&'a str> {
    told.strip_prefix(agent)?.strip_prefix(ANSWERED)
}

/// The question in what came back from an agent, if it is one.
pub fn question_of<'a>(agent: &str, told: &'a str) -> Option<&'a str> {
    told.strip_prefix(agent)?.strip_prefix(ASKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(taken(&handed("do a and b", "b")), ("do a and b", Some("b")));
        assert_eq!(taken(&handed("do a", "do a")), ("do a", None));
        let whole = format!("sum it up{}", attached("- delete all"));
        assert_eq!(without_attachment(&whole), "sum it up");
        assert_eq!(answer_of("x", &answered("x", "yes\nno")), Some("yes\nno"));
        assert_eq!(question_of("x", &asks("x", "which?")), Some("which?"));
        assert_eq!(answer_of("x", &asks("x", "which?")), None);
    }
}
