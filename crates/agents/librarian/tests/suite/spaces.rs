//! Tests that the owner and the API clients see and change what is their own, whatever they write
//! and read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lango_egress::{Guard, Rules};
use lango_librarian::documents::{IngestSource, Ingester, PageFetcher, ReadLimits};
use lango_librarian::inquiries::{Gap, InquirySettings};
use lango_librarian::learnings::{Failure, Observation};
use lango_librarian::{
    DocumentSettings, Holdings, KnowledgeContext, LibrarianAdvisor, LibrarianSettings,
};
use lango_protocol::{OwnerStore, SessionId, Space, SpaceAccess, TurnId};
use lango_runtime::{Advisor as _, ContextRequest, ContextSource as _};
use lango_store::{Database, Migration, SchemaComponent, Statement};
use lango_tool::{ToolError, ToolRegistry};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::database::{Cars, call_as, holdings, on_both, open_holdings, tools_with, with_stores};
use crate::reading::reader;

on_both! {
    what_one_wrote_no_other_sees,
    the_same_name_in_two_spaces_is_two_things,
    what_the_owner_shares_is_read_and_marked,
    a_client_reads_no_file_and_writes_no_skill,
    lessons_and_questions_stay_where_they_came_up,
    a_clients_space_is_removed_as_a_whole,
    a_database_from_before_belongs_to_the_owner,
}

/// Returns the graph's tables as the first version made them.
macro_rules! graph_1 {
    ($id:literal) => {
        concat!(
            "CREATE TABLE graph_nodes (id ", $id, ", folded TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE graph_predicates (id ", $id, ", folded TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE graph_edges (id ", $id, ", subject BIGINT NOT NULL REFERENCES graph_nodes (id),
    predicate BIGINT NOT NULL REFERENCES graph_predicates (id),
    object BIGINT NOT NULL REFERENCES graph_nodes (id), source TEXT, session TEXT, turn TEXT,
    author TEXT NOT NULL, valid_from BIGINT NOT NULL, valid_to BIGINT, recorded_at BIGINT NOT NULL,
    ended_by TEXT);
CREATE UNIQUE INDEX graph_edges_live ON graph_edges (subject, predicate, object)
    WHERE valid_to IS NULL;
CREATE INDEX graph_edges_out ON graph_edges (subject, predicate, object, valid_from, valid_to);
CREATE INDEX graph_edges_in ON graph_edges (object, predicate, subject, valid_from, valid_to);
CREATE INDEX graph_edges_predicate ON graph_edges (predicate);
CREATE TABLE graph_mentions (node BIGINT NOT NULL REFERENCES graph_nodes (id), space TEXT NOT NULL,
    collection TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (node, space, collection, entry));
CREATE INDEX graph_mentions_entry ON graph_mentions (space, collection, entry);"
        )
    };
}

fn client(name: &str) -> SpaceAccess {
    SpaceAccess::to(Space::Client(name.parse().unwrap()))
}

fn owner() -> SpaceAccess {
    SpaceAccess::to(Space::Owner)
}

fn everyone() -> [SpaceAccess; 3] {
    [owner(), client("wiki"), client("shop")]
}

/// Opens stores and all tools, with files in a directory.
async fn open_tools(database: &Database, root: &Path) -> (Holdings, ToolRegistry) {
    let holdings =
        open_holdings(database, Some(Cars::embedder()), InquirySettings::default()).await;
    let fetch = PageFetcher::new(Guard::new(Rules::default()), ReadLimits::default());
    let documents = DocumentSettings {
        reader: reader(),
        fetch,
        workspace: root.to_owned(),
        places: Arc::default(),
    };
    let settings = LibrarianSettings { documents: Some(documents), ..with_stores() };
    let tools = tools_with(&holdings, settings).await;
    (holdings, tools)
}

/// A word that no other step writes.
fn mark(who: usize, step: usize) -> String {
    format!("zq{}w{step}x", ["own", "wik", "sho"][who])
}

