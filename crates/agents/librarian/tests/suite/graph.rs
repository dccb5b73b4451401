//! Tests relations: recorded once, ended and not deleted, found by time, followed within limits.

use std::time::Duration;

use lango_librarian::graph::{
    AddOutcome, Direction, EndOutcome, Graph, GraphName, NewTriple, RelationQuery, Traversal,
    TraversalLimits, TraversalRequest,
};
use lango_librarian::{LibrarianError, Provenance};
use lango_protocol::{Space, Timestamp};
use lango_retrieval::{EntryKey, EntryKind};
use lango_store::Database;
use tokio_util::sync::CancellationToken;

use crate::database::{holdings, on_both};

on_both! {
    the_same_relation_is_recorded_once,
    an_ended_relation_is_found_at_its_time,
    questions_are_bounded,
    traversal_goes_by_levels_and_survives_circles,
    directions_and_predicates_are_kept_to,
    every_limit_is_said,
    a_cancelled_traversal_stops,
    ten_thousand_predicates_are_no_burden,
    a_hub_is_cut_and_not_read_whole,
    texts_are_related_through_what_they_mention,
    writers_at_once_record_each_relation_once,
}

async fn graph(database: &Database) -> Graph {
    holdings(database).await.in_space(&Space::Owner).graph().clone()
}

pub(crate) fn name(text: &str) -> GraphName {
    GraphName::new("name", text).unwrap()
}

fn triple(subject: &str, predicate: &str, object: &str) -> NewTriple {
    NewTriple {
        subject: name(subject),
        predicate: name(predicate),
        object: name(object),
        provenance: Provenance { by: "user".to_owned(), ..Provenance::default() },
        valid_from: None,
        mentioned_in: Vec::new(),
    }
}

fn about(subject: &str) -> RelationQuery {
    RelationQuery { subject: Some(name(subject)), limit: 100, ..RelationQuery::default() }
}

fn request_from(start: &str, depth: u32) -> TraversalRequest {
    TraversalRequest {
        start: name(start),
        depth,
        predicates: Vec::new(),
        direction: Direction::Out,
        at: None,
        limits: TraversalLimits { nodes: 1000, edges: 1000 },
        mark_open: false,
    }
}

async fn traverse(graph: &Graph, request: &TraversalRequest) -> Traversal {
    graph.traverse(request, &CancellationToken::new()).await.unwrap()
}

fn names(traversal: &Traversal) -> Vec<(String, u32)> {
    traversal.nodes.iter().map(|node| (node.name.to_string(), node.depth)).collect()
}

async fn the_same_relation_is_recorded_once(database: Database) {
    let graph = graph(&database).await;
    let mut first = triple("Ada  Lovelace", "Wrote", "Notes");
    first.provenance.source = Some("letters.md".to_owned());
    first.provenance.session = Some("work".to_owned());
    assert_eq!(graph.record_relation(first).await.unwrap(), AddOutcome::Stored);
    for again in ["ada lovelace", "ADA LOVELACE", " Ada\nLovelace "] {
        let added = graph.record_relation(triple(again, "wrote", "NOTES")).await.unwrap();
        assert_eq!(added, AddOutcome::AlreadyThere);
    }
    let found = graph.find_relations(&about("ada LOVELACE")).await.unwrap();
    assert_eq!(found.triples.len(), 1);
    let stored = &found.triples[0];
    let spelling = (stored.subject.as_str(), stored.predicate.as_str(), stored.object.as_str());
    assert_eq!(spelling, ("Ada Lovelace", "Wrote", "Notes"));
    assert_eq!(stored.provenance.source.as_deref(), Some("letters.md"));
    assert_eq!(stored.provenance.session.as_deref(), Some("work"));
    assert_eq!(stored.provenance.by, "user");
    assert_eq!(graph.count_nodes_and_relations().await.unwrap(), (2, 1));
}

