//! `lango knowledge`, and skills that wait for approval.

use lango_librarian::inquiries::InquirySettings;
use lango_librarian::knowledge::{KnowledgeCategory, NewKnowledge};
use lango_librarian::{Holdings, Provenance};
use lango_protocol::Space;
use lango_retrieval::RetrievalIndex;
use lango_store::{Database, DatabaseLocation};
use serde_json::Value;

use crate::fixture::Lango;
use crate::invocation::CommandOutput;

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    lango.command(&[&["knowledge"], arguments].concat()).run().await
}

/// Saves as the librarian's tool does.
pub(super) async fn saved(lango: &Lango, key: &str, content: &str, category: KnowledgeCategory) {
    let location = DatabaseLocation::Sqlite(lango.database_file());
    let database = Database::open(&location).await.unwrap();
    let index = RetrievalIndex::open(database.clone(), None).await.unwrap();
    let holdings = Holdings::open(index, InquirySettings::default()).await.unwrap();
    let stores = holdings.in_space(&Space::Owner);
    let knowledge = stores.knowledge();
    let new = NewKnowledge {
        key: key.to_owned(),
        content: content.to_owned(),
        category,
        tags: vec!["work".to_owned()],
        provenance: Provenance { by: "librarian".to_owned(), ..Provenance::default() },
        confidence: None,
    };
    knowledge.save(new).await.unwrap();
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_is_listed_shown_and_removed() {
    let lango = Lango::silent().await;
    let empty = run(&lango, &["list"]).await;
    assert!(empty.code == 0 && empty.stdout.contains("Nothing was saved yet"), "{empty:?}");
    saved(&lango, "build command", "cargo build", KnowledgeCategory::Fact).await;
    saved(&lango, "build command", "make\u{1b}[2J all", KnowledgeCategory::Fact).await;
    saved(&lango, "release day", "We release on Mondays.", KnowledgeCategory::Rule).await;
    let list = run(&lango, &["list"]).await.stdout;
    assert!(list.contains("build command  fact  2") && list.contains("\\u{1b}[2J"), "{list}");
    let rules = run(&lango, &["list", "--category", "rule", "--json"]).await.stdout;
    let rules: Value = serde_json::from_str(&rules).unwrap();
    assert_eq!(rules.as_array().unwrap().len(), 1);
    assert_eq!(rules[0]["key"], "release day");
    let first = run(&lango, &["list", "--limit", "1"]).await.stdout;
    assert!(first.contains("--after \"build command\""), "{first}");
    let rest = run(&lango, &["list", "--after", "build command"]).await.stdout;
    assert!(rest.contains("release day") && !rest.contains("build command"), "{rest}");
    let newest = run(&lango, &["show", "BUILD command"]).await.stdout;
    assert!(newest.contains("version 2") && !newest.contains("cargo build"), "{newest}");
    let history = run(&lango, &["show", "build command", "--history"]).await.stdout;
    assert!(history.contains("make") && history.contains("cargo build"), "{history}");
    let refused = run(&lango, &["remove", "build command"]).await;
    assert!(refused.code == 2 && refused.stderr.contains("--yes"), "{refused:?}");
    let removed = run(&lango, &["remove", "build command", "--yes"]).await;
    assert_eq!(removed.stdout, "Removed \"build command\" and its 2 versions.\n", "{removed:?}");
    let gone = run(&lango, &["show", "build command"]).await;
    assert!(gone.code == 2 && gone.stderr.contains("lango knowledge list"), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_that_waits_is_offered_only_once_it_is_approved() {
    let lango = Lango::silent().await;
    let pending = lango.home().join("skill-drafts/notes");
    std::fs::create_dir_all(&pending).unwrap();
    let text = "---\nname: notes\ndescription: \"Writes notes.\"\n---\nLook at the log.\n";
    std::fs::write(pending.join("SKILL.md"), text).unwrap();
    let skills =
        async |arguments: &[&str]| lango.command(&[&["skills"], arguments].concat()).run().await;
    let listed = skills(&["list"]).await.stdout;
    assert!(listed.contains("There are no skills"), "{listed}");
    assert!(listed.contains("waits for approval: notes: Writes notes."), "{listed}");
    let tools = lango.command(&["tools", "list"]).run().await.stdout;
    assert!(!tools.contains("skill_notes"), "{tools}");
    let unsure = skills(&["approve", "notes"]).await;
    assert!(unsure.code == 2 && unsure.stderr.contains("--yes"), "{unsure:?}");
    assert!(unsure.stdout.contains("  | Look at the log."), "{unsure:?}");
    let approved = skills(&["approve", "notes", "--yes"]).await;
    assert!(approved.code == 0 && approved.stdout.contains("first use"), "{approved:?}");
    let listed = skills(&["list"]).await.stdout;
    assert!(listed.contains("skill_notes  asks at its next use"), "{listed}");
    assert!(!listed.contains("waits"), "{listed}");
    for arguments in [["approve", "notes"], ["discard", "notes"], ["approve", "../x"]] {
        let done = skills(&arguments).await;
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
    }
}
