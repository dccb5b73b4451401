//! Relations: recorded once, ended and not deleted, found by time, followed within limits.

use std::time::Duration;

use lango_librarian::graph::{
    Added, Direction, Ended, Graph, Limits, Name, NewTriple, Question, Reach, Traversal,
};
use lango_librarian::{LibrarianError, Provenance};
use lango_protocol::Timestamp;
use lango_retrieval::{EntryKey, Space};
use lango_store::Database;
use tokio_util::sync::CancellationToken;

use crate::database::on_both;

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

pub(crate) fn name(text: &str) -> Name {
    Name::new("name", text).unwrap()
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

fn about(subject: &str) -> Question {
    Question { subject: Some(name(subject)), limit: 100, ..Question::default() }
}

fn reach(start: &str, depth: u32) -> Reach {
    Reach {
        start: name(start),
        depth,
        predicates: Vec::new(),
        direction: Direction::Out,
        at: None,
        limits: Limits { nodes: 1000, edges: 1000 },
        mark_open: false,
    }
}

async fn go(graph: &Graph, reach: &Reach) -> Traversal {
    graph.traverse(reach, &CancellationToken::new()).await.unwrap()
}

fn names(traversal: &Traversal) -> Vec<(String, u32)> {
    traversal.nodes.iter().map(|node| (node.name.to_string(), node.depth)).collect()
}

async fn the_same_relation_is_recorded_once(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let mut first = triple("Ada  Lovelace", "Wrote", "Notes");
    first.provenance.source = Some("letters.md".to_owned());
    first.provenance.session = Some("work".to_owned());
    assert_eq!(graph.add(first).await.unwrap(), Added::Stored);
    for again in ["ada lovelace", "ADA LOVELACE", " Ada\nLovelace "] {
        let added = graph.add(triple(again, "wrote", "NOTES")).await.unwrap();
        assert_eq!(added, Added::AlreadyThere);
    }
    let found = graph.query(&about("ada LOVELACE")).await.unwrap();
    assert_eq!(found.triples.len(), 1);
    let kept = &found.triples[0];
    let spelling = (kept.subject.as_str(), kept.predicate.as_str(), kept.object.as_str());
    assert_eq!(spelling, ("Ada Lovelace", "Wrote", "Notes"));
    assert_eq!(kept.provenance.source.as_deref(), Some("letters.md"));
    assert_eq!(kept.provenance.session.as_deref(), Some("work"));
    assert_eq!(kept.provenance.by, "user");
    assert_eq!(graph.size().await.unwrap(), (2, 1));
}

async fn an_ended_relation_is_found_at_its_time(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let now = Timestamp::now();
    let day =
        |days: i64| Timestamp::from_microseconds(now.as_microseconds() + days * 86_400_000_000);
    let mut old = triple("Ada", "lives in", "London");
    old.valid_from = Some(day(-30));
    graph.add(old.clone()).await.unwrap();
    let (subject, predicate) = (name("ada"), name("lives in"));
    let end = |object: &str, at| {
        let (graph, subject, predicate, object) =
            (graph.clone(), subject.clone(), predicate.clone(), name(object));
        async move { graph.end(&subject, &predicate, &object, "user", at).await }
    };
    let early = end("London", Some(day(-31))).await.unwrap_err();
    assert!(matches!(early, LibrarianError::EndsBeforeItBegan { .. }), "{early}");
    assert_eq!(end("London", Some(day(-10))).await.unwrap(), Ended::Ended);
    assert_eq!(end("London", None).await.unwrap(), Ended::NotThere);
    assert_eq!(end("Paris", None).await.unwrap(), Ended::NotThere);
    let mut new = triple("Ada", "lives in", "Paris");
    new.valid_from = Some(day(-10));
    graph.add(new).await.unwrap();
    let places = |at: Option<Timestamp>, history: bool| {
        let graph = graph.clone();
        async move {
            let found = graph.query(&Question { at, history, ..about("Ada") }).await.unwrap();
            found.triples.into_iter().map(|triple| triple.object).collect::<Vec<_>>()
        }
    };
    assert_eq!(places(None, false).await, ["Paris"]);
    assert_eq!(places(Some(day(-20)), false).await, ["London"]);
    assert_eq!(places(Some(day(-10)), false).await, ["Paris"], "an end is no longer part of it");
    assert!(places(Some(day(-40)), false).await.is_empty());
    assert_eq!(places(None, true).await, ["London", "Paris"]);
    let then = go(&graph, &Reach { at: Some(day(-20)), ..reach("Ada", 2) }).await;
    assert_eq!(names(&then), [("Ada".to_owned(), 0), ("London".to_owned(), 1)]);
    // What ended can begin again, as a new record.
    assert_eq!(graph.add(triple("Ada", "lives in", "London")).await.unwrap(), Added::Stored);
    assert_eq!(places(None, true).await, ["London", "Paris", "London"]);
}

async fn questions_are_bounded(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let many: Vec<NewTriple> = (0..30).map(|n| triple("hub", "has", &format!("n{n}"))).collect();
    graph.add_all(&many).await.unwrap();
    let error = graph.query(&Question { limit: 5, ..Question::default() }).await.unwrap_err();
    assert_eq!(error, LibrarianError::NothingAsked);
    let first = graph.query(&Question { limit: 20, ..about("hub") }).await.unwrap();
    assert_eq!((first.triples.len(), first.more), (20, true));
    let after = first.triples[19].id;
    let rest = graph.query(&Question { limit: 20, after, ..about("hub") }).await.unwrap();
    assert_eq!((rest.triples.len(), rest.more), (10, false));
    let all = Question { predicate: Some(name("HAS")), limit: 30, ..Question::default() };
    let exactly = graph.query(&all).await.unwrap();
    assert_eq!((exactly.triples.len(), exactly.more), (30, false));
    let one = Question { object: Some(name("N7")), limit: 30, ..Question::default() };
    assert_eq!(graph.query(&one).await.unwrap().triples.len(), 1);
    assert!(graph.query(&about("nobody")).await.unwrap().triples.is_empty());
}

async fn circle(graph: &Graph) {
    let edges =
        [("a", "b"), ("b", "c"), ("c", "a"), ("c", "c"), ("a", "c"), ("c", "d"), ("x", "a")];
    let edges: Vec<NewTriple> = edges.iter().map(|(s, o)| triple(s, "to", o)).collect();
    graph.add_all(&edges).await.unwrap();
}

async fn traversal_goes_by_levels_and_survives_circles(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    circle(&graph).await;
    let found = go(&graph, &reach("A", 16)).await;
    let expected = [("a", 0), ("b", 1), ("c", 1), ("d", 2)].map(|(n, d)| (n.to_owned(), d));
    assert_eq!(names(&found), expected);
    assert_eq!(found.edges.len(), 6, "all but the one that leads here: {found:?}");
    assert!(found.cut.is_empty());
    for node in &found.nodes[1..] {
        let edge = &found.edges[node.via.unwrap()];
        assert_eq!(found.nodes[edge.object].name, node.name);
        assert_eq!(found.nodes[edge.subject].depth + 1, node.depth);
    }
    let both = go(&graph, &Reach { direction: Direction::Both, ..reach("a", 16) }).await;
    assert_eq!((both.nodes.len(), both.edges.len()), (5, 7), "{both:?}");
    let near = go(&graph, &Reach { mark_open: true, ..reach("a", 1) }).await;
    let open: Vec<(&str, bool)> = near.nodes.iter().map(|n| (&*n.name, n.open)).collect();
    assert_eq!(open, [("a", false), ("b", true), ("c", true)]);
    let error = graph.traverse(&reach("z", 1), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error, LibrarianError::NoNode { name: "z".into(), near: String::new() });
}

async fn directions_and_predicates_are_kept_to(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let edges = [
        triple("ada", "wrote", "notes"),
        triple("ada", "knew", "babbage"),
        triple("babbage", "designed", "engine"),
        triple("annabella", "mother of", "ada"),
    ];
    graph.add_all(&edges).await.unwrap();
    let incoming = go(&graph, &Reach { direction: Direction::In, ..reach("ada", 3) }).await;
    assert_eq!(names(&incoming), [("ada".to_owned(), 0), ("annabella".to_owned(), 1)]);
    let up = go(&graph, &Reach { direction: Direction::In, ..reach("engine", 3) }).await;
    assert_eq!(names(&up).last().unwrap(), &("annabella".to_owned(), 3));
    let only = Reach { predicates: vec![name("KNEW"), name("designed")], ..reach("ada", 5) };
    let found = go(&graph, &only).await;
    assert_eq!(found.nodes.len(), 3, "{found:?}");
    let both = Reach { direction: Direction::Both, ..only.clone() };
    assert_eq!(go(&graph, &both).await.nodes.len(), 3);
    let none = go(&graph, &Reach { predicates: vec![name("sold")], ..only }).await;
    assert_eq!((none.nodes.len(), none.edges.len()), (1, 0));
    assert!(none.cut[0].contains("sold"), "{:?}", none.cut);
}

async fn every_limit_is_said(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let chain: Vec<NewTriple> =
        (0..60).map(|n| triple(&format!("c{n}"), "next", &format!("c{}", n + 1))).collect();
    graph.add_all(&chain).await.unwrap();
    let deep = go(&graph, &reach("c0", 50)).await;
    assert_eq!(deep.nodes.len(), 17);
    assert!(deep.cut.iter().any(|cut| cut.contains("50") && cut.contains("16")), "{:?}", deep.cut);
    for direction in [Direction::Out, Direction::Both] {
        let of =
            |nodes, edges| Reach { direction, limits: Limits { nodes, edges }, ..reach("c20", 8) };
        let few = go(&graph, &of(5, 100)).await;
        assert_eq!(few.nodes.len(), 5);
        assert!(few.cut[0].contains("more than 5 nodes"), "{:?}", few.cut);
        let few = go(&graph, &of(100, 5)).await;
        assert_eq!(few.edges.len(), 5);
        assert!(few.cut[0].contains("more than 5 relations"), "{:?}", few.cut);
        let enough = if direction == Direction::Out { 8 } else { 16 };
        let all = go(&graph, &of(enough + 1, enough)).await;
        assert_eq!((all.nodes.len(), all.edges.len()), (enough + 1, enough));
        assert!(all.cut.is_empty(), "{:?}", all.cut);
    }
}

async fn a_cancelled_traversal_stops(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    circle(&graph).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = graph.traverse(&reach("a", 3), &cancel).await.unwrap_err();
    assert_eq!(error, LibrarianError::Cancelled);
}

async fn ten_thousand_predicates_are_no_burden(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let many: Vec<NewTriple> = (0..10_000)
        .map(|n| triple("centre", &format!("relates in way {n} to"), &format!("thing {}", n % 100)))
        .collect();
    let added = graph.add_all(&many).await.unwrap();
    assert!(added.iter().all(|one| *one == Added::Stored));
    let found = go(&graph, &reach("centre", 3)).await;
    assert_eq!(found.edges.len(), 1000);
    assert!(found.cut[0].contains("1000 relations"), "{:?}", found.cut);
    let one = Reach { predicates: vec![name("relates in way 9999 to")], ..reach("centre", 3) };
    let found = go(&graph, &one).await;
    assert_eq!(names(&found)[1].0, "thing 99");
    let page = graph.query(&about("centre")).await.unwrap();
    assert_eq!((page.triples.len(), page.more), (100, true));
}

async fn a_hub_is_cut_and_not_read_whole(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let mut many: Vec<NewTriple> =
        (0..5_000).map(|n| triple("hub", "has", &format!("leaf {n}"))).collect();
    many.push(triple("leaf 3", "is next to", "far"));
    graph.add_all(&many).await.unwrap();
    let limits = Limits { nodes: 50, edges: 60 };
    for direction in [Direction::Out, Direction::Both] {
        let found = go(&graph, &Reach { limits, direction, ..reach("hub", 4) }).await;
        assert_eq!(found.nodes.len(), 50);
        assert!(found.edges.len() <= 60 && !found.cut.is_empty());
    }
}

fn document(key: &str) -> EntryKey {
    EntryKey::new(Space::Documents, "default", key)
}

async fn texts_are_related_through_what_they_mention(database: Database) {
    let graph = Graph::open(database).await.unwrap();
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
    let found = graph.neighbours_of_entries(&[document("ada.md")], 2, 10).await.unwrap();
    let view: Vec<(&str, u32, &str)> =
        found.iter().map(|one| (one.entry.key.as_str(), one.distance, one.path.as_str())).collect();
    assert_eq!(view, [("notes.md", 0, "Notes"), ("babbage.md", 1, "Notes -describe-> Engine"),]);
    let one = graph.neighbours_of_entries(&[document("ada.md")], 2, 1).await.unwrap();
    assert_eq!(one.len(), 1);
    assert!(graph.neighbours_of_entries(&[document("none.md")], 2, 10).await.unwrap().is_empty());
    let around = graph.related_documents(&name("babbage"), 3, 10).await.unwrap();
    let keys: Vec<&str> = around.iter().map(|one| one.entry.key.as_str()).collect();
    assert_eq!(keys, ["babbage.md", "notes.md", "ada.md"]);
    assert_eq!(around[2].path, "Babbage -designed-> Engine <-describe- Notes");
    graph.unlink(&document("notes.md")).await.unwrap();
    let around = graph.related_documents(&name("babbage"), 3, 10).await.unwrap();
    assert!(around.iter().all(|one| one.entry.key != "notes.md"));
}

async fn writers_at_once_record_each_relation_once(database: Database) {
    let graph = Graph::open(database).await.unwrap();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let graph = graph.clone();
            tokio::spawn(async move {
                let mut stored = 0;
                for n in 0..20 {
                    let (one, other) = (format!("n{}", n % 5), format!("n{}", (n + 1) % 5));
                    let added = graph.add(triple(&one, &format!("p{}", n / 5), &other)).await;
                    stored += u32::from(added.unwrap() == Added::Stored);
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
    assert_eq!(graph.size().await.unwrap(), (5, 20));
}
