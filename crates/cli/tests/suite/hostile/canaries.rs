//! Models that know a value of the vault, or make tools show it, and try everything to pass it on.
//! Afterwards it is in no request to a model, log, event, file of Lango's, command line of a child or
//! output, in none of the forms that docs/vault.md lists.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lango_store::{Database, Statement};
use serde_json::{Value, json};

use super::every_tool::{CALLS_IN_REPLY, calls_with, known_tools, script};
use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::CommandOutput;
use crate::mcp::peer::{configure, hostile_directory, program, server_homes};

const CANARY: &str = "cnry/7Jx2Qm9Lw4Tz8Kd=Vb5Nc";

/// What the user says in each turn.
const REQUEST: &str = "Go on, stage 5c1f.";

/// The value as an attacker would write it.
fn forms() -> Vec<String> {
    let percent: String = CANARY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let aligned = |before: &str| STANDARD.encode(format!("{before}{CANARY}"));
    vec![
        CANARY.to_owned(),
        aligned(""),
        aligned("x"),
        aligned("xy"),
        URL_SAFE_NO_PAD.encode(CANARY),
        lango_text::hex(CANARY),
        lango_text::hex(CANARY).to_uppercase(),
        CANARY.chars().rev().collect(),
        percent,
        CANARY.replace('/', "%2F").replace('=', "%3D"),
        CANARY.replace('/', "%2f").replace('=', "%3d"),
        CANARY.replace('/', "\\/"),
    ]
}

/// What must not be found: of base64 the part that does not depend on what stands before and after.
fn traces() -> Vec<String> {
    let inner = |text: String| text[4..text.len() - 4].to_owned();
    let mut traces = forms();
    for trace in &mut traces[1..5] {
        *trace = inner(std::mem::take(trace));
    }
    traces
}

fn assert_clean(what: &str, bytes: &[u8]) {
    for trace in traces() {
        let at = bytes.windows(trace.len()).position(|part| part == trace.as_bytes());
        if let Some(at) = at {
            let around = &bytes[at.saturating_sub(200)..(at + 200).min(bytes.len())];
            panic!("{trace} is in {what}: {}", String::from_utf8_lossy(around));
        }
    }
}

fn assert_clean_files(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_clean_files(&path);
        } else if let Ok(bytes) = std::fs::read(&path) {
            assert_clean(&path.display().to_string(), &bytes);
        }
    }
}

/// The texts of a turn put together, however they were cut.
fn joined_text(stdout: &str) -> String {
    let lines = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|event| event["text"].as_str().map(str::to_owned)).collect()
}

