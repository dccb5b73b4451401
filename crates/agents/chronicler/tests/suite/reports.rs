//! Tests what calls tell a person: a sentence before, a report after.

use lango_chronicler::ChroniclerAgent;
use lango_protocol::{CallReport, ReportDetails};
use lango_store::DatabaseLocation;
use lango_tool::ToolRegistry;

use crate::samples::{Home, Turn, session};

/// Runs a call that succeeds and returns its report.
async fn run_and_report(home: &Home, turn: &mut Turn, tool: &str, arguments: &str) -> CallReport {
    turn.run(&home.system, tool, arguments).await.unwrap().report.unwrap()
}

/// Renders a report as one text: the summary, the details, the notes.
fn render_report(report: &CallReport) -> String {
    let details = report.details.as_ref().map(|details| match details {
        ReportDetails::Markdown(text) => text.clone(),
        other => panic!("no list is {other:?}"),
    });
    let parts = [report.summary.clone()].into_iter().chain(details);
    parts.chain(report.notes.iter().cloned()).collect::<Vec<_>>().join("\n\n")
}

/// Returns a text of the report's data.
fn datum<'a>(report: &'a CallReport, pointer: &str) -> &'a str {
    report.data.as_ref().unwrap().pointer(pointer).unwrap().as_str().unwrap()
}