async fn an_ended_relation_is_found_at_its_time(database: Database) {
    let graph = graph(&database).await;
    let now = Timestamp::now();
    let day =
        |days: i64| Timestamp::from_microseconds(now.as_microseconds() + days * 86_400_000_000);
    let mut old = triple("Ada", "lives in", "London");
    old.valid_from = Some(day(-30));
    graph.record_relation(old.clone()).await.unwrap();
    let (subject, predicate) = (name("ada"), name("lives in"));
    let end = |object: &str, at| {
        let (graph, subject, predicate, object) =
            (graph.clone(), subject.clone(), predicate.clone(), name(object));
        async move { graph.end_relation(&subject, &predicate, &object, "user", at).await }
    };
    let early = end("London", Some(day(-31))).await.unwrap_err();
    assert!(matches!(early, LibrarianError::EndsBeforeItBegan { .. }), "{early}");
    assert_eq!(end("London", Some(day(-10))).await.unwrap(), EndOutcome::Ended);
    assert_eq!(end("London", None).await.unwrap(), EndOutcome::NotThere);
    assert_eq!(end("Paris", None).await.unwrap(), EndOutcome::NotThere);
    let mut new = triple("Ada", "lives in", "Paris");
    new.valid_from = Some(day(-10));
    graph.record_relation(new).await.unwrap();
    let places = |at: Option<Timestamp>, history: bool| {
        let graph = graph.clone();
        async move {
            let found =
                graph.find_relations(&RelationQuery { at, history, ..about("Ada") }).await.unwrap();
            found.triples.into_iter().map(|triple| triple.object).collect::<Vec<_>>()
        }
    };
    assert_eq!(places(None, false).await, ["Paris"]);
    assert_eq!(places(Some(day(-20)), false).await, ["London"]);
    assert_eq!(places(Some(day(-10)), false).await, ["Paris"], "an end is no longer part of it");
    assert!(places(Some(day(-40)), false).await.is_empty());
    assert_eq!(places(None, true).await, ["London", "Paris"]);
    let then =
        traverse(&graph, &TraversalRequest { at: Some(day(-20)), ..request_from("Ada", 2) }).await;
    assert_eq!(names(&then), [("Ada".to_owned(), 0), ("London".to_owned(), 1)]);
    // An ended relation can begin again, as a new record.
    assert_eq!(
        graph.record_relation(triple("Ada", "lives in", "London")).await.unwrap(),
        AddOutcome::Stored
    );
    assert_eq!(places(None, true).await, ["London", "Paris", "London"]);
}

async fn questions_are_bounded(database: Database) {
    let graph = graph(&database).await;
    let many: Vec<NewTriple> = (0..30).map(|n| triple("hub", "has", &format!("n{n}"))).collect();
    graph.add_all(&many).await.unwrap();
    let error = graph
        .find_relations(&RelationQuery { limit: 5, ..RelationQuery::default() })
        .await
        .unwrap_err();
    assert_eq!(error, LibrarianError::NothingAsked);
    let first = graph.find_relations(&RelationQuery { limit: 20, ..about("hub") }).await.unwrap();
    assert_eq!((first.triples.len(), first.more), (20, true));
    let after = first.triples[19].id;
    let rest =
        graph.find_relations(&RelationQuery { limit: 20, after, ..about("hub") }).await.unwrap();
    assert_eq!((rest.triples.len(), rest.more), (10, false));
    let all = RelationQuery { predicate: Some(name("HAS")), limit: 30, ..RelationQuery::default() };
    let exactly = graph.find_relations(&all).await.unwrap();
    assert_eq!((exactly.triples.len(), exactly.more), (30, false));
    let one = RelationQuery { object: Some(name("N7")), limit: 30, ..RelationQuery::default() };
    assert_eq!(graph.find_relations(&one).await.unwrap().triples.len(), 1);
    assert!(graph.find_relations(&about("unknown")).await.unwrap().triples.is_empty());
}

async fn add_cycle(graph: &Graph) {
    let edges =
        [("a", "b"), ("b", "c"), ("c", "a"), ("c", "c"), ("a", "c"), ("c", "d"), ("x", "a")];
    let edges: Vec<NewTriple> = edges.iter().map(|(s, o)| triple(s, "to", o)).collect();
    graph.add_all(&edges).await.unwrap();
}