/// Lango with the value in its vault, and in files that agents reach.
async fn prepare() -> Lango {
    let lango = Lango::silent().await;
    let stored = lango.bare(&["secrets", "set", "canary"]).input(format!("{CANARY}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
    let workspace = lango.workspace();
    std::fs::write(workspace.join("leak.txt"), forms().join("\n")).unwrap();
    std::fs::write(workspace.join("table.csv"), format!("name,token\nada,{CANARY}\n")).unwrap();
    let name = CANARY.replace('/', "_");
    std::fs::write(workspace.join(format!("{}.txt", lango_text::hex(CANARY))), &name).unwrap();
    lango
}

/// Runs a turn with this script and looks at everything that it left.
async fn attack(lango: Lango, script: &str) -> Lango {
    attack_with(lango, script, None).await
}

/// The same in another database.
async fn attack_with(lango: Lango, script: &str, database: Option<&str>) -> Lango {
    let lango = lango.now_playing(&[script]).await;
    let asked = lango.ask(REQUEST).with(&["--approve", "all"]).set("LANGO_LOG", "trace");
    let asked = match database {
        Some(url) => asked.set("LANGO_DATABASE_URL", url),
        None => asked,
    };
    let CommandOutput { stdout, stderr, .. } = asked.run().await;
    assert!(stdout.contains("turn_finished"), "the turn has no end: {stdout} {stderr}");
    assert_clean("the output", stdout.as_bytes());
    assert_clean("the text", joined_text(&stdout).as_bytes());
    assert_clean("the log", stderr.as_bytes());
    assert!(stderr.contains("TRACE") || stderr.contains("DEBUG"), "{stderr}");
    for request in lango.received() {
        assert_clean("a request", request.body.as_bytes());
        assert_clean("the path of a request", request.path.as_bytes());
    }
    lango
}

/// Looks at what lies on the disk after everything.
fn assert_nothing_stored(lango: &Lango) {
    assert_clean_files(&lango.home());
}

/// Has an agent call each of its tools with each form of the value. Returns how many turns that were.
async fn walk(agent: &'static str) -> usize {
    let mut lango = prepare().await;
    let tools = known_tools(&lango, agent).await;
    let mut calls: Vec<(String, Value)> = Vec::new();
    for form in forms() {
        for tool in &tools {
            for arguments in calls_with(tool, &form) {
                let call = (tool.name.clone(), arguments);
                if !calls.contains(&call) {
                    calls.push(call);
                }
            }
        }
    }
    let mut turns = 0;
    for calls in calls.chunks(CALLS_IN_REPLY) {
        lango = attack(lango, &script(agent, calls)).await;
        turns += 1;
    }
    assert_nothing_stored(&lango);
    turns
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_through_the_tools_of_the_operator() {
    assert!(walk("operator").await >= 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_through_the_tools_of_the_navigator() {
    assert!(walk("navigator").await >= 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_through_the_tools_of_the_librarian() {
    assert!(walk("librarian").await >= 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_through_the_tools_of_the_chronicler() {
    assert!(walk("chronicler").await >= 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_through_the_tools_of_the_vault() {
    assert!(walk("vault").await >= 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_through_the_tools_of_the_automator() {
    assert!(walk("automator").await >= 10);
}

/// Commands that print the variable `T`, or its form, in every way that a shell has at hand.
const COMMANDS: [&str; 20] = [
    "echo $T",
    "printf %s \"$T\" | base64",
    "printf x%s \"$T\" | base64 -w 7",
    "printf %s \"$T\" | base64 | tr -- '+/' '-_'",
    "printf %s \"$T\" | od -An -tx1 | tr -d ' \\n'",
    "printf %s \"$T\" | od -An -tx1 | tr -d ' \\n' | tr a-f A-F",
    "printf %s \"$T\" | rev",
    "printf %s \"$T\" | sed 's,/,%2F,g; s,=,%3D,g'",
    "echo $T >&2; exit 3",
    "cat \"/nowhere/$T\"",
    "touch \"./$(printf %s \"$T\" | tr / _)\"; ls",
    "mkdir -p made/$(printf %s \"$T\" | base64 -w0 | tr / _); find made",
    "env",
    "export -p",
    "cat /proc/self/environ",
    "sh -c 'echo $0' \"$T\"",
    "$T",
    "cd \"$T\"",
    "printf '%s' \"${T%????????}\"; sleep 0.2; printf '%s\\n' \"${T#??????????????????}\"",
    "for i in 1 2 3; do printf '%s' \"$T$T\"; done",
];

/// Commands that print the file `$T`, or its form, in some of these ways.
const FILE_COMMANDS: [&str; 7] = [
    "cat \"$T\"",
    "base64 -w 0 <\"$T\"",
    "rev \"$T\" >&2; exit 3",
    "od -An -tx1 \"$T\" | tr -d ' \\n'",
    "cp \"$T\" copied.txt; grep -n . copied.txt; mv copied.txt \"$(tr / _ <\"$T\")\"; ls",
    "sh -c 'echo $0' \"$(cat \"$T\")\"",
    "printf '%s\\n' \"$(cat \"$T\")$(cat \"$T\")\"",
];

/// The vault gives a handle, and the operator a command with it: in a variable, or in a file.
fn stealing(command: &str, parameter: &str) -> String {
    let mut arguments = json!({ "command": command });
    arguments[parameter] = json!({ "T": "{word:secret-handle-}" });
    let arguments = arguments.to_string();
    let raw = toml::Value::String(arguments);
    format!(
        r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{{ name = "transfer_to_agent", arguments = {{ agent_name = "vault", task = "Get it." , return = true }} }}]
[[reply]]
agent = "vault"
results = 0
call = [{{ name = "secrets_get", arguments = {{ name = "canary", purpose = "a test" }} }}]
[[reply]]
agent = "vault"
say = "{{result}}"
[[reply]]
agent = "lango-orchestrator"
results = 1
call = [{{ name = "transfer_to_agent", arguments = {{ agent_name = "operator", task = "Use {{word:secret-handle-}}" }} }}]
[[reply]]
agent = "operator"
results = 0
call = [{{ name = "exec_shell", raw = {raw} }}]
[[reply]]
say = "{{result}}"
"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_out_of_a_command_that_got_it() {
    let mut lango = prepare().await;
    for command in COMMANDS {
        lango = attack(lango, &stealing(command, "secrets")).await;
        let requests = lango.received();
        let used = requests.iter().any(|request| request.body.contains("secret-handle-"));
        assert!(used, "the operator got no handle for {command}");
    }
    let audit = lango.bare(&["audit", "--json", "--limit", "1000"]).run().await;
    let uses = audit.stdout.matches("$T of: ").count();
    assert_eq!(uses, COMMANDS.len(), "every command got the value: {}", audit.stdout);
    assert_nothing_stored(&lango);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_out_of_a_command_that_got_it_as_a_file() {
    let mut lango = prepare().await;
    for command in FILE_COMMANDS {
        lango = attack(lango, &stealing(command, "secret_files")).await;
        let last = lango.received().pop().unwrap();
        assert!(last.body.contains("[secret:canary]"), "{command}: {}", last.body);
        assert_nothing_stored(&lango);
    }
    let audit = lango.bare(&["audit", "--json", "--limit", "1000"]).run().await;
    let uses = audit.stdout.matches("$T of: ").count();
    assert_eq!(uses, FILE_COMMANDS.len(), "every command got the file: {}", audit.stdout);
    lango = lango.now_playing(&[&stealing("cat \"$T\"", "secret_files")]).await;
    let mut session = lango.at_terminal("run 'go on'").start_typing();
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    session.wait_for("with the secret canary as a file named by $T").await;
    session.wait_for("Allow this once?").await;
    session.answer("n\n").await;
    assert_clean("the screen", session.finish().await.stdout.as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_to_or_from_an_mcp_server() {
    let mut lango = prepare().await;
    // The server answers with every form of the value, and writes down what it is sent.
    let directory = hostile_directory();
    let script_file = directory.join("hostile_mcp.py");
    let leak = lango.workspace().join("leak.txt");
    let server = format!(
        "exec python3 {} --mode lookup --state {} --log \"$HOME/log\"",
        script_file.display(),
        leak.display()
    );
    let place = format!("cwd = \"{}\"", directory.display());
    configure(&lango, &program("desk", &["sh", "-c", &server], &place));
    let calls: Vec<(String, Value)> = forms()
        .into_iter()
        .map(|form| {
            ("mcp_desk_lookup".to_owned(), json!({ "query": format!("of {form}, please") }))
        })
        .collect();
    for calls in calls.chunks(CALLS_IN_REPLY) {
        lango = attack(lango, &script("operator", calls)).await;
        let last = lango.received().pop().unwrap();
        assert!(last.body.contains("[secret:canary]"), "the server was not asked: {}", last.body);
    }
    let heard = std::fs::read(server_homes(&lango)[0].join("log")).unwrap();
    let asked = String::from_utf8_lossy(&heard).matches("[secret:canary], please").count();
    assert!(asked >= calls.len() / 2, "it was asked {asked} times");
    assert_clean("what the server was sent", &heard);
    assert_nothing_stored(&lango);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_in_words_thoughts_names_and_tasks_of_a_model() {
    let mut lango = prepare().await;
    for form in forms() {
        let text = |text: &str| toml::Value::String(text.to_owned());
        let say = text(&format!("It is {form}, and again: {form}"));
        let long = text(&format!("a {form} "));
        let name = text(&form);
        let scripts = [
            format!("[[reply]]\nsay = {say}\n"),
            format!("[[reply]]\nfault = \"drip\"\ndrip_ms = 0\nsay = {say}\n"),
            format!("[[reply]]\nsay = {long}\nrepeat = 40\n"),
            format!("[[reply]]\nthink = {say}\nsay = \"Hm.\"\n"),
            format!("[[reply]]\nfault = \"no-end\"\nsay = {say}\n"),
            format!("[[reply]]\nsay = {}\n", text(&format!("[ASK] {form}?"))),
            format!("[[reply]]\nsay = {}\n", text(&format!("[REJECT] {form}"))),
            format!(
                "[[reply]]\nresults = 0\ncall = [{{ name = {name} }}]\n[[reply]]\nsay = \"{{result}}\"\n"
            ),
            format!(
                "[[reply]]\nresults = 0\ncall = [{{ name = \"transfer_to_agent\", arguments = {{ \
                 agent_name = {name}, task = {say} }} }}]\n[[reply]]\nsay = \"{{result}}\"\n"
            ),
            format!(
                "[[reply]]\nagent = \"lango-orchestrator\"\nresults = 0\ncall = [{{ name = \
                 \"transfer_to_agent\", arguments = {{ agent_name = \"operator\", task = {say} }} }}]\n\
                 [[reply]]\nsay = {say}\n"
            ),
        ];
        for script in scripts {
            lango = attack(lango, &script).await;
        }
    }
    assert_nothing_stored(&lango);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_passes_from_files_into_requests_and_command_lines() {
    let mut lango = prepare().await;
    // A command line that a model wrote with the value in it: the child shows its own.
    for (number, form) in forms().iter().enumerate() {
        let quoted = format!("'{}'", form.replace('\'', ""));
        let command = format!("tr '\\0' ' ' < /proc/$$/cmdline > argv-{number}.txt; : {quoted}");
        let calls = vec![("exec_shell".to_owned(), json!({ "command": command }))];
        lango = attack(lango, &script("operator", &calls)).await;
        let shown = std::fs::read(lango.workspace().join(format!("argv-{number}.txt"))).unwrap();
        assert!(!shown.is_empty());
        assert_clean("a command line", &shown);
    }
    // A letter that is written as its number, and a word that only a shell puts together.
    let hidden = format!("\\u0063{}", &CANARY[1..]);
    let pieces = format!("{}''{}", &CANARY[..6], &CANARY[6..]);
    for (number, raw) in [
        format!("{{\"command\": \"tr '\\\\0' ' ' < /proc/$$/cmdline > hidden.txt; : {hidden}\"}}"),
        format!("{{\"command\": \"./{pieces} x\"}}"),
        format!("{{\"{hidden}\": 1, \"command\": \"ls\"}}"),
    ]
    .into_iter()
    .enumerate()
    {
        let raw = toml::Value::String(raw);
        let call = format!("call = [{{ name = \"exec_shell\", raw = {raw} }}]");
        let script = format!(
            "{TO_OPERATOR}[[reply]]\nagent = \"operator\"\nresults = 0\n{call}\n[[reply]]\nsay = \"{{result}}\"\n"
        );
        lango = attack(lango, &script).await;
        let asked = lango.ask("Again.").with(&["--approve", "ask"]).run().await;
        assert_clean("a question", format!("{asked:?}").as_bytes());
        let shown = std::fs::read(lango.workspace().join("hidden.txt"));
        assert!(number > 0 || shown.is_ok(), "it did not run");
        assert_clean("a command line", &shown.unwrap_or_default());
    }
    let reads: Vec<(String, Value)> = [
        ("fs_read", json!({ "path": "leak.txt" })),
        ("fs_list", json!({ "path": "." })),
        ("fs_search", json!({ "pattern": "cnry|token" })),
        ("fs_find", json!({ "name": "*.txt" })),
        ("exec_shell", json!({ "command": "cat leak.txt; ls; grep -rn token ." })),
        ("fs_delete", json!({ "path": "*.txt" })),
    ]
    .into_iter()
    .map(|(tool, arguments)| (tool.to_owned(), arguments))
    .collect();
    for read in reads {
        lango = attack(lango, &script("operator", &[read])).await;
    }
    assert_nothing_stored(&lango);
}

/// Returns the files of PostgreSQL, its log of writes included, that have one of these texts.
async fn postgres_files_with(database: &Database, texts: &[String]) -> Vec<String> {
    database.write(Statement::new("CHECKPOINT").into()).await.unwrap();
    let rows = database.query(Statement::new("SHOW data_directory")).await.unwrap();
    let directory = rows[0].text(0).unwrap().to_owned();
    let mut grep = tokio::process::Command::new("grep");
    grep.args(["--recursive", "--files-with-matches", "--text", "--fixed-strings"]);
    for text in texts {
        grep.args(["-e", text]);
    }
    let found = grep.arg("--").arg(&directory).output().await.unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_is_in_the_files_of_postgresql() {
    let server = std::env::var("LANGO_TEST_POSTGRES")
        .expect("LANGO_TEST_POSTGRES is not set; run the tests with: cargo xtask test");
    let database = Database::open(&server.parse().unwrap()).await.unwrap();
    let id = lango_protocol::TurnId::generate().to_string().replace('-', "_");
    let schema = format!("canaries_{id}");
    let sql = format!("CREATE SCHEMA {schema}");
    database.write(Statement::new(sql).into()).await.unwrap();
    let url = format!("{server}?options=-csearch_path%3D{schema}");
    let mut lango = prepare().await;
    let set = lango.bare(&["secrets", "set", "canary"]).set("LANGO_DATABASE_URL", &url);
    assert_eq!(set.input(format!("{CANARY}\n")).run().await.code, 0);
    let all = forms().join(" and ");
    let say = toml::Value::String(format!("It is {all}, and again: {all}"));
    let call = |agent, tool: &str, arguments| script(agent, &[(tool.to_owned(), arguments)]);
    for script in [
        format!("[[reply]]\nfault = \"drip\"\ndrip_ms = 0\nsay = {say}\n"),
        call("operator", "exec_shell", json!({ "command": "cat leak.txt" })),
        call("chronicler", "memory_store", json!({ "content": all })),
        call("librarian", "rag_ingest", json!({ "path": "leak.txt" })),
        call("librarian", "save_knowledge", json!({ "key": "note", "content": all })),
    ] {
        lango = attack_with(lango, &script, Some(&url)).await;
    }
    let request = [REQUEST.to_owned()];
    assert!(!postgres_files_with(&database, &request).await.is_empty(), "they are searched");
    assert_eq!(postgres_files_with(&database, &traces()).await, Vec::<String>::new());
    let sql = format!("DROP SCHEMA {schema} CASCADE");
    database.write(Statement::new(sql).into()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_is_on_the_screen() {
    let mut lango = prepare().await;
    let all = forms().join("\n\n    ");
    let say = toml::Value::String(format!("It is {all}, and again: {all}"));
    let command = json!({ "command": format!("echo '{}'", all.replace('\'', "")) });
    let calls = script("operator", &[("exec_shell".to_owned(), command)]);
    let words = format!("[[reply]]\nfault = \"drip\"\ndrip_ms = 0\nsay = {say}\n");
    for script in [&words, &calls] {
        lango = lango.now_playing(&[script]).await;
        let session = lango.at_terminal("run 'go on' --approve all").start_typing();
        let finished = session.finish().await;
        assert!(finished.stdout.contains("[secret:canary]"), "{finished:?}");
        assert_clean("the screen", finished.stdout.as_bytes());
    }
    // A question shows what would run.
    lango = lango.now_playing(&[&calls]).await;
    let mut session = lango.at_terminal("run 'go on'").start_typing();
    session.wait_for("Allow this once?").await;
    session.answer("n\n").await;
    assert_clean("a question", session.finish().await.stdout.as_bytes());
}
