//! Tests knowledge: versioned by key, never silently overwritten, found by the newest version.

use lango_librarian::Holdings;
use lango_librarian::inquiries::InquirySettings;
use lango_librarian::knowledge::KnowledgeCategory;
use lango_protocol::Space;
use lango_store::{Database, Statement};
use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::database::{Cars, call, holdings, on_both, open_holdings, tools};

on_both! {
    a_key_that_is_taken_gets_a_new_version,
    the_newest_version_is_found_and_only_that,
    what_is_removed_is_gone,
    what_means_the_same_is_found,
    writers_at_once_lose_nothing,
    bad_input_is_refused,
}

fn save(key: &str, content: &str) -> Value {
    json!({ "key": key, "content": content })
}

async fn keys(holdings: &Holdings, query: &str) -> Vec<String> {
    let found = holdings.in_space(&Space::Owner).knowledge().search(query, None, 10).await.unwrap();
    found.hits.into_iter().map(|hit| hit.key).collect()
}

async fn a_key_that_is_taken_gets_a_new_version(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let first =
        call(&tools, "save_knowledge", save("Build  Command", "cargo build")).await.unwrap();
    assert_eq!(first, json!({ "key": "Build Command", "version": 1, "outcome": "stored" }));
    let same = call(&tools, "save_knowledge", save("build command", "cargo build ")).await.unwrap();
    assert_eq!((&same["outcome"], &same["version"]), (&json!("unchanged"), &json!(1)));
    let other = call(&tools, "save_knowledge", save("BUILD COMMAND", "make all")).await.unwrap();
    assert_eq!((&other["outcome"], &other["version"]), (&json!("new_version"), &json!(2)));
    assert_eq!(other["key"], "Build Command");
    assert_eq!(other["replaced"]["version"], 1);
    assert_eq!(other["replaced"]["content"], "cargo build");
    assert_eq!(other["replaced"]["by"], "librarian");
    assert!(other["replaced"]["recorded_at"].is_string());
    let history =
        holdings.in_space(&Space::Owner).knowledge().list_versions("build command").await.unwrap();
    let contents: Vec<(i64, &str)> =
        history.iter().map(|one| (one.version, one.content.as_str())).collect();
    assert_eq!(contents, [(2, "make all"), (1, "cargo build")]);
    assert!(history[0].provenance.session.is_some() && history[0].provenance.turn.is_some());
}

async fn the_newest_version_is_found_and_only_that(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let rule = |content: &str| {
        json!({
            "key": "deploy day", "content": content, "category": "rule", "tags": ["release", "calendar"]
        })
    };
    call(&tools, "save_knowledge", rule("We deploy on Fridays.")).await.unwrap();
    assert_eq!(keys(&holdings, "fridays").await, ["deploy day"]);
    call(&tools, "save_knowledge", rule("We deploy on Mondays.")).await.unwrap();
    assert!(keys(&holdings, "fridays").await.is_empty());
    assert_eq!(keys(&holdings, "mondays").await, ["deploy day"]);
    assert_eq!(keys(&holdings, "calendar").await, ["deploy day"], "tags are searched");
    let ask = |category: &str| json!({ "query": "when do we deploy?", "category": category });
    let found = call(&tools, "search_knowledge", ask("rule")).await.unwrap();
    let hit = &found["hits"][0];
    assert_eq!((&hit["version"], &hit["text"]), (&json!(2), &json!("We deploy on Mondays.")));
    assert!(hit["score"].is_f64() && hit["by"] == "librarian" && hit["recorded_at"].is_string());
    let other = call(&tools, "search_knowledge", ask("fact")).await.unwrap();
    assert_eq!(other["hits"], json!([]));
    assert!(other["note"].as_str().unwrap().contains("nothing is known"));
    // In another category it is still one piece of knowledge.
    let moved =
        json!({ "key": "deploy day", "content": "We deploy on Mondays.", "category": "fact" });
    let moved = call(&tools, "save_knowledge", moved).await.unwrap();
    assert_eq!(moved["version"], 3);
    let found = call(&tools, "search_knowledge", ask("rule")).await.unwrap();
    assert_eq!(found["hits"], json!([]));
    assert_eq!(keys(&holdings, "mondays").await, ["deploy day"]);
}

async fn what_is_removed_is_gone(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    for content in ["The password hint is zanzibar.", "The hint is quokka."] {
        call(&tools, "save_knowledge", save("hint", content)).await.unwrap();
    }
    call(&tools, "save_knowledge", save("other", "Something else.")).await.unwrap();
    let stores = holdings.in_space(&Space::Owner);
    let knowledge = stores.knowledge();
    assert!(knowledge.remove("HINT").await.unwrap());
    assert!(!knowledge.remove("hint").await.unwrap());
    assert!(keys(&holdings, "hint quokka zanzibar").await.is_empty());
    assert!(knowledge.list_versions("hint").await.unwrap().is_empty());
    let left = knowledge.list(None, "", 10).await.unwrap();
    assert_eq!(left.len(), 1);
    for table in ["knowledge_versions", "retrieval_entries"] {
        let count = Statement::new(format!("SELECT COUNT(*) FROM {table}"));
        assert_eq!(database.query(count).await.unwrap()[0].integer(0).unwrap(), 1, "{table}");
    }
}

async fn what_means_the_same_is_found(database: Database) {
    let holdings =
        open_holdings(&database, Some(Cars::embedder()), InquirySettings::default()).await;
    let tools = tools(&holdings, None).await;
    call(&tools, "save_knowledge", save("garage", "The automobile is blue.")).await.unwrap();
    call(&tools, "save_knowledge", save("sky", "It rains.")).await.unwrap();
    assert_eq!(keys(&holdings, "which colour has my car").await, ["garage"]);
}

async fn writers_at_once_lose_nothing(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let tools = tools.clone();
            tokio::spawn(async move {
                let content = format!("version of writer {number}");
                call(&tools, "save_knowledge", save("shared", &content)).await.unwrap()
            })
        })
        .collect();
    let mut versions = Vec::new();
    for task in tasks {
        versions.push(task.await.unwrap()["version"].as_i64().unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, [1, 2, 3, 4]);
    let history =
        holdings.in_space(&Space::Owner).knowledge().list_versions("shared").await.unwrap();
    assert_eq!(history.len(), 4);
    let found =
        holdings.in_space(&Space::Owner).knowledge().search("writer", None, 10).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.hits[0].text, history[0].content);
}

async fn bad_input_is_refused(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    for (tool, bad) in [
        ("save_knowledge", save(" ", "x")),
        ("save_knowledge", save("k", "")),
        ("save_knowledge", save("k", "a\u{0}b")),
        ("save_knowledge", save("k\u{7}", "a")),
        ("save_knowledge", save("k", &"x".repeat(20_001))),
        ("save_knowledge", json!({ "key": "k", "content": "c", "category": "rumour" })),
        ("save_knowledge", json!({ "key": "k", "content": "c", "tags": vec!["t"; 21] })),
        ("search_knowledge", json!({ "query": "" })),
        ("search_knowledge", json!({ "query": "x", "limit": 0 })),
        ("search_knowledge", json!({ "query": "x", "limit": 51 })),
    ] {
        let error = call(&tools, tool, bad.clone()).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{tool} {bad}: {error}");
    }
    let none = holdings
        .in_space(&Space::Owner)
        .knowledge()
        .list(Some(KnowledgeCategory::Fact), "", 10)
        .await
        .unwrap();
    assert!(none.is_empty());
}
