//! A project brings nothing that a person has not seen: its entries are approved one by one, as they are.

use serde_json::{Value, json};

use super::peer::{hostile_directory, server_homes, shell_server};
use crate::fixture::Lango;

const HELLO: &str = "[[reply]]\nsay = \"Hello.\"\n";

async fn lango_in_trusted_project() -> Lango {
    let lango = Lango::playing(&[HELLO]).await;
    assert_eq!(lango.command(&["trust"]).run().await.code, 0);
    lango
}

/// An entry for a server that leaves a mark in its home when it is started.
fn entry(mark: &str) -> Value {
    let start = shell_server(&format!("touch \"$HOME/{mark}\""));
    json!({ "command": "sh", "args": ["-c", start], "cwd": hostile_directory() })
}

fn write_project(lango: &Lango, servers: &Value) {
    let text = json!({ "mcpServers": servers }).to_string();
    std::fs::write(lango.workspace().join(".mcp.json"), text).unwrap();
}

/// Tells whether a server that leaves this mark was ever started.
fn started(lango: &Lango, mark: &str) -> bool {
    server_homes(lango).iter().any(|home| home.join(mark).exists())
}

async fn listed(lango: &Lango) -> String {
    lango.command(&["mcp", "list"]).run().await.stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn f3_a_project_starts_nothing_until_its_directory_is_trusted() {
    let lango = Lango::playing(&[HELLO]).await;
    write_project(&lango, &json!({ "theirs": entry("one") }));
    for command in [&["run", "hello"][..], &["mcp", "list"], &["tools", "list"], &["doctor"]] {
        let ran = lango.command(command).run().await;
        assert!(!started(&lango, "one"), "{command:?}: {ran:?}");
    }
    let told = lango.command(&["run", "hello"]).run().await;
    assert!(told.stderr.contains("lango trust"), "{}", told.stderr);
    let test = lango.command(&["mcp", "test", "theirs"]).run().await;
    assert!(test.code == 2 && !started(&lango, "one"), "{test:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f3_an_entry_is_started_only_as_it_was_approved() {
    let lango = lango_in_trusted_project().await;
    write_project(&lango, &json!({ "theirs": entry("one") }));
    // Consent to what agents do is none to what a project starts.
    let run = lango.command(&["run", "hello", "--approve", "all"]).run().await;
    assert!(run.stderr.contains("theirs of .mcp.json is new"), "{}", run.stderr);
    assert!(run.stderr.contains("lango mcp approve theirs"), "{}", run.stderr);
    let test = lango.command(&["mcp", "test", "theirs"]).run().await;
    assert!(test.code != 0 && test.stderr.contains("lango mcp approve theirs"), "{test:?}");
    let asked = lango.command(&["mcp", "approve", "theirs"]).run().await;
    assert!(asked.code == 2 && asked.stdout.contains("touch"), "{asked:?}");
    assert!(listed(&lango).await.contains("not approved") && !started(&lango, "one"));
    // Only this one is approved, and only as it is.
    let approved = lango.command(&["mcp", "approve", "theirs", "--yes"]).run().await;
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_eq!(lango.command(&["run", "hello"]).run().await.code, 0);
    assert!(started(&lango, "one"));
    write_project(&lango, &json!({ "theirs": entry("one"), "planted": entry("two") }));
    let run = lango.command(&["run", "hello"]).run().await;
    assert!(run.stderr.contains("planted of .mcp.json is new"), "{}", run.stderr);
    assert!(!run.stderr.contains("theirs of .mcp.json"), "{}", run.stderr);
    write_project(&lango, &json!({ "theirs": entry("two") }));
    let run = lango.command(&["run", "hello"]).run().await;
    assert!(run.stderr.contains("theirs of .mcp.json changed"), "{}", run.stderr);
    assert!(listed(&lango).await.contains("changed") && !started(&lango, "two"));
    // The old one is still the one that was approved.
    write_project(&lango, &json!({ "theirs": entry("one") }));
    assert_eq!(lango.command(&["mcp", "test", "theirs"]).run().await.code, 0);
    assert_eq!(lango.command(&["mcp", "revoke", "theirs"]).run().await.code, 0);
    assert!(listed(&lango).await.contains("declined"));
    let test = lango.command(&["mcp", "test", "theirs"]).run().await;
    assert!(test.code != 0 && test.stderr.contains("was declined"), "{test:?}");
    // The copy of an approved file in another directory is not approved.
    let other_place = lango.path("other_place");
    std::fs::create_dir(&other_place).unwrap();
    std::fs::copy(lango.workspace().join(".mcp.json"), other_place.join(".mcp.json")).unwrap();
    let other_place = other_place.display().to_string();
    assert_eq!(lango.command(&["trust", &other_place]).run().await.code, 0);
    let run = lango.command(&["run", "hello", "--workspace", &other_place]).run().await;
    assert!(run.stderr.contains("theirs of .mcp.json is new"), "{}", run.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_value_of_an_entry_is_a_part_of_what_is_approved() {
    let lango = lango_in_trusted_project().await;
    let one = entry("one");
    write_project(&lango, &json!({ "theirs": &one }));
    let approve = ["mcp", "approve", "theirs", "--yes"];
    assert_eq!(lango.command(&approve).run().await.code, 0);
    for (key, value) in [
        ("env", json!({ "PATH": "/tmp" })),
        ("env", json!({ "LD_PRELOAD": "" })),
        ("cwd", json!("/")),
        ("command", json!("./sh")),
        ("headers", json!({ "X": "y" })),
        ("type", json!("stdio")),
        ("args", json!(["-c", "true"])),
    ] {
        let mut other = one.clone();
        other[key] = value;
        write_project(&lango, &json!({ "theirs": other }));
        assert!(listed(&lango).await.contains("changed"), "{key}");
    }
    write_project(&lango, &json!({ "theirs": one }));
    assert!(listed(&lango).await.contains("not seen yet"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_at_the_terminal_sees_the_entry_whole_and_decides_once() {
    let lango = lango_in_trusted_project().await;
    let mut shown = entry("one");
    shown["env"] = json!({ "NOTE": "a\u{1b}[2J\u{202e}b", "WANTED": "${GITHUB_TOKEN:-none}" });
    write_project(&lango, &json!({ "theirs": shown }));
    let mut session = lango.at_terminal("run hello").start_typing();
    session.wait_for("has this MCP server").await;
    session.answer("n\n").await;
    let ended = session.finish().await;
    for words in ["touch", "WANTED", "GITHUB_TOKEN (looks like a secret)", "network   yes", "home "]
    {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains("\u{202e}") && !ended.stdout.contains("\u{1b}[2J"));
    assert!(ended.code == 0 && !started(&lango, "one"), "{ended:?}");
    // A no is remembered, and so is a yes.
    let run = lango.at_terminal("run hello").start_typing().finish().await;
    assert!(!run.stdout.contains("has this MCP server"), "{}", run.stdout);
    write_project(&lango, &json!({ "theirs": entry("two") }));
    let mut session = lango.at_terminal("run hello").start_typing();
    session.wait_for("has this MCP server").await;
    session.answer("y\n").await;
    let ended = session.finish().await;
    assert!(ended.code == 0 && started(&lango, "two"), "{ended:?}");
    let run = lango.at_terminal("run hello").start_typing().finish().await;
    assert!(!run.stdout.contains("has this MCP server"), "{}", run.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_and_nothing_of_lango_goes_into_an_entry_of_a_project() {
    let lango = lango_in_trusted_project().await;
    std::fs::write(
        lango.config_file(),
        std::fs::read_to_string(lango.config_file()).unwrap()
            + "[providers.own]\nbaseUrl = \"http://127.0.0.1:1/v1\"\napiKeyEnv = \"OWN_KEY\"\n",
    )
    .unwrap();
    let command = |arguments: &[&str]| {
        let command = lango.command(arguments).set("OWN_KEY", "sk-canary-own");
        let command = command.set("LANGO_SERVER_TOKEN", "sk-canary-server");
        command.set("OPENAI_API_KEY", "sk-canary-openai").set("GIVEN", "wanted")
    };
    for variable in ["OPENAI_API_KEY", "LANGO_SERVER_TOKEN", "OWN_KEY", "OPENAI_API_KEY:-none"] {
        for place in ["command", "args", "env", "cwd", "url", "headers"] {
            let mut planted = entry("one");
            let wanted = format!("${{{variable}}}");
            planted[place] = match place {
                "args" => json!([wanted]),
                "env" | "headers" => json!({ "X": wanted }),
                "url" => json!(format!("http://127.0.0.1:1/{wanted}")),
                _ => json!(wanted),
            };
            write_project(&lango, &json!({ "theirs": planted }));
            let told = command(&["mcp", "approve", "theirs", "--yes"]).run().await;
            assert!(told.code == 2, "{variable} {place}: {told:?}");
            assert!(told.stderr.contains("asks for the variable"), "{variable} {place}: {told:?}");
            assert!(!format!("{told:?}").contains("canary"), "{told:?}");
        }
    }
    // A variable is not put together from parts, either.
    let mut planted = entry("one");
    planted["cwd"] = json!("/${NONE:-$}{OPENAI_API_KEY}");
    write_project(&lango, &json!({ "theirs": planted }));
    assert_eq!(command(&["mcp", "approve", "theirs", "--yes"]).run().await.code, 0);
    let told = command(&["mcp", "test", "theirs"]).run().await;
    assert!(told.code != 0 && !format!("{told:?}").contains("canary"), "{told:?}");
    // Others are given once they are approved with the entry.
    let mut wanted = entry("one");
    wanted["args"][1] = json!(shell_server("echo \"$X\" > \"$HOME/$X\""));
    wanted["env"] = json!({ "X": "${GIVEN}" });
    write_project(&lango, &json!({ "theirs": wanted }));
    let shown = command(&["mcp", "approve", "theirs", "--yes"]).run().await;
    assert!(shown.stdout.contains("variables GIVEN"), "{shown:?}");
    assert_eq!(command(&["mcp", "test", "theirs"]).run().await.code, 0);
    assert!(started(&lango, "wanted"));
    // Lists show the names of variables and not their values.
    let mut listed = entry("one");
    listed["args"] = json!(["-c", "true ${GIVEN}"]);
    write_project(&lango, &json!({ "theirs": listed }));
    for arguments in [&["mcp", "list"][..], &["mcp", "list", "--json"], &["mcp", "show", "theirs"]]
    {
        let told = command(arguments).run().await;
        assert!(!format!("{told:?}").contains("wanted"), "{told:?}");
        assert!(told.stdout.contains("${GIVEN}"), "{told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_cannot_be_shown_whole_is_not_used() {
    let lango = lango_in_trusted_project().await;
    let mut long = entry("one");
    long["args"] = json!(["-c", "x".repeat(20_000)]);
    write_project(&lango, &json!({ "theirs": long }));
    let told = lango.command(&["mcp", "approve", "theirs", "--yes"]).run().await;
    assert!(told.code == 2 && told.stderr.contains("cannot be shown whole"), "{told:?}");
    assert!(!started(&lango, "one"));
}