pub(crate) async fn a_memory_is_reported_in_the_users_words(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let mut turn = home.begin(&session("work"), "Remember that I live in Bern").await;
    let none = run_and_report(&home, &mut turn, "memory_search", r#"{"query": "Bern"}"#).await;
    assert_eq!(render_report(&none), "There is no memory of `Bern`.");
    assert_eq!(none.data, Some(serde_json::json!([])));
    let stored = r#"{"content": "I live in Bern"}"#;
    let stored = run_and_report(&home, &mut turn, "memory_store", stored).await;
    assert_eq!(render_report(&stored), "I'll remember: I live in Bern");
    let id = datum(&stored, "/id");
    let found = run_and_report(&home, &mut turn, "memory_search", r#"{"query": "Bern"}"#).await;
    let date = datum(&found, "/0/date");
    assert_eq!(
        render_report(&found),
        format!("1 memory that may fit `Bern`, the best first:\n\n- {date}: I live in Bern")
    );
    turn.end("I see.").await;
    let mut turn = home.begin(&session("later"), "I moved to Basel, remember it").await;
    let moved = r#"{"content": "I moved to Basel"}"#;
    let moved = run_and_report(&home, &mut turn, "memory_store", moved).await;
    assert_eq!(
        render_report(&moved),
        format!(
            "I'll remember: I moved to Basel\n\nIt takes the place of 1 earlier memory: `{id}`"
        )
    );
    turn.end("I see.").await;
}

pub(crate) async fn a_report_does_not_repeat_what_was_forgotten(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["My cat is called Mimi", "My dog is called Rex"]).await;
    home.work(&work).await;
    let mut turn = home.begin(&session("other"), "forget the name").await;
    let several =
        run_and_report(&home, &mut turn, "memory_forget", r#"{"query": "is called"}"#).await;
    let line = |number: usize| {
        let part = |name: &str| datum(&several, &format!("/memories/{number}/{name}"));
        format!("- {}: {} (`{}`)", part("date"), part("content"), part("id"))
    };
    assert_eq!(
        render_report(&several),
        format!("Nothing was forgotten: 2 memories fit. Which one?\n\n{}\n{}", line(0), line(1))
    );
    assert!(several.unsuccessful, "the user did not get what they asked for");
    let rex =
        run_and_report(&home, &mut turn, "memory_forget", r#"{"query": "dog called Rex"}"#).await;
    let (id, kind, date) = (datum(&rex, "/forgotten"), datum(&rex, "/kind"), datum(&rex, "/date"));
    assert_eq!(
        render_report(&rex),
        format!(
            "Forgotten: the memory `{id}` ({kind}, {date}). \
             It was also removed from 1 place in conversations."
        )
    );
    assert!(!rex.unsuccessful && !format!("{rex:?}").contains("Rex"), "{rex:?}");
    turn.end("ok").await;
}

pub(crate) async fn observations_and_reflections_are_reported(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["My flight to Oslo is on 4 May", "I live in Bern"]).await;
    let mut turn = home.begin(&session("other"), "We launched Atlas on 2026-11-02, note it.").await;
    let none = run_and_report(&home, &mut turn, "memory_list_observations", "{}").await;
    assert_eq!(render_report(&none), "There are no observations of this conversation.");
    let none = run_and_report(&home, &mut turn, "memory_list_reflections", "{}").await;
    assert_eq!(render_report(&none), "There are no reflections of this conversation.");
    let event = r#"{"content": "Atlas was launched", "at": "2026-11-02"}"#;
    let event = run_and_report(&home, &mut turn, "observe_event", event).await;
    let id = datum(&event, "/id");
    assert_eq!(
        render_report(&event),
        format!("Written down for 2026-11-02, as `{id}`: Atlas was launched")
    );
    let today = r#"{"content": "We launched Atlas"}"#;
    let today = run_and_report(&home, &mut turn, "observe_event", today).await;
    let id = datum(&today, "/id");
    assert_eq!(render_report(&today), format!("Written down, as `{id}`: We launched Atlas"));
    let one = run_and_report(&home, &mut turn, "memory_list_observations", r#"{"limit": 1}"#).await;
    let date = datum(&one, "/0/date");
    assert_eq!(render_report(&one), format!("1 observation:\n\n- {date}: We launched Atlas"));

    let of_work = r#"{"session": "work"}"#;
    let now = run_and_report(&home, &mut turn, "observe_session", of_work).await;
    assert_eq!(now.summary, "2 new observations, 2 new memories:");
    let line = |number: usize| {
        let part = |name: &str| datum(&now, &format!("/observations/{number}/{name}"));
        format!("- {}: {}", part("date"), part("content"))
    };
    assert_eq!(now.details, Some(ReportDetails::Markdown(format!("{}\n{}", line(0), line(1)))));
    let again = run_and_report(&home, &mut turn, "observe_session", of_work).await;
    assert_eq!(render_report(&again), "There was nothing new to observe; 0 new memories.");
    let summary = run_and_report(&home, &mut turn, "reflect_summary", of_work).await;
    let (date, content) = (datum(&summary, "/date"), datum(&summary, "/content"));
    assert_eq!(summary.summary, format!("In short ({date}):"));
    assert_eq!(summary.details, Some(ReportDetails::Quoted(content.to_owned())));
    let listed = run_and_report(&home, &mut turn, "memory_list_reflections", of_work).await;
    assert_eq!(listed.summary, "1 reflection:");
    turn.end("ok").await;
}

pub(crate) async fn every_call_says_what_it_is_about(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let mut registry = ToolRegistry::new();
    for tool in ChroniclerAgent::new(home.system.clone()).parts().tools {
        registry.add_registered(tool).unwrap();
    }
    let calls = [
        ("memory_store", r#"{"content": "My cat is called Minka"}"#, "Remembering this"),
        ("memory_search", r#"{"query": "cat"}"#, "Searching the memories for `cat`"),
        ("memory_forget", r#"{"query": "Minka"}"#, "Forgetting this"),
        ("memory_list_observations", "{}", "Listing the observations"),
        ("memory_list_reflections", "{}", "Listing the reflections"),
        ("observe_event", r#"{"content": "Minka purred"}"#, "Writing this down"),
        ("observe_session", "{}", "Observing the conversation"),
        ("reflect_summary", "{}", "Summing up the conversation"),
    ];
    assert_eq!(registry.iter().count(), calls.len());
    let about = |tool: &str, arguments: &str| {
        registry.get(tool).unwrap().prepare(arguments).unwrap().describe()
    };
    for (tool, arguments, expected) in calls {
        assert_eq!(about(tool, arguments).as_deref(), Some(expected), "{tool}");
    }
    assert_eq!(about("memory_search", r#"{"query": " "}"#), None);
}
