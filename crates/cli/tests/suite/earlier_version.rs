//! A database that the version before call reports wrote: `fixtures/journal-before-reports.sqlite`.
//! It holds a conversation with an attachment and a tool call, one of the embedded model, and a turn
//! whose process was killed while a command ran.

use lango_protocol::{CallStatus, EventBody};

use crate::fixture::Lango;
use crate::journal::{assert_valid_journal, events_in};

const JOURNAL: &[u8] = include_bytes!("../fixtures/journal-before-reports.sqlite");

const SCRIPT: &str = r#"
[[reply]]
agent = "operator"
say = "I do not know whether it ended."

[[reply]]
agent = "lango-orchestrator"
say = "This is what I know."
"#;

async fn with_earlier_journal() -> Lango {
    let lango = Lango::playing(&[SCRIPT]).await;
    std::fs::write(lango.database_file(), JOURNAL).unwrap();
    lango
}

#[tokio::test(flavor = "multi_thread")]
async fn its_sessions_are_listed_and_shown() {
    let lango = with_earlier_journal().await;
    let list = lango.command(&["sessions", "list"]).run().await;
    for (session, title) in [
        ("shopping", "What do my notes say?"),
        ("embedded", "read notes.txt"),
        ("interrupted", "Run something long"),
    ] {
        let line = list.stdout.lines().find(|line| line.starts_with(session)).expect(session);
        assert!(line.ends_with(title), "{line}");
    }
    let shown = lango.command(&["sessions", "show", "shopping"]).run().await.stdout;
    assert!(shown.contains("operator: The notes say: milk and bread."), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_conversations_go_on() {
    let lango = with_earlier_journal().await;
    for session in ["shopping", "embedded"] {
        let turn = lango.ask("And now?").with(&["--session", session]).turn().await;
        assert_eq!((turn.code, turn.answer()), (0, "This is what I know."));
        let export = lango.command(&["sessions", "export", session]).run().await.stdout;
        let events = events_in(&export);
        assert_eq!(events.iter().filter(|e| e.body.type_name() == "turn_finished").count(), 2);
        assert_valid_journal(&events);
    }
    let requests = lango.requests_of("lango-orchestrator");
    assert!(requests[0].text().contains("The notes say: milk and bread."));
    assert!(requests[1].text().contains("`notes.txt` (2 lines)"));
}

#[tokio::test(flavor = "multi_thread")]
async fn its_interrupted_turn_is_resumed() {
    let lango = with_earlier_journal().await;
    let resumed = lango.command(&["resume"]).run().await;
    assert_eq!(resumed.code, 7, "its last call has no known effect: {}", resumed.stderr);
    let export = lango.command(&["sessions", "export", "interrupted"]).run().await.stdout;
    let events = events_in(&export);
    assert_valid_journal(&events);
    let unknown = events.iter().find_map(|event| match &event.body {
        EventBody::ToolResult { tool, status: CallStatus::Unknown, report, .. } => {
            Some((tool.as_str(), report.clone()))
        }
        _ => None,
    });
    let (tool, report) = unknown.expect("the call that was running has an unknown outcome");
    assert_eq!(tool, "exec_shell");
    assert!(report.unwrap().summary.starts_with("What came of this is not known"));
}
