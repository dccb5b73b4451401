//! The servers that everybody uses, as they come from the registries.

use lango_protocol::CallStatus;

use super::peer::{
    Listening, hostile, lango_with, node_programs, on_node, program, python_program,
};
use crate::fixture::Lango;
use crate::journal::Turn;
use crate::site::{Site, page};

async fn ask(lango: &Lango) -> Turn {
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert!(turn.is_answered(), "{:?} {}", turn.results(), turn.stderr);
    turn
}

/// What the calls of a turn gave, all of which worked.
fn outputs(turn: &Turn) -> Vec<String> {
    let worked = |(tool, status, output): &(&str, CallStatus, &str)| {
        assert_eq!(*status, CallStatus::Ok, "{tool}: {output}");
        (*output).to_owned()
    };
    let results = turn.results();
    results.iter().filter(|(tool, ..)| tool.starts_with("mcp_")).map(worked).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn time_and_memory_answer_in_one_turn() {
    let time = program("time", &[&python_program("mcp-server-time")], "");
    let memory = on_node(
        "memory",
        "mcp-server-memory",
        &[],
        "writable = [\".\"]\nenv = { MEMORY_FILE_PATH = \"${NOTES}\" }",
    );
    let calls = [
        (
            "mcp_time_convert_time",
            r#"{ source_timezone = "UTC", time = "12:00", target_timezone = "Asia/Tokyo" }"#,
        ),
        (
            "mcp_memory_create_entities",
            r#"{ entities = [{ name = "Basel", entityType = "city", observations = ["on the Rhine"] }] }"#,
        ),
        ("mcp_memory_read_graph", "{}"),
    ];
    let lango = lango_with(&(time + &memory), &calls).await;
    let notes = lango.workspace().join("notes.json");
    let turn = lango.ask("do it").with(&["--approve", "all"]).set("NOTES", &notes).turn().await;
    let outputs = outputs(&turn);
    assert!(outputs[0].contains("21:00"), "{outputs:?}");
    assert!(outputs[2].contains("on the Rhine"), "{outputs:?}");
    assert!(std::fs::read_to_string(notes).unwrap().contains("Basel"));
}

#[tokio::test(flavor = "multi_thread")]
async fn git_and_filesystem_work_in_the_workspace_and_nowhere_else() {
    let lango = Lango::silent().await;
    let workspace = lango.workspace().display().to_string();
    let commit = "git init -q . && git -c user.name=a -c user.email=a@b add README.md && \
                  git -c user.name=a -c user.email=a@b commit -qm 'the very first'";
    let mut made = std::process::Command::new("sh");
    let status = made.args(["-c", commit]).current_dir(&workspace).status().unwrap();
    assert!(status.success());
    let git = program("git", &[&python_program("mcp-server-git"), "--repository", &workspace], "");
    let files = on_node("files", "mcp-server-filesystem", &[&workspace], "writable = [\".\"]");
    super::peer::configure(&lango, &(git + &files));
    let inside = format!("{workspace}/new.txt");
    let calls = [
        ("mcp_git_git_log", format!("{{ repo_path = {workspace:?} }}")),
        ("mcp_files_write_file", format!("{{ path = {inside:?}, content = \"written\" }}")),
        ("mcp_files_read_text_file", format!("{{ path = {inside:?} }}")),
        ("mcp_files_read_text_file", "{ path = \"/etc/hostname\" }".to_owned()),
    ];
    let calls: Vec<(&str, &str)> =
        calls.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let script = crate::fixture::calling("operator", &calls);
    let lango = lango.now_playing(&[crate::fixture::TO_OPERATOR, &script]).await;
    let turn = ask(&lango).await;
    let results = turn.results();
    let outputs: Vec<&str> = results.iter().map(|(.., output)| *output).collect();
    assert!(outputs.iter().any(|text| text.contains("the very first")), "{outputs:?}");
    assert!(outputs.iter().any(|text| text.contains("written")), "{outputs:?}");
    assert_eq!(std::fs::read_to_string(inside).unwrap(), "written");
    let last = results.iter().rfind(|(tool, ..)| tool.starts_with("mcp_")).unwrap();
    assert_eq!(last.1, CallStatus::Error, "{last:?}");
    assert!(last.2.contains("denied"), "{last:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_reads_a_page() {
    let site = Site::with(vec![("/", page("<p>A page about rain.</p>"))]).await;
    let url = site.url("/");
    let arguments = [
        python_program("mcp-server-fetch"),
        "--allow-private-ips".into(),
        "--ignore-robots-txt".into(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let fetch = program("fetch", &arguments, "");
    let call = format!("{{ url = {url:?}, raw = true }}");
    let lango = lango_with(&fetch, &[("mcp_fetch_fetch", &call)]).await;
    let turn = ask(&lango).await;
    assert!(outputs(&turn)[0].contains("A page about rain"), "{:?}", turn.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_called_over_pipes_and_over_http_and_sees_nothing_of_ours() {
    let script = node_programs().join("mcp-server-everything").canonicalize().unwrap();
    let loopback = super::peer::hostile_directory().join("../node/on_loopback.mjs");
    let served = Listening::start(
        node_programs().join("node"),
        &[
            "--import",
            &loopback.display().to_string(),
            &script.display().to_string(),
            "streamableHttp",
        ],
    )
    .await;
    let config = on_node("pipe", "mcp-server-everything", &[], "env = { OWN = \"${GIVEN}\" }")
        + &served.entry("web", "")
        + "[mcp]\nfoldBytes = 100000\n";
    let calls = [
        ("mcp_pipe_echo", r#"{ message = "through a pipe" }"#),
        ("mcp_pipe_get-sum", "{ a = 2, b = 40 }"),
        ("mcp_pipe_get-env", "{}"),
        ("mcp_pipe_get-tiny-image", "{}"),
        ("mcp_pipe_get-structured-content", r#"{ location = "New York" }"#),
        ("mcp_web_echo", r#"{ message = "through the web" }"#),
        ("mcp_web_trigger-long-running-operation", "{ duration = 1, steps = 4 }"),
    ];
    let lango = lango_with(&config, &calls).await;
    let turn = lango
        .ask("do it")
        .with(&["--approve", "all"])
        .set("GIVEN", "wanted-by-the-server")
        .set("OPENAI_API_KEY", "sk-canary-not-for-servers")
        .set("VAULT_TOKEN", "canary-of-the-vault")
        .turn()
        .await;
    let outputs = outputs(&turn);
    assert!(outputs[0].contains("through a pipe") && outputs[1].contains("42"), "{outputs:?}");
    assert!(outputs[2].contains("wanted-by-the-server"), "{}", outputs[2]);
    for ours in ["canary", "LANGO_", "OPENAI", "VAULT"] {
        assert!(!outputs[2].contains(ours), "{ours}: {}", outputs[2]);
    }
    assert!(outputs[3].contains("[an image (image/png"), "{}", outputs[3]);
    assert!(outputs[4].contains("temperature"), "{}", outputs[4]);
    assert!(
        outputs[5].contains("through the web") && outputs[6].contains("completed"),
        "{outputs:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_is_asked_about_whatever_the_server_says_about_its_tools() {
    let file = "lied.txt";
    let config = hostile("lies", &["lies"], "writable = [\".\"]");
    let lango = lango_with(&config, &[]).await;
    let path = lango.workspace().join(file).display().to_string();
    let call = format!("{{ path = {path:?}, content = \"x\" }}");
    let script = crate::fixture::calling("operator", &[("mcp_lies_look", &call)]);
    let lango = lango.now_playing(&[crate::fixture::TO_OPERATOR, &script]).await;
    let turn = lango.ask("look").turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1), "{:?}", turn.results());
    assert!(!lango.workspace().join(file).exists());
    let asked = serde_json::to_string(&turn.events).unwrap();
    assert!(asked.contains("Call look of the MCP server lies"), "{asked}");
    // A rule of the user's is enough; the server's word is not.
    let allow = ["approvals", "add", "allow", "--tool", "mcp_lies_*"];
    assert_eq!(lango.command(&allow).run().await.code, 0);
    assert_eq!(lango.ask("look").turn().await.code, 0);
    assert!(lango.workspace().join(file).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_server_reaches_only_the_person_at_the_terminal() {
    let config = on_node("all", "mcp-server-everything", &[], "") + "[mcp]\nfoldBytes = 100000\n";
    let lango = lango_with(&config, &[("mcp_all_trigger-elicitation-request", "{}")]).await;
    // The call, the question, a name; whatever else is asked has a default or is left out.
    let mut session = lango.at_terminal("run 'ask me'").start_typing();
    // What is typed ahead answers neither.
    session.send("n\nn\n").await;
    for answer in ["y\n", "y\n", "Ada\n"] {
        session.answer(answer).await;
    }
    let shown = session.press_enter_until_the_end().await;
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.contains("The MCP server all asks you"), "{}", shown.stdout);
    assert!(shown.stdout.contains("- Name: Ada"), "{}", shown.stdout);
    // Without anybody there, it is declined, and the result says so.
    let turn = lango.ask("ask me").with(&["--approve", "all"]).turn().await;
    let text = turn.results()[0].2.to_owned();
    assert!(text.contains("no answer was given") && text.contains("declined"), "{text}");
}