async fn traversal_goes_by_levels_and_survives_circles(database: Database) {
    let graph = graph(&database).await;
    add_cycle(&graph).await;
    let found = traverse(&graph, &request_from("A", 16)).await;
    let expected = [("a", 0), ("b", 1), ("c", 1), ("d", 2)].map(|(n, d)| (n.to_owned(), d));
    assert_eq!(names(&found), expected);
    assert_eq!(found.edges.len(), 6, "all but the one that leads here: {found:?}");
    assert!(found.cut.is_empty());
    for node in &found.nodes[1..] {
        let edge = &found.edges[node.via.unwrap()];
        assert_eq!(found.nodes[edge.object].name, node.name);
        assert_eq!(found.nodes[edge.subject].depth + 1, node.depth);
    }
    let both =
        traverse(&graph, &TraversalRequest { direction: Direction::Both, ..request_from("a", 16) })
            .await;
    assert_eq!((both.nodes.len(), both.edges.len()), (5, 7), "{both:?}");
    let near =
        traverse(&graph, &TraversalRequest { mark_open: true, ..request_from("a", 1) }).await;
    let open: Vec<(&str, bool)> = near.nodes.iter().map(|n| (&*n.name, n.open)).collect();
    assert_eq!(open, [("a", false), ("b", true), ("c", true)]);
    let error = graph.traverse(&request_from("z", 1), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error, LibrarianError::NoNode { name: "z".into(), near: String::new() });
}

async fn directions_and_predicates_are_kept_to(database: Database) {
    let graph = graph(&database).await;
    let edges = [
        triple("ada", "wrote", "notes"),
        triple("ada", "knew", "babbage"),
        triple("babbage", "designed", "engine"),
        triple("annabella", "mother of", "ada"),
    ];
    graph.add_all(&edges).await.unwrap();
    let incoming =
        traverse(&graph, &TraversalRequest { direction: Direction::In, ..request_from("ada", 3) })
            .await;
    assert_eq!(names(&incoming), [("ada".to_owned(), 0), ("annabella".to_owned(), 1)]);
    let up = traverse(
        &graph,
        &TraversalRequest { direction: Direction::In, ..request_from("engine", 3) },
    )
    .await;
    assert_eq!(names(&up).last().unwrap(), &("annabella".to_owned(), 3));
    let only = TraversalRequest {
        predicates: vec![name("KNEW"), name("designed")],
        ..request_from("ada", 5)
    };
    let found = traverse(&graph, &only).await;
    assert_eq!(found.nodes.len(), 3, "{found:?}");
    let both = TraversalRequest { direction: Direction::Both, ..only.clone() };
    assert_eq!(traverse(&graph, &both).await.nodes.len(), 3);
    let none = traverse(&graph, &TraversalRequest { predicates: vec![name("sold")], ..only }).await;
    assert_eq!((none.nodes.len(), none.edges.len()), (1, 0));
    assert!(none.cut[0].contains("sold"), "{:?}", none.cut);
}

async fn every_limit_is_said(database: Database) {
    let graph = graph(&database).await;
    let chain: Vec<NewTriple> =
        (0..60).map(|n| triple(&format!("c{n}"), "next", &format!("c{}", n + 1))).collect();
    graph.add_all(&chain).await.unwrap();
    let deep = traverse(&graph, &request_from("c0", 50)).await;
    assert_eq!(deep.nodes.len(), 17);
    assert!(deep.cut.iter().any(|cut| cut.contains("50") && cut.contains("16")), "{:?}", deep.cut);
    for direction in [Direction::Out, Direction::Both] {
        let of = |nodes, edges| TraversalRequest {
            direction,
            limits: TraversalLimits { nodes, edges },
            ..request_from("c20", 8)
        };
        let few = traverse(&graph, &of(5, 100)).await;
        assert_eq!(few.nodes.len(), 5);
        assert!(few.cut[0].contains("more than 5 nodes"), "{:?}", few.cut);
        let few = traverse(&graph, &of(100, 5)).await;
        assert_eq!(few.edges.len(), 5);
        assert!(few.cut[0].contains("more than 5 relations"), "{:?}", few.cut);
        let enough = if direction == Direction::Out { 8 } else { 16 };
        let all = traverse(&graph, &of(enough + 1, enough)).await;
        assert_eq!((all.nodes.len(), all.edges.len()), (enough + 1, enough));
        assert!(all.cut.is_empty(), "{:?}", all.cut);
    }
}

async fn a_cancelled_traversal_stops(database: Database) {
    let graph = graph(&database).await;
    add_cycle(&graph).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = graph.traverse(&request_from("a", 3), &cancel).await.unwrap_err();
    assert_eq!(error, LibrarianError::Cancelled);
}