/// Writes something with a mark in it, with one of the tools.
async fn write(
    (holdings, tools): &(Holdings, ToolRegistry),
    root: &Path,
    access: &SpaceAccess,
    kind: usize,
    mark: &str,
) {
    let arguments = match kind {
        0 => ("save_knowledge", json!({"key": "shared key", "content": format!("about {mark}")})),
        1 => ("save_knowledge", json!({"key": mark, "content": "about the common subject"})),
        2 => (
            "save_learning",
            json!({"trigger": "fs_read", "error_pattern": "no such file", "fix": format!("try {mark}")}),
        ),
        3 => ("graph_add", json!({"subject": "Ada", "predicate": "knows", "object": mark})),
        4 => ("graph_add", json!({"subject": mark, "predicate": mark, "object": "Ada"})),
        _ => {
            let path = root.join(format!("{mark}.txt"));
            std::fs::write(&path, format!("The common subject, {mark}.")).unwrap();
            let ingest = Ingester::new(holdings.index().clone(), reader(), None);
            let (sources, cancel) = ([IngestSource::Path(path)], CancellationToken::new());
            ingest.run(access.own(), &sources, "notes", false, &mut |_| {}, &cancel).await.unwrap();
            return;
        }
    };
    call_as(tools, access, arguments.0, arguments.1).await.unwrap();
}

/// Returns everything that someone can read with the tools and gets in a prompt.
async fn read_all((holdings, tools): &(Holdings, ToolRegistry), access: &SpaceAccess) -> String {
    let mut seen = String::new();
    for (tool, arguments) in [
        ("search_knowledge", json!({"query": "common subject shared key about", "limit": 50})),
        ("search_learnings", json!({"query": "no such file try", "limit": 50})),
        ("graph_query", json!({"subject": "Ada"})),
        ("graph_query", json!({"object": "Ada"})),
        ("graph_query", json!({"predicate": "knows"})),
        ("graph_traverse", json!({"start_node": "Ada", "max_depth": 3, "direction": "both"})),
        ("graph_traverse", json!({"start_node": "zq"})),
        ("rag_retrieve", json!({"query": "common subject", "limit": 20})),
        ("rag_list", json!({})),
        ("librarian_pending_inquiries", json!({})),
    ] {
        let output = match call_as(tools, access, tool, arguments).await {
            Ok(output) => output.to_string(),
            Err(error) => error.to_string(),
        };
        seen += &format!("{tool}: {output}\n");
    }
    let (session, agent) = (SessionId::generate(), "librarian".parse().unwrap());
    let context = KnowledgeContext::new(holdings.clone(), 10_000);
    let request = ContextRequest {
        session: &session,
        turn: TurnId::generate(),
        agent: &agent,
        message: "the common subject and the shared key",
        space: access,
    };
    for block in context.blocks(request).await {
        seen += &block.text;
    }
    let advice = LibrarianAdvisor(holdings.clone());
    if let Some(advice) = advice.advise(access.own(), "fs_read", "no such file").await {
        seen += &advice.text;
    }
    seen
}

async fn what_one_wrote_no_other_sees(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let stores = open_tools(&database, root).await;
    // The steps are generated, and played on one database: what was written before stays.
    let steps = proptest::collection::vec((0..3_usize, 0..6_usize), 30..40);
    let mut runner = TestRunner::default();
    let steps = steps.new_tree(&mut runner).unwrap().current();
    let mut written: [BTreeSet<String>; 3] = Default::default();
    for (number, (who, kind)) in steps.into_iter().enumerate() {
        let mark = mark(who, number);
        write(&stores, root, &everyone()[who], kind, &mark).await;
        written[who].insert(mark);
        if number % 4 != 0 {
            continue;
        }
        for (reader, access) in everyone().iter().enumerate() {
            let seen = read_all(&stores, access).await;
            for (author, marks) in written.iter().enumerate() {
                let found = marks.iter().filter(|mark| seen.contains(mark.as_str())).count();
                assert!(author == reader || found == 0, "{author} is seen by {reader}: {seen}");
            }
        }
    }
    // What is one's own is found, so that the reads above were no empty ones.
    for (reader, access) in everyone().iter().enumerate() {
        let seen = read_all(&stores, access).await;
        let found = written[reader].iter().filter(|mark| seen.contains(mark.as_str())).count();
        assert!(found * 2 > written[reader].len(), "{found} of {:?}: {seen}", written[reader]);
    }
}

