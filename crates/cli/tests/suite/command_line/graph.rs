//! `lango graph`, from the first relation to a picture.

use std::process::Command;

use serde_json::Value;

use crate::fixture::{Lango, text_of};
use crate::invocation::CommandOutput;

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    lango.command(&[&["graph"], arguments].concat()).run().await
}

async fn recorded(lango: &Lango, relations: &[[&str; 3]]) {
    for [subject, predicate, object] in relations {
        let done = run(lango, &["add", subject, predicate, object]).await;
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_are_recorded_shown_and_ended() {
    let lango = Lango::silent().await;
    let add = ["add", "Ada", "lives in", "London", "--since", "2026-01-01", "--source", "a.md"];
    let first = run(&lango, &add).await;
    assert_eq!(first.stdout, "recorded: Ada – lives in → London\n", "{first:?}");
    let again = run(&lango, &["add", "ADA", "Lives  In", "london"]).await;
    assert_eq!(again.stdout, "already there: ADA – Lives In → london\n");
    recorded(&lango, &[["Ada", "wrote", "Notes"], ["Notes", "about", "Engine"]]).await;
    recorded(&lango, &[["Engine", "made of", "Brass"]]).await;
    let tree = run(&lango, &["show", "ada"]).await;
    let drawn = "Ada\n├─ lives in → London\n└─ wrote → Notes\n   └─ about → Engine …\n";
    assert_eq!((tree.code, tree.stdout.as_str()), (0, drawn));
    let from_below = run(&lango, &["show", "engine", "--depth", "1"]).await;
    assert_eq!(from_below.stdout, "Engine\n├─ made of → Brass\n└─ about ← Notes …\n");
    let found = run(&lango, &["query", "--subject", "ada", "--json"]).await;
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["triples"].as_array().unwrap().len(), 2);
    assert_eq!(found["triples"][0]["source"], "a.md");
    assert_eq!(found["triples"][0]["by"], "user");
    let end = ["end", "ada", "lives in", "london", "--at", "2026-02-01"];
    assert_eq!(run(&lango, &end).await.stdout, "ended: ada – lives in → london\n");
    let gone = run(&lango, &["query", "--object", "London"]).await;
    assert!(gone.stdout.contains("--history"), "{gone:?}");
    let then = run(&lango, &["query", "--object", "London", "--at", "2026-01-15"]).await;
    assert!(then.stdout.contains("lives in") && then.stdout.contains("2026-02-01"), "{then:?}");
    let shown = run(&lango, &["show", "london", "--at", "2026-01-15", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["edges"][0], serde_json::json!(["Ada", "lives in", "London"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_can_be_read_by_others() {
    let lango = Lango::silent().await;
    let awkward = [
        ["He said \"hi\"", "quotes \\", "a\\nb"],
        ["Größe", "führt zu", "漢字 🦀"],
        ["digraph", "node -> x", "subgraph { } [label=x];"],
        ["a <b>&amp;", "//", "/* */ #"],
    ];
    recorded(&lango, &awkward).await;
    let dot = run(&lango, &["export", "--format", "dot"]).await;
    assert_eq!(dot.code, 0, "{dot:?}");
    assert_eq!(dot.stdout.matches(" -> ").count(), awkward.len() + 1);
    // Read by Graphviz itself, where it is installed.
    let file = lango.file("graph.dot", &dot.stdout);
    if let Ok(drawn) = Command::new("dot").args(["-Tplain", &file]).output() {
        let plain = String::from_utf8(drawn.stdout).unwrap();
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        let count = |kind: &str| plain.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!((count("node "), count("edge ")), (8, 4), "{plain}");
    }
    let output = lango.path("graph.jsonld");
    let written = ["export", "--format", "json-ld", "--output", &text_of(&output)];
    assert_eq!(run(&lango, &written).await.code, 0);
    let linked: Value = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    let graph = linked["@graph"].as_array().unwrap();
    assert_eq!(graph.len(), 2 * awkward.len());
    assert_eq!(graph[0]["name"], awkward[0][0]);
    assert_eq!(graph[1]["@type"], "rdf:Statement");
    for one in graph.iter().filter(|one| one.get("@id").is_some()) {
        let id = one["@id"].as_str().unwrap();
        assert!(id.starts_with("urn:lango:node:") && !id.contains([' ', '"', '<']), "{id}");
    }
    let empty = Lango::silent().await;
    let linked = run(&empty, &["export", "--format", "json-ld"]).await.stdout;
    assert_eq!(serde_json::from_str::<Value>(&linked).unwrap()["@graph"], serde_json::json!([]));
    assert_eq!(
        run(&empty, &["export", "--format", "dot"]).await.stdout,
        "digraph lango {\n  node [shape=box];\n}\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_input_says_what_to_type() {
    let lango = Lango::silent().await;
    recorded(&lango, &[["Ada Lovelace", "wrote", "Notes"]]).await;
    for (arguments, says) in [
        (&["show", "lovelace"][..], "there is: Ada Lovelace"),
        (&["show", "unknown"], "lango graph add"),
        (&["query"], "--subject"),
        (&["add", "a", " ", "b"], "the predicate is empty"),
        (&["end", "Ada Lovelace", "wrote", "Essays"], "--history"),
        (&["query", "--subject", "x", "--at", "yesterday"], "2026-01-31"),
        (&["export", "--format", "svg"], "dot"),
        (&["export", "--format", "dot", "--output", "/nowhere/x"], "cannot write /nowhere/x"),
    ] {
        let done = run(&lango, arguments).await;
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.stderr.contains(says), "{arguments:?}: {done:?}");
    }
    let help = run(&lango, &["export", "--help"]).await;
    assert!(help.stdout.contains("dot -Tsvg"), "{help:?}");
    let deep = run(&lango, &["show", "notes", "--depth", "50"]).await;
    assert!(deep.stdout.contains("cut to 16"), "{deep:?}");
}