async fn ten_thousand_predicates_are_no_burden(database: Database) {
    let graph = graph(&database).await;
    let many: Vec<NewTriple> = (0..10_000)
        .map(|n| triple("centre", &format!("relates in way {n} to"), &format!("thing {}", n % 100)))
        .collect();
    let added = graph.add_all(&many).await.unwrap();
    assert!(added.iter().all(|one| *one == AddOutcome::Stored));
    let found = traverse(&graph, &request_from("centre", 3)).await;
    assert_eq!(found.edges.len(), 1000);
    assert!(found.cut[0].contains("1000 relations"), "{:?}", found.cut);
    let one = TraversalRequest {
        predicates: vec![name("relates in way 9999 to")],
        ..request_from("centre", 3)
    };
    let found = traverse(&graph, &one).await;
    assert_eq!(names(&found)[1].0, "thing 99");
    let page = graph.find_relations(&about("centre")).await.unwrap();
    assert_eq!((page.triples.len(), page.more), (100, true));
}

async fn a_hub_is_cut_and_not_read_whole(database: Database) {
    let graph = graph(&database).await;
    let mut many: Vec<NewTriple> =
        (0..5_000).map(|n| triple("hub", "has", &format!("leaf {n}"))).collect();
    many.push(triple("leaf 3", "is next to", "far"));
    graph.add_all(&many).await.unwrap();
    let limits = TraversalLimits { nodes: 50, edges: 60 };
    for direction in [Direction::Out, Direction::Both] {
        let found =
            traverse(&graph, &TraversalRequest { limits, direction, ..request_from("hub", 4) })
                .await;
        assert_eq!(found.nodes.len(), 50);
        assert!(found.edges.len() <= 60 && !found.cut.is_empty());
    }
}

fn document(key: &str) -> EntryKey {
    EntryKey::new(EntryKind::Documents, "default", key)
}

async fn texts_are_related_through_what_they_mention(database: Database) {
    let graph = graph(&database).await;
    let from = |subject, predicate, object, key: &str| NewTriple {
        mentioned_in: vec![document(key)],
        ..triple(subject, predicate, object)
    };
    graph
        .add_all(&[
            from("Ada", "wrote", "Notes", "ada.md"),
            from("Notes", "describe", "Engine", "notes.md"),
            from("Babbage", "designed", "Engine", "babbage.md"),
            from("Moon", "orbits", "Earth", "moon.md"),
        ])
        .await
        .unwrap();
    let found = graph.find_texts_related_to(&[document("ada.md")], 2, 10).await.unwrap();
    let view: Vec<(&str, u32, &str)> =
        found.iter().map(|one| (one.entry.key.as_str(), one.distance, one.path.as_str())).collect();
    assert_eq!(view, [("notes.md", 0, "Notes"), ("babbage.md", 1, "Notes -describe-> Engine"),]);
    let one = graph.find_texts_related_to(&[document("ada.md")], 2, 1).await.unwrap();
    assert_eq!(one.len(), 1);
    assert!(graph.find_texts_related_to(&[document("none.md")], 2, 10).await.unwrap().is_empty());
    let around = graph.find_related_texts(&name("babbage"), 3, 10).await.unwrap();
    let keys: Vec<&str> = around.iter().map(|one| one.entry.key.as_str()).collect();
    assert_eq!(keys, ["babbage.md", "notes.md", "ada.md"]);
    assert_eq!(around[2].path, "Babbage -designed-> Engine <-describe- Notes");
    graph.remove_mentions(&document("notes.md")).await.unwrap();
    let around = graph.find_related_texts(&name("babbage"), 3, 10).await.unwrap();
    assert!(around.iter().all(|one| one.entry.key != "notes.md"));
}

async fn writers_at_once_record_each_relation_once(database: Database) {
    let graph = graph(&database).await;
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let graph = graph.clone();
            tokio::spawn(async move {
                let mut stored = 0;
                for n in 0..20 {
                    let (one, other) = (format!("n{}", n % 5), format!("n{}", (n + 1) % 5));
                    let added =
                        graph.record_relation(triple(&one, &format!("p{}", n / 5), &other)).await;
                    stored += u32::from(added.unwrap() == AddOutcome::Stored);
                }
                stored
            })
        })
        .collect();
    let mut stored = 0;
    for task in tasks {
        stored += tokio::time::timeout(Duration::from_mins(2), task).await.unwrap().unwrap();
    }
    assert_eq!(stored, 20);
    assert_eq!(graph.count_nodes_and_relations().await.unwrap(), (5, 20));
}
