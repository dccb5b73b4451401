//! Tests that forgotten text is removed from all tables and files.

use lango_store::{DatabaseLocation, Statement};

use crate::samples::{Home, session};

/// Returns the content of all tables, as text.
async fn dump_tables(home: &Home) -> String {
    let mut all = String::new();
    for (table, columns) in [
        ("memories", &["content", "about"][..]),
        ("observations", &["content"]),
        ("reflections", &["content", "about"]),
        ("redactions", &["traces"]),
        ("events", &["payload"]),
        ("sessions", &["title"]),
        ("retrieval_entries", &["title", "source", "digest"]),
        ("retrieval_passages", &["heading", "body", "extra"]),
    ] {
        for column in columns {
            let sql = format!("SELECT {column} FROM {table}");
            for row in home.database.query(Statement::new(sql)).await.unwrap() {
                all.push_str(row.text(0).unwrap());
                all.push('\n');
            }
        }
    }
    all.to_lowercase()
}

fn files_with(location: &DatabaseLocation, words: &[&str]) -> Vec<String> {
    let DatabaseLocation::Sqlite(path) = location else { return Vec::new() };
    let mut found = Vec::new();
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        let bytes = std::fs::read(&file).unwrap().to_ascii_lowercase();
        for word in words {
            if bytes.windows(word.len()).any(|window| window == word.as_bytes()) {
                found.push(format!("{word} in {}", file.display()));
            }
        }
    }
    found
}

pub(crate) async fn what_is_forgotten_is_in_no_table_and_no_file(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    let said = "Please remember that the launch code word is PELICAN-7741.";
    home.play(&work, &[said, "I live in Bern.", "What was the launch code word PELICAN-7741 for?"])
        .await;
    home.play(&session("other"), &["is pelican 7741 a bird?"]).await;
    home.work(&work).await;
    let forced =
        home.chronicler().observe_now(&work, &tokio_util::sync::CancellationToken::new()).await;
    assert!(!forced.unwrap().observations.is_empty());
    assert!(home.prompt(&session("x"), "launch code word").await.contains("PELICAN-7741"));
    let memories = home.memory.list_memories(false).await.unwrap();
    let id = &memories.iter().find(|memory| memory.content.contains("PELICAN")).unwrap().id;
    let done = home.memory.forget_memory(id).await.unwrap();
    assert!(!done.pending && done.places >= 3 && done.derived >= 1, "{done:?}");
    let all = dump_tables(&home).await;
    assert!(!all.contains("pelican") && !all.contains("7741"), "{all}");
    assert!(all.contains("i live in bern") && all.contains("[forgotten]"), "{all}");
    assert_eq!(files_with(&location, &["pelican", "7741"]), Vec::<String>::new());
    assert!(!home.prompt(&session("x"), "launch code word").await.contains("PELICAN"));
    assert!(home.memory.forget_memory(id).await.is_err());
    home.assert_sound().await;
}

pub(crate) async fn what_a_running_turn_says_goes_when_it_ends(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["remember that the launch code word is PELICAN-7741"]).await;
    home.work(&work).await;
    let mut turn = home.begin(&work, "Forget the code word PELICAN-7741").await;
    let result = turn.call(&home.system, "memory_forget", r#"{"query": "launch code word"}"#).await;
    let result = result.unwrap();
    assert!(
        result.contains("\"remark\"") && !result.to_lowercase().contains("pelican"),
        "{result}"
    );
    turn.end("I forgot PELICAN-7741.").await;
    assert!(dump_tables(&home).await.contains("pelican"), "the turn has only just ended");
    let report = home.work(&work).await;
    assert!(report.redacted >= 2, "{report:?}");
    let all = dump_tables(&home).await;
    assert!(!all.contains("pelican") && !all.contains("7741"), "{all}");
    assert_eq!(files_with(&location, &["pelican", "7741"]), Vec::<String>::new());
    assert_eq!(home.work(&work).await.redacted, 0);
    // It is not learnt again from the rest.
    assert_eq!(home.current_memories().await, Vec::<String>::new());
    home.assert_sound().await;
}

pub(crate) async fn what_others_say_stays(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["I live in Bern.", "My brother Urs lives in Bern.", "I moved to Basel."])
        .await;
    home.work(&work).await;
    assert_eq!(
        home.current_memories().await,
        ["My brother Urs lives in Bern.", "I moved to Basel."]
    );
    let memories = home.memory.list_memories(false).await.unwrap();
    let basel = memories.iter().find(|memory| memory.content.contains("Basel")).unwrap();
    let done = home.memory.forget_memory(&basel.id).await.unwrap();
    assert_eq!(done.memories, 2, "with what it had taken the place of");
    let all = dump_tables(&home).await;
    assert!(!all.contains("basel") && !all.contains("i live in bern"), "{all}");
    assert!(all.contains("my brother urs lives in bern"), "{all}");
    home.assert_sound().await;
}

pub(crate) async fn a_report_loses_what_was_forgotten(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["remember that the launch code word is PELICAN-7741", "I live in Bern."])
        .await;
    home.work(&work).await;
    let mut turn = home.begin(&work, "What do you know about me?").await;
    let found = turn.run(&home.system, "memory_search", r#"{"query": "me"}"#).await.unwrap();
    let report = format!("{:?}", found.report.unwrap());
    assert!(report.contains("PELICAN-7741") && report.contains("I live in Bern."), "{report}");
    turn.end("That is it.").await;
    let memories = home.memory.list_memories(false).await.unwrap();
    let id = &memories.iter().find(|memory| memory.content.contains("PELICAN")).unwrap().id;
    home.memory.forget_memory(id).await.unwrap();
    let all = dump_tables(&home).await;
    assert!(!all.contains("pelican") && !all.contains("7741"), "{all}");
    assert!(all.contains("2 memories that may fit `me`"), "{all}");
    assert!(all.contains(": i live in bern."), "{all}");
    assert_eq!(files_with(&location, &["pelican", "7741"]), Vec::<String>::new());
}
