//! Tests which files and addresses get into the documents: none of a hidden place, none that a rule
//! denies, however it is spelt, and no page without a question.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use lango_egress::{Guard, Rules};
use lango_librarian::documents::{PageFetcher, ReadLimits};
use lango_librarian::{DocumentSettings, LibrarianSettings};
use lango_places::{Places, PlacesSettings};
use lango_protocol::Rights;
use lango_runtime::{ApprovalPolicy, Effect, Rule, RuleCase, StepPattern, Verdict, decide_call};
use lango_tool::{Proposal, SafetyLevel, ToolError, ToolRegistry};
use serde_json::{Value, json};

use crate::database::{call, new_holdings, tools_with, with_stores};
use crate::reading::reader;

/// Returns the tools in a workspace that is the user's home, with the database in `records`.
async fn tools_at_home(home: &Path, records: &Path) -> ToolRegistry {
    let fetch = PageFetcher::new(Guard::new(Rules::default()), ReadLimits::default());
    let (user, roots) = (Some(home.to_owned()), vec![home.to_owned()]);
    let places = Places::new(PlacesSettings { home: user, roots, ..PlacesSettings::default() });
    let documents = DocumentSettings {
        reader: reader(),
        fetch,
        workspace: home.to_owned(),
        places: Arc::new(places),
    };
    let settings = LibrarianSettings { documents: Some(documents), ..with_stores() };
    tools_with(&new_holdings(records).await, settings).await
}

fn propose(tools: &ToolRegistry, arguments: &Value) -> Proposal {
    tools.get("rag_ingest").unwrap().prepare(&arguments.to_string()).unwrap().propose().unwrap()
}

/// Decides about a call where a rule allows the whole tool, and another one denies these words.
fn is_denied(home: &Path, proposal: &Proposal, words: &str) -> bool {
    let rule = |effect, words| Rule {
        id: "1".to_owned(),
        effect,
        tool: Some("rag_ingest".to_owned()),
        agent: None,
        directory: None,
        step_directory: None,
        words,
        bound: None,
        rights: Rights::default(),
    };
    let denied = StepPattern::Pattern(vec![words.to_owned()]);
    let rules = [rule(Effect::Allow, StepPattern::Any), rule(Effect::Deny, denied)];
    let agent = "librarian".parse().unwrap();
    let case = RuleCase { tool: "rag_ingest", agent: &agent, directory: home, proposal };
    let verdict = decide_call(ApprovalPolicy::AskDangerous, true, &rules, &case);
    matches!(verdict, Verdict::Refuse { .. })
}

#[tokio::test]
async fn no_file_of_a_hidden_place_gets_into_the_documents() {
    let (directory, records) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = directory.path().canonicalize().unwrap();
    for path in [".ssh/notes.md", ".aws/notes.md", ".config/lango/notes.md", "docs/open.md"] {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), format!("# Canary\n\nThis is {path}.")).unwrap();
    }
    std::os::unix::fs::symlink(".ssh", home.join("way")).unwrap();
    std::os::unix::fs::symlink("../.ssh/notes.md", home.join("docs/link.md")).unwrap();
    let tools = tools_at_home(&home, records.path()).await;
    let absolute = home.join(".ssh/notes.md");
    for path in [
        ".ssh/notes.md",
        ".ssh",
        "way/notes.md",
        "way",
        "docs/../.ssh/notes.md",
        "docs/link.md",
        ".aws",
        ".config/lango/notes.md",
        absolute.to_str().unwrap(),
    ] {
        let refused = call(&tools, "rag_ingest", json!({ "path": path })).await.unwrap_err();
        assert!(matches!(refused, ToolError::Forbidden(_)), "{path}: {refused}");
    }
    // A walk leaves them out.
    for path in ["docs", ".config", "."] {
        let _: Result<_, ToolError> = call(&tools, "rag_ingest", json!({ "path": path })).await;
    }
    let list = call(&tools, "rag_list", json!({})).await.unwrap();
    let list = list["documents"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    assert!(list[0].to_string().contains("docs/open.md"), "{list:?}");
}

#[tokio::test]
async fn a_rule_about_a_path_holds_for_every_spelling_of_it() {
    let (directory, records) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = directory.path().canonicalize().unwrap();
    for path in ["secrets/key.md", "docs/open.md"] {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), "# Text").unwrap();
    }
    std::os::unix::fs::symlink("secrets", home.join("way")).unwrap();
    let tools = tools_at_home(&home, records.path()).await;
    let absolute = home.join("secrets/key.md").display().to_string();
    for path in [
        "secrets/key.md",
        "./secrets/key.md",
        "docs/../secrets/key.md",
        "secrets//key.md",
        "way/key.md",
        &absolute,
    ] {
        let proposal = propose(&tools, &json!({ "path": path }));
        for words in ["secrets/*", "secrets/key.md", &absolute] {
            assert!(is_denied(&home, &proposal, words), "{path} against {words}: {proposal:?}");
        }
    }
    let other = propose(&tools, &json!({ "path": "docs/open.md" }));
    assert!(!is_denied(&home, &other, "secrets/*"), "{other:?}");
}

#[tokio::test]
async fn a_page_is_asked_about_by_the_address_that_will_be_requested() {
    let (directory, records) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tools = tools_at_home(directory.path(), records.path()).await;
    for url in [
        "http://wiki.example/a?q=canary",
        "HTTP://WIKI.example.:80/a?q=canary",
        " http://wiki.example/x/../a?q=canary",
    ] {
        let proposal = propose(&tools, &json!({ "url": url }));
        assert_eq!(proposal.level, Some(SafetyLevel::Dangerous), "{url}");
        assert!(
            proposal.summary.contains("http://wiki.example/a?q=canary\n"),
            "{url}: {proposal:?}"
        );
        assert!(is_denied(directory.path(), &proposal, "http://wiki.example/*"), "{url}");
    }
}