async fn the_same_name_in_two_spaces_is_two_things(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let (holdings, tools) = open_tools(&database, directory.path()).await;
    let save = |content: &str| json!({"key": "deploy day", "content": content});
    let mine = call_as(&tools, &owner(), "save_knowledge", save("Fridays.")).await.unwrap();
    let theirs = call_as(&tools, &client("wiki"), "save_knowledge", save("Never.")).await.unwrap();
    assert_eq!((&mine["version"], &theirs["version"]), (&json!(1), &json!(1)));
    assert_eq!(theirs.get("replaced"), None);
    let stores = holdings.in_space(&Space::Owner);
    let knowledge = stores.knowledge();
    assert_eq!(knowledge.newest("deploy day").await.unwrap().unwrap().content, "Fridays.");
    // A client removes its own, and ends its own relations.
    let wiki = holdings.in_space(client("wiki").own());
    assert!(wiki.knowledge().remove("deploy day").await.unwrap());
    assert!(!wiki.knowledge().remove("deploy day").await.unwrap());
    assert!(knowledge.newest("deploy day").await.unwrap().is_some());
    for access in [owner(), client("wiki")] {
        let relation = json!({"subject": "Ada", "predicate": "lives in", "object": "London"});
        let added = call_as(&tools, &access, "graph_add", relation).await.unwrap();
        assert_eq!(added["outcome"], "stored");
    }
    assert_eq!(
        holdings.in_space(&Space::Owner).graph().count_nodes_and_relations().await.unwrap(),
        (2, 1)
    );
}

async fn what_the_owner_shares_is_read_and_marked(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let stores = open_tools(&database, directory.path()).await;
    for (kind, mark) in [(0, "zqknown"), (2, "zqlesson"), (3, "zqrelation"), (5, "zqdocument")] {
        write(&stores, directory.path(), &owner(), kind, mark).await;
    }
    let wiki = client("wiki");
    let marks = |text: &str| -> Vec<&'static str> {
        let all = ["zqknown", "zqlesson", "zqrelation", "zqdocument"];
        all.into_iter().filter(|mark| text.contains(mark)).collect()
    };
    assert_eq!(marks(&read_all(&stores, &wiki).await), Vec::<&str>::new());
    let knowing = wiki.clone().with_owner_stores([OwnerStore::Knowledge].into());
    let seen = read_all(&stores, &knowing).await;
    assert_eq!(marks(&seen), ["zqknown"]);
    // Both in the result of the tool and in the prompt.
    assert_eq!(seen.matches("the owner").count(), 2, "{seen}");
    let reading = wiki.clone().with_owner_stores([OwnerStore::Documents].into());
    let seen = read_all(&stores, &reading).await;
    assert_eq!(marks(&seen), ["zqdocument"]);
    assert!(seen.contains("from the owner"), "{seen}");
    // It stays the owner's: what the client writes is its own.
    write(&stores, directory.path(), &knowing, 0, "zqtheirs").await;
    assert!(!read_all(&stores, &owner()).await.contains("zqtheirs"));
}

async fn a_client_reads_no_file_and_writes_no_skill(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("secret.txt"), "The secret.").unwrap();
    let (_, tools) = open_tools(&database, directory.path()).await;
    let path = json!({"path": "secret.txt"});
    for access in
        [client("wiki"), client("wiki").with_owner_stores(OwnerStore::ALL.into_iter().collect())]
    {
        let refused = call_as(&tools, &access, "rag_ingest", path.clone()).await.unwrap_err();
        assert!(matches!(refused, ToolError::Forbidden(_)), "{refused}");
    }
    assert!(call_as(&tools, &owner(), "rag_ingest", path).await.is_ok());
}

async fn lessons_and_questions_stay_where_they_came_up(database: Database) {
    let holdings = holdings(&database).await;
    let wiki = client("wiki");
    let (session, failure) = (SessionId::generate(), || Failure {
        tool: "fs_read".to_owned(),
        pattern: "no such file".to_owned(),
        example: "no such file".to_owned(),
        times: 1,
        fix: Some("with another path".to_owned()),
    });
    let seen = || Observation { failures: vec![failure()], advice: Vec::new() };
    let learn = async |access: &SpaceAccess| {
        let stores = holdings.in_space(access.own());
        stores.learnings().learn(&session, TurnId::generate(), &seen()).await.unwrap().len()
    };
    // The second failure makes a lesson, counted in each space on its own.
    assert_eq!(learn(&owner()).await, 0);
    assert_eq!(learn(&wiki).await, 0);
    assert_eq!(learn(&wiki).await, 1);
    let advice = LibrarianAdvisor(holdings.clone());
    assert_eq!(advice.advise(&Space::Owner, "fs_read", "no such file").await, None);
    assert!(advice.advise(wiki.own(), "fs_read", "no such file").await.is_some());
    let gap = Gap {
        topic: "the harbour fees".to_owned(),
        question: "What are the harbour fees?".to_owned(),
        why: "nothing was found".to_owned(),
        priority: 1,
    };
    let inquiries = holdings.in_space(wiki.own()).inquiries().clone();
    let asked = inquiries.notice(&session, &[gap]).await.unwrap();
    let stores = holdings.in_space(&Space::Owner);
    let mine = stores.inquiries();
    assert!(mine.pending(10).await.unwrap().is_empty());
    assert!(mine.dismiss(&asked[0]).await.is_err());
    assert_eq!(inquiries.pending(10).await.unwrap().len(), 1);
}

