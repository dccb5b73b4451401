//! Tests the graph's tools as a model calls them.

use lango_librarian::Holdings;
use lango_librarian::graph::GraphName;
use lango_librarian::inquiries::InquirySettings;
use lango_protocol::Space;
use lango_retrieval::{EntryKey, EntryKind, NewEntry, NewPassage, RetrievalIndex};
use lango_store::Database;
use lango_tool::{SafetyLevel, ToolError};
use serde_json::json;

use crate::database::{call, new_holdings, on_both, tools};

on_both! {
    relations_are_added_found_and_followed,
}

async fn relations_are_added_found_and_followed(database: Database) {
    let ada = json!({
        "subject": "Ada", "predicate": "wrote", "object": "Notes", "source": "said by the user"
    });
    let retrieval = RetrievalIndex::open(database, None).await.unwrap();
    let document = NewEntry {
        key: EntryKey::new(EntryKind::Documents, "default", "letters.md"),
        title: "Letters".into(),
        source: "letters.md".into(),
        digest: "1".into(),
        passages: vec![NewPassage {
            heading: String::new(),
            text: "Dear Charles".into(),
            position: "line 1".into(),
        }],
    };
    retrieval.in_space(&Space::Owner).put_entry(&document).await.unwrap();
    let holdings = Holdings::open(retrieval, InquirySettings::default()).await.unwrap();
    let tools = tools(&holdings, None).await;
    let added = call(&tools, "graph_add", ada.clone()).await.unwrap();
    assert_eq!(added["outcome"], "stored");
    assert_eq!(call(&tools, "graph_add", ada).await.unwrap()["outcome"], "already_there");
    let found = call(&tools, "graph_query", json!({ "object": "notes" })).await.unwrap();
    assert_eq!(found["triples"][0]["subject"], "Ada");
    assert_eq!(found["triples"][0]["source"], "said by the user");
    assert_eq!(found["triples"][0]["by"], "librarian");
    assert!(found["triples"][0]["turn"].is_string());
    let nothing = call(&tools, "graph_query", json!({ "object": "moon" })).await.unwrap();
    assert!(nothing["note"].as_str().unwrap().contains("no such relation"));
    let around = call(&tools, "graph_traverse", json!({ "start_node": "ada" })).await.unwrap();
    assert_eq!(around["edges"], json!([["Ada", "wrote", "Notes"]]));
    assert_eq!(around["nodes"][1], json!({ "name": "Notes", "depth": 1 }));
    let deep = json!({ "start_node": "ada", "max_depth": 50, "direction": "both" });
    let deep = call(&tools, "graph_traverse", deep).await.unwrap();
    assert!(deep["incomplete"][0].as_str().unwrap().contains("cut to 16"), "{deep}");
    for (tool, bad) in [
        ("graph_query", json!({})),
        ("graph_query", json!({ "subject": " " })),
        ("graph_add", json!({ "subject": "a", "predicate": "b", "object": "c\u{0}" })),
        ("graph_add", json!({ "subject": "a", "predicate": "b" })),
        ("graph_traverse", json!({ "start_node": "ada", "max_depth": 0 })),
        ("graph_traverse", json!({ "start_node": "ada", "direction": "up" })),
        ("graph_traverse", json!({ "start_node": "ada", "predicates": vec!["p"; 101] })),
    ] {
        let error = call(&tools, tool, bad.clone()).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{tool} {bad}: {error}");
    }
    let knew = json!({
        "subject": "Ada", "predicate": "knew", "object": "Charles", "source": "letters.md, line 1"
    });
    call(&tools, "graph_add", knew).await.unwrap();
    let stores = holdings.in_space(&Space::Owner);
    let graph = stores.graph();
    let name = GraphName::new("node", "charles").unwrap();
    let related = graph.find_related_texts(&name, 1, 5).await.unwrap();
    assert_eq!(related[0].entry, document.key, "a source that names a document links it");
    let unknown = call(&tools, "graph_traverse", json!({ "start_node": "ote" })).await.unwrap_err();
    assert!(unknown.to_string().contains("there is: Notes"), "{unknown}");
}

#[tokio::test(flavor = "current_thread")]
async fn levels_are_as_documented() {
    let directory = tempfile::tempdir().unwrap();
    let tools = tools(&new_holdings(directory.path()).await, None).await;
    for (name, level, read_only) in [
        ("graph_add", SafetyLevel::Moderate, false),
        ("graph_query", SafetyLevel::Safe, true),
        ("graph_traverse", SafetyLevel::Safe, true),
        ("save_knowledge", SafetyLevel::Moderate, false),
        ("search_knowledge", SafetyLevel::Safe, true),
        ("save_learning", SafetyLevel::Moderate, false),
        ("search_learnings", SafetyLevel::Safe, true),
        ("librarian_pending_inquiries", SafetyLevel::Safe, true),
        ("librarian_answer_inquiry", SafetyLevel::Moderate, false),
        ("librarian_dismiss_inquiry", SafetyLevel::Moderate, false),
    ] {
        let tool = tools.get(name).unwrap();
        assert_eq!((tool.level(), tool.read_only), (level, read_only), "{name}");
    }
}
