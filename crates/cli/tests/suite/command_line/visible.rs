//! What comes from files, models, peers and the database controls no terminal and hides nothing,
//! whatever command prints it, at a terminal and in a pipe.

use lango_librarian::knowledge::KnowledgeCategory;

use super::knowledge::saved;
use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::CommandOutput;
use crate::mcp::peer::hostile;
use crate::site::Site;

/// CSI, OSC and DCS sequences in 7 and 8 bits, bidirectional controls, and characters that are not
/// seen.
const POISON: &str = "\u{1b}[31m\u{1b}]0;owned\u{7}\u{1b}P1q\u{1b}\\\u{9b}2J\u{9d}0;x\u{9c}\u{8}\u{7f}\
                      \u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{2060}\u{feff}\u{ad}\u{e0041}";

/// The part of it that is taken where control characters are not.
const QUIET: &str = "PLANTED\u{202e}\u{2066}\u{200f}\u{200b}\u{feff}\u{ad}\u{e0041}END";

/// A text that is found again in outputs.
fn planted() -> String {
    format!("PLANTED{POISON}END")
}

/// The same for JSON, TOML and YAML.
fn quoted() -> String {
    quote(&planted())
}

fn quote(text: &str) -> String {
    let escape = |character: char| match character {
        '\u{7f}'..='\u{ffff}' => format!("\\u{:04x}", u32::from(character)),
        other => other.to_string(),
    };
    serde_json::to_string(text).unwrap().chars().map(escape).collect()
}

fn is_hidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || (POISON.contains(character) && !character.is_ascii())
}

#[track_caller]
fn assert_visible(what: &str, output: &CommandOutput) {
    for text in [&output.stdout, &output.stderr] {
        let shown = text.replace("\r\n", "\n");
        let hidden: Vec<char> = shown.chars().filter(|c| is_hidden(*c)).collect();
        assert!(hidden.is_empty(), "{what}: {hidden:?} in {shown:?}");
    }
}