async fn a_clients_space_is_removed_as_a_whole(database: Database) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let stores = open_tools(&database, root).await;
    for (who, access) in everyone().iter().enumerate() {
        for kind in 0..6 {
            write(&stores, root, access, kind, &mark(who, kind)).await;
        }
    }
    let before = read_all(&stores, &owner()).await;
    let wiki = client("wiki");
    assert!(!stores.0.remove_client_space(&Space::Owner).await.unwrap());
    assert!(stores.0.remove_client_space(wiki.own()).await.unwrap());
    assert!(!stores.0.remove_client_space(wiki.own()).await.unwrap());
    let seen = read_all(&stores, &wiki).await;
    assert!(!seen.contains("zqwik"), "{seen}");
    let text = |value: String| value.replace(|c: char| c.is_ascii_digit(), "");
    assert_eq!(text(read_all(&stores, &owner()).await), text(before));
    assert!(read_all(&stores, &client("shop")).await.contains(&mark(2, 0)));
    assert_eq!(stores.0.index().check().await.unwrap(), []);
}

async fn a_database_from_before_belongs_to_the_owner(database: Database) {
    for component in [OLD_KNOWLEDGE, OLD_GRAPH] {
        database.migrate(&component).await.unwrap();
    }
    for sql in [
        "INSERT INTO knowledge_versions (folded, version, key, content, category, tags, author, \
         recorded_at) VALUES ('day', 1, 'Day', 'Fridays.', 'fact', '[]', 'librarian', 1)",
        "INSERT INTO graph_nodes (id, folded, name) VALUES (7, 'ada', 'Ada'), (9, 'bob', 'Bob')",
        "INSERT INTO graph_predicates (id, folded, name) VALUES (3, 'knows', 'knows')",
        "INSERT INTO graph_edges (id, subject, predicate, object, author, valid_from, recorded_at) \
         VALUES (5, 7, 3, 9, 'user', 1, 1)",
        "INSERT INTO graph_mentions (node, space, collection, entry) \
         VALUES (7, 'documents', 'notes', 'a.md')",
    ] {
        database.write(Statement::new(sql).into()).await.unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    let (holdings, tools) = open_tools(&database, directory.path()).await;
    let knowledge = holdings.in_space(&Space::Owner).knowledge().clone();
    assert_eq!(knowledge.newest("day").await.unwrap().unwrap().content, "Fridays.");
    let ada = json!({"subject": "Ada"});
    let found = call_as(&tools, &owner(), "graph_query", ada.clone()).await.unwrap();
    assert_eq!(found["triples"][0]["object"], "Bob");
    let theirs = call_as(&tools, &client("wiki"), "graph_query", ada).await.unwrap();
    assert_eq!(theirs["triples"], json!([]));
    // The owner's relations go on, and a client has names of its own.
    for access in [owner(), client("wiki")] {
        let relation = json!({"subject": "Ada", "predicate": "knows", "object": "Eve"});
        assert!(call_as(&tools, &access, "graph_add", relation).await.is_ok());
    }
    let graph = holdings.in_space(&Space::Owner).graph().clone();
    assert_eq!(graph.count_nodes_and_relations().await.unwrap(), (3, 2));
}

const OLD_KNOWLEDGE: SchemaComponent = SchemaComponent {
    name: "knowledge",
    migrations: &[Migration { version: 1, sqlite: KNOWLEDGE_1, postgres: KNOWLEDGE_1 }],
};

const KNOWLEDGE_1: &str = "CREATE TABLE knowledge_versions (folded TEXT NOT NULL, \
    version BIGINT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, category TEXT NOT NULL, \
    tags TEXT NOT NULL, source TEXT, session TEXT, turn TEXT, author TEXT NOT NULL, \
    confidence TEXT, recorded_at BIGINT NOT NULL, PRIMARY KEY (folded, version))";

const OLD_GRAPH: SchemaComponent = SchemaComponent {
    name: "graph",
    migrations: &[Migration {
        version: 1,
        sqlite: graph_1!("INTEGER PRIMARY KEY"),
        postgres: graph_1!("BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
    }],
};
