//! `lango memory`, on conversations of the real binary.

use std::path::Path;

use serde_json::Value;

use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::invocation::CommandOutput;

const SCRIPT: &str = "[[reply]]\nsay = \"I see: {user}\"\n";

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    lango.command(&[&["memory"], arguments].concat()).run().await
}

/// Tells whether a match is a part of an id: four digits are in one of some thousand of them.
fn is_within_id(bytes: &[u8], at: usize, length: usize) -> bool {
    let continues = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_hexdigit() || *b == b'-');
    continues(at.checked_sub(1).and_then(|before| bytes.get(before)))
        && continues(bytes.get(at + length))
}

/// The files under a directory that hold one of these words, whatever the case, with what is around
/// the word.
fn files_with(directory: &Path, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, words));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let lower = bytes.to_ascii_lowercase();
            let position = |word: &&str| {
                let mut windows = lower.windows(word.len()).enumerate();
                let found = windows.find(|(at, part)| {
                    *part == word.as_bytes() && !is_within_id(&lower, *at, word.len())
                });
                found.map(|(at, _)| at)
            };
            if let Some(at) = words.iter().find_map(position) {
                let around = &bytes[at.saturating_sub(60)..bytes.len().min(at + 60)];
                let around = String::from_utf8_lossy(around);
                found.push(format!("{}: {around:?}", path.display()));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_remembered_edited_and_forgotten_for_good() {
    let lango = Lango::playing(&[SCRIPT]).await;
    for said in ["Please remember that the launch code word is PELICAN-7741.", "I live in Bern."] {
        let turn = lango.ask(said).with(&["--session", "work"]).run().await;
        assert_eq!(turn.code, 0, "{turn:?}");
    }
    let observed = run(&lango, &["observe", "work"]).await;
    assert_eq!(observed.code, 0, "{observed:?}");
    let listed = run(&lango, &["list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let memories = listed.as_array().unwrap();
    assert!(memories.len() >= 2, "{memories:?}");
    let id_of = |words: &str| {
        let has = |memory: &&Value| memory["content"].as_str().unwrap().contains(words);
        memories.iter().find(has).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let shown = run(&lango, &["show", &id_of("Bern")]).await;
    assert!(shown.stdout.contains("said by the user"), "{shown:?}");
    assert!(shown.stdout.contains("from        work, message"), "{shown:?}");
    let edited = run(&lango, &["edit", &id_of("Bern"), "I live in Basel"]).await;
    assert_eq!(edited.code, 0, "{edited:?}");
    let table = run(&lango, &["list"]).await.stdout;
    assert!(table.contains("I live in Basel") && !table.contains("Bern"), "{table}");
    assert!(run(&lango, &["list", "--all"]).await.stdout.contains("Bern"));

    assert!(!files_with(&lango.home(), &["pelican"]).is_empty());
    let forgotten = run(&lango, &["forget", &id_of("PELICAN")]).await;
    assert_eq!(forgotten.code, 0, "{forgotten:?}");
    assert!(!forgotten.stdout.to_lowercase().contains("pelican"), "{forgotten:?}");
    assert_eq!(files_with(&lango.home(), &["pelican", "7741"]), Vec::<String>::new());
    for command in [
        &["memory", "export"][..],
        &["memory", "export", "--format", "markdown"],
        &["sessions", "export", "work"],
        &["sessions", "list"],
        &["sessions", "show", "work"],
    ] {
        let output = lango.command(command).run().await;
        assert_eq!(output.code, 0, "{command:?}: {output:?}");
        assert!(!output.stdout.to_lowercase().contains("pelican"), "{command:?}: {output:?}");
    }
    // The next prompt of that conversation is made without it.
    lango.ask("and now?").with(&["--session", "work"]).run().await;
    let last = lango.received().pop().unwrap();
    let body = format!("{last:?}").to_lowercase();
    assert!(body.contains("and now?") && !body.contains("pelican"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_say_what_to_type() {
    let lango = Lango::silent().await;
    let nothing = run(&lango, &["list"]).await;
    assert!(
        nothing.code == 0 && nothing.stdout.contains("Nothing is remembered yet"),
        "{nothing:?}"
    );
    for arguments in [
        &["show", "m_nothing"][..],
        &["forget", "m_nothing"],
        &["edit", "m_nothing", "I live in Bern"],
    ] {
        let wrong = run(&lango, arguments).await;
        assert!(wrong.code == 2 && wrong.stderr.contains("lango memory list"), "{wrong:?}");
    }
    let wrong = run(&lango, &["observe", "nowhere"]).await;
    assert!(wrong.code == 2 && wrong.stderr.contains("lango sessions list"), "{wrong:?}");
}

/// The chronicler is asked to do this, and says the result.
fn chronicler(tool: &str, arguments: &str) -> String {
    let transfer = TO_OPERATOR.replace("operator", "chronicler");
    format!("{transfer}{}", calling("chronicler", &[(tool, arguments)]))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_agents_stored_and_recalled_is_gone_when_they_forget_it() {
    let stored = chronicler(
        "memory_store",
        "{ content = \"The launch code word is PELICAN-7741\", kind = \"fact\" }",
    );
    let lango = Lango::playing(&[&stored]).await;
    let turn = lango.ask("remember that the launch code word is PELICAN-7741").turn().await;
    assert_eq!(turn.results_with(lango_protocol::CallStatus::Ok), 1, "{:?}", turn.results());

    // Another conversation: it is in the prompt of the orchestrator already, and it is found.
    let found = chronicler("memory_search", "{ query = \"launch code word\" }");
    let lango = lango.now_playing(&[&found]).await;
    let turn = lango.ask("what is the launch code word?").turn().await;
    assert!(turn.answer().contains("PELICAN-7741"), "{}", turn.answer());
    let first = &lango.requests_of("lango-orchestrator")[0];
    assert!(
        first.user().contains("<context source=\"memory") && first.user().contains("PELICAN-7741")
    );

    // The user never gave it, so nothing else may be stored: a page or a model cannot.
    let invented =
        chronicler("memory_store", "{ content = \"The user banks at HSBC, account 4471\" }");
    let lango = lango.now_playing(&[&invented]).await;
    let turn = lango.ask("what is the weather like?").turn().await;
    assert_eq!(turn.results_with(lango_protocol::CallStatus::Ok), 0, "{:?}", turn.results());

    let forgotten = chronicler("memory_forget", "{ query = \"launch code word\" }");
    let lango = lango.now_playing(&[&forgotten]).await;
    // The journal differs from what was shown, as soon as the turn has ended.
    let turn = lango.ask("forget the launch code word").with(&["--approve", "all"]).run().await;
    assert!(turn.code == 0 && turn.stdout.contains("\\\"forgotten\\\""), "{turn:?}");
    assert!(!turn.stdout.contains("PELICAN"), "{turn:?}");
    assert_eq!(files_with(&lango.home(), &["pelican", "7741"]), Vec::<String>::new());
    let sessions = lango.command(&["sessions", "list", "--json"]).run().await.stdout;
    let sessions: Value = serde_json::from_str(&sessions).unwrap();
    for session in sessions.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let export = lango.command(&["sessions", "export", id]).run().await;
        assert!(export.code == 0 && !export.stdout.contains("PELICAN"), "{export:?}");
    }
    let shown = lango.command(&["prompt", "show", "chronicler", "what is the launch code word?"]);
    let shown = shown.run().await;
    assert!(shown.code == 0 && !shown.stdout.contains("PELICAN"), "{shown:?}");
    let deep = lango.command(&["doctor", "--deep"]).run().await.stdout;
    assert!(deep.contains("memories, observations, index and journal agree"), "{deep}");
}