/// Runs a command in a pipe and at a terminal. Both show what was planted, and nothing of it acts.
async fn check(lango: &Lango, line: &str) {
    let arguments: Vec<&str> = line.split(' ').collect();
    let piped = lango.command(&arguments).run().await;
    let terminal = lango.at_terminal(line).set("NO_COLOR", "1").run().await;
    for (how, output) in [("in a pipe", piped), ("at a terminal", terminal)] {
        let what = format!("lango {line} {how}");
        assert_visible(&what, &output);
        let shows = [&output.stdout, &output.stderr].iter().any(|text| text.contains("PLANTED"));
        assert!(shows, "{what} does not show it: {output:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_and_what_agents_did_are_visible() {
    let text = quoted();
    let call = |number: u32, call: String| {
        format!("[[reply]]\nagent = \"operator\"\nresults = {number}\ncall = [{call}]\n")
    };
    let write = format!(
        "{{ name = \"fs_write\", arguments = {{ path = \"note.md\", content = {text} }} }}"
    );
    let read = "{ name = \"fs_read\", arguments = { path = \"note.md\" } }".to_owned();
    let command = quote(&format!("true '{}'", planted()));
    let run = format!("{{ name = \"exec_background\", arguments = {{ command = {command} }} }}");
    let say = format!("[[reply]]\nagent = \"operator\"\nsay = {text}\n");
    let script = [TO_OPERATOR, &call(0, write), &call(1, read), &call(2, run), &say].concat();
    let lango = Lango::playing(&[&script]).await;
    check(&lango, "run --session work --approve all PLANTED").await;
    check(&lango, "run --session work --approve all --output-format json PLANTED").await;
    check(&lango, "run --session work --approve all --output-format stream-json PLANTED").await;
    let message = planted();
    assert_eq!(lango.ask(&message).with(&["--session", "other"]).run().await.code, 3);
    for line in [
        "sessions list",
        "sessions list --json",
        "sessions show work",
        "sessions show work --json",
        "sessions export work",
        "ps --all",
        "ps --all --json",
    ] {
        check(&lango, line).await;
    }
    for line in ["undo --list", "undo --dry-run", "usage", "usage --by session", "resume"] {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_visible(line, &lango.command(&arguments).run().await);
        assert_visible(line, &lango.at_terminal(line).set("NO_COLOR", "1").run().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_asks_for_it_gets_the_text_as_it_is() {
    let lango = Lango::playing(&[&format!("[[reply]]\nsay = {}\n", quoted())]).await;
    let raw = lango.command(&["run", "--raw", "hello"]).run().await;
    assert_eq!(raw.stdout, format!("{}\n", planted()));
    // A terminal never does.
    let terminal = lango.at_terminal("run --raw hello").set("NO_COLOR", "1").run().await;
    assert_visible("lango run --raw", &terminal);
    let json = lango.command(&["run", "--output-format", "json", "hello"]).run().await.stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["text"], planted(), "JSON means the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_agents_and_configuration_are_visible() {
    let lango = Lango::silent().await;
    let (text, plain) = (quoted(), planted());
    let skill = format!("---\nname: notes\ndescription: {text}\n---\n{plain}\n");
    lango.file("user/.agents/skills/notes/SKILL.md", &skill);
    lango.file(&format!("user/.agents/skills/notes/{plain}.md"), &plain);
    lango.file(&format!("user/.agents/skills/bad{plain}/SKILL.md"), "none");
    lango.file("home/skill-drafts/draft/SKILL.md", skill.replace("notes", "draft"));
    let agent = format!(
        "---\nname: poet\ndescription: {text}\nprefixes: [poem_]\nkeywords: [{text}]\naccepts: {text}\n\
         returns: {text}\ncannot_do: [{text}]\nalways_include: true\n---\n## What You Do\n{plain}\n\n\
         ## Input Format\n{plain}\n\n## Output Format\n{plain}\n\n## Constraints\n{plain}\n"
    );
    lango.file("agents/poet.md", agent);
    let directory = lango.path("agents").display().to_string();
    let config = format!(
        "[agent]\nagentsDir = {directory:?}\n[trust]\ndirectories = [{text}]\n\
         [[approvals.rules]]\neffect = \"allow\"\ntool = \"exec_shell\"\nwords = [\"echo\", {text}]\n"
    );
    std::fs::write(lango.config_file(), config).unwrap();
    for line in [
        "skills list",
        "skills list --json",
        "skills show notes",
        "skills approve notes",
        "skills approve draft",
        "tools list",
        "tools list --json",
        "agents list",
        "agents show poet",
        "agents show poet --json",
        "prompt show poet",
        "prompt show poet --json",
        "config show",
        "config show --json",
        "config get trust.directories",
        "trust --list",
        "approvals list",
        "approvals list --json",
        "approvals show config:1",
    ] {
        // A question without an answer is as visible as the rest.
        if line.starts_with("skills approve") {
            let arguments: Vec<&str> = line.split(' ').collect();
            assert_visible(line, &lango.command(&arguments).run().await);
            continue;
        }
        check(&lango, line).await;
    }
    for line in ["doctor", "doctor --json"] {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_visible(line, &lango.command(&arguments).run().await);
        assert_visible(line, &lango.at_terminal(line).set("NO_COLOR", "1").run().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_and_remembered_is_visible() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"I see.\"\n"]).await;
    let plain = planted();
    saved(&lango, "build", &plain, KnowledgeCategory::Fact).await;
    lango.ask("I live in Bern.").with(&["--session", "work"]).run().await;
    assert_eq!(lango.command(&["memory", "observe", "work"]).run().await.code, 0);
    let listed = lango.command(&["memory", "list", "--json"]).run().await.stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let said = format!("I live with my family in the old town of a city called {QUIET}");
    let edited = lango.command(&["memory", "edit", id, &said]).run().await;
    assert_eq!(edited.code, 0, "{edited:?}");
    lango.file("documents/notes.md", format!("# {QUIET}\n\nThe {QUIET} of the matter.\n"));
    let directory = lango.path("documents").display().to_string();
    assert_visible("ingest", &lango.command(&["ingest", &directory]).run().await);
    let added =
        lango.command(&["graph", "add", "Ada", "wrote", QUIET, "--source", &plain]).run().await;
    assert_visible("graph add", &added);
    assert_eq!(added.code, 0, "{added:?}");
    for line in [
        "knowledge list",
        "knowledge list --json",
        "knowledge show build",
        "memory list",
        "memory list --json",
        "memory export",
        "documents list",
        "documents list --json",
        "documents search matter",
        "documents search matter --json",
        "graph show Ada",
        "graph query --subject Ada",
        "graph query --subject Ada --json",
        "graph export --format dot",
        "graph export --format json-ld",
    ] {
        check(&lango, line).await;
    }
    let exported = lango.command(&["graph", "export", "--format", "json-ld"]).run().await.stdout;
    serde_json::from_str::<serde_json::Value>(&exported).expect("it is still JSON");
    let exported = lango.command(&["sessions", "export", "work"]).run().await.stdout;
    for line in exported.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("it is still JSON");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_that_wait_are_visible() {
    let command = quote(&format!("touch '{}'", planted()));
    let ask = format!(
        "[[reply]]\nagent = \"operator\"\nresults = 0\n\
         call = [{{ name = \"exec_shell\", arguments = {{ command = {command} }} }}]\n\
         [[reply]]\nagent = \"operator\"\nsay = \"Done.\"\n"
    );
    let lango = Lango::playing(&[TO_OPERATOR, &ask]).await;
    let mut session = lango.at_terminal("run PLANTED").set("NO_COLOR", "1").start_typing();
    session.wait_for("Allow this once?").await;
    let listed = lango.command(&["approvals", "list", "--json"]).run().await.stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed["waiting"][0]["id"].as_str().unwrap();
    assert_visible("approvals list", &lango.command(&["approvals", "list"]).run().await);
    check(&lango, "approvals list --json").await;
    check(&lango, &format!("approvals show {id}")).await;
    session.answer("n\n").await;
    let mut asked = session.finish().await;
    // The program itself tells the terminal to mark pastes.
    asked.stdout = asked.stdout.replace("\u{1b}[?2004h", "").replace("\u{1b}[?2004l", "");
    assert_visible("the question", &asked);
    assert!(asked.stdout.contains("PLANTED"), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_peers_and_providers_say_is_visible() {
    let text = quoted();
    let answer = |status: &str, body: String| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{body}"
        )
    };
    let card = format!(
        "{{\"name\":{text},\"description\":{text},\"version\":{text},\"capabilities\":{{}},\
         \"supportedInterfaces\":[{{\"url\":\"http://{{address}}/rpc\",\
         \"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.0\"}}],\
         \"defaultInputModes\":[\"text/plain\"],\"defaultOutputModes\":[\"text/plain\"],\
         \"skills\":[{{\"id\":\"a\",\"name\":{text},\"description\":{text},\"tags\":[{text}]}}]}}"
    );
    let site = Site::with(vec![
        ("/.well-known/agent-card.json", answer("200 OK", card)),
        ("/v1/models", answer("200 OK", format!("{{\"data\":[{{\"id\":{text}}}]}}"))),
        (
            "/v1/chat/completions",
            answer("400 Bad", format!("{{\"error\":{{\"message\":{text}}}}}")),
        ),
    ])
    .await;
    let lango = Lango::silent().await;
    let url = site.url("/.well-known/agent-card.json");
    check(&lango, &format!("a2a card {url}")).await;
    check(&lango, &format!("a2a card {url} --json")).await;
    assert_visible("a2a add", &lango.command(&["a2a", "add", "other", &url, "--yes"]).run().await);
    for line in ["a2a list", "a2a list --json"] {
        check(&lango, line).await;
    }
    let base = site.url("/v1");
    for line in ["models list", "models list --json", "models test", "run hello", "run -vvv hello"]
    {
        let arguments: Vec<&str> = line.split(' ').collect();
        let piped = lango.command(&arguments).set("OPENAI_BASE_URL", &base).run().await;
        let terminal = lango.at_terminal(line).set("OPENAI_BASE_URL", &base).set("NO_COLOR", "1");
        for output in [piped, terminal.run().await] {
            assert_visible(line, &output);
            let all = format!("{}{}", output.stdout, output.stderr);
            assert!(all.contains("PLANTED"), "{line}: {all}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_mcp_servers_say_is_visible() {
    let lango = Lango::silent().await;
    let config = hostile("names", &["names"], "")
        + &hostile("escape", &["escape"], "")
        + &hostile("words", &["description-attack"], "");
    crate::mcp::peer::configure(&lango, &config);
    for server in ["names", "escape", "words"] {
        for line in [format!("mcp test {server}"), format!("mcp tools {server}")] {
            let arguments: Vec<&str> = line.split(' ').collect();
            assert_visible(&line, &lango.command(&arguments).run().await);
            assert_visible(&line, &lango.at_terminal(&line).set("NO_COLOR", "1").run().await);
        }
    }
    for line in ["mcp list", "mcp list --json", "mcp show names", "tools list", "agents list"] {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_visible(line, &lango.command(&arguments).run().await);
        assert_visible(line, &lango.at_terminal(line).set("NO_COLOR", "1").run().await);
    }
}
