//! Tests what holds on every database engine.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lango_retrieval::{
    EmbeddingModel, EntryKey, EntryKind, PutOutcome, Retrieval, RetrievalError, RetrievalMode,
    SearchHit, SearchQuery,
};
use lango_store::{DatabaseLocation, SqlDialect, Statement};
use tokio_util::sync::CancellationToken;

use crate::samples::{Silent, Thesaurus, document, in_collection, opened};

fn search(text: &str, mode: RetrievalMode) -> SearchQuery {
    SearchQuery { mode, ..SearchQuery::new(EntryKind::Documents, text, 10) }
}

async fn keys(retrieval: &Retrieval, text: &str, mode: RetrievalMode) -> Vec<String> {
    let found = retrieval.search(&search(text, mode)).await.unwrap();
    found.hits.into_iter().map(|hit| hit.entry.key).collect()
}

async fn filled(location: &DatabaseLocation) -> Retrieval {
    let retrieval = opened(location, Some(Thesaurus::new("test/one"))).await;
    for entry in [
        document("garage", &["The automobile is parked behind the house.", "Oil was changed."]),
        document("kitchen", &["A loaf needs forty minutes.", "Clean the readOvenState sensor."]),
        document("sky", &["The lunar eclipse was at nine."]),
    ] {
        assert_eq!(retrieval.put_entry(&entry).await.unwrap(), PutOutcome::Added);
    }
    retrieval
}

pub(crate) async fn texts_are_found_by_words_by_meaning_and_by_both(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    assert_eq!(keys(&retrieval, "parking behind houses", RetrievalMode::Words).await, ["garage"]);
    assert!(keys(&retrieval, "car", RetrievalMode::Words).await.is_empty());
    assert_eq!(keys(&retrieval, "car", RetrievalMode::Vectors).await[0], "garage");
    assert_eq!(
        keys(&retrieval, "which vehicle had its oil changed", RetrievalMode::Hybrid).await[0],
        "garage"
    );
    // A part of a name in code.
    assert_eq!(keys(&retrieval, "oven state", RetrievalMode::Words).await, ["kitchen"]);
    assert_eq!(keys(&retrieval, "readOvenState", RetrievalMode::Words).await[0], "kitchen");
    // The title counts as well.
    assert_eq!(keys(&retrieval, "kitchen", RetrievalMode::Words).await, ["kitchen", "kitchen"]);
}

pub(crate) async fn every_hit_says_where_it_comes_from(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    let found = retrieval.search(&search("oil", RetrievalMode::Hybrid)).await.unwrap();
    let SearchHit { entry, number, source, position, heading, text, similarity, by_words, .. } =
        &found.hits[0];
    assert_eq!(entry, &EntryKey::new(EntryKind::Documents, "notes", "garage"));
    assert_eq!((*number, source.as_str(), position.as_str()), (1, "garage.md", "line 2"));
    assert_eq!((heading.as_str(), text.as_str()), ("garage", "Oil was changed."));
    assert!(similarity.is_some() && *by_words);
    assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

pub(crate) async fn an_entry_is_replaced_as_a_whole_and_left_alone_when_unchanged(
    location: DatabaseLocation,
) {
    let thesaurus = Thesaurus::new("test/one");
    let retrieval = opened(&location, Some(thesaurus.clone())).await;
    let first = document("garage", &["A car.", "A bicycle.", "A bicycle."]);
    retrieval.put_entry(&first).await.unwrap();
    let asked = thesaurus.asked.load(Ordering::SeqCst);
    assert_eq!(asked, 2, "the same text is embedded once");
    assert_eq!(retrieval.put_entry(&first).await.unwrap(), PutOutcome::Unchanged);
    let second = document("garage", &["A bicycle.", "A tram."]);
    assert_eq!(retrieval.put_entry(&second).await.unwrap(), PutOutcome::Replaced);
    assert_eq!(thesaurus.asked.load(Ordering::SeqCst), asked + 1, "only the new text is embedded");
    assert!(keys(&retrieval, "car", RetrievalMode::Words).await.is_empty());
    assert_eq!(keys(&retrieval, "tram", RetrievalMode::Words).await, ["garage"]);
    let texts: Vec<String> = retrieval
        .read_passages(&second.key)
        .await
        .unwrap()
        .into_iter()
        .map(|passage| passage.text)
        .collect();
    assert_eq!(texts, ["A bicycle.", "A tram."]);
    assert_eq!(retrieval.check().await.unwrap(), []);
}

pub(crate) async fn an_entry_that_is_removed_leaves_nothing(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    let key = EntryKey::new(EntryKind::Documents, "notes", "kitchen");
    assert!(retrieval.remove(&key).await.unwrap());
    assert!(!retrieval.remove(&key).await.unwrap());
    assert!(keys(&retrieval, "loaf forty minutes", RetrievalMode::Words).await.is_empty());
    assert!(
        !keys(&retrieval, "bread", RetrievalMode::Vectors).await.contains(&"kitchen".to_owned())
    );
    assert_eq!(retrieval.find_entry_digest(&key).await.unwrap(), None);
    assert_eq!(retrieval.check().await.unwrap(), []);
    if let DatabaseLocation::Sqlite(path) = &location {
        retrieval.database().erase_traces(&["retrieval_passages"]).await.unwrap();
        for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for word in ["forty", "forti", "readOvenState"] {
                let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
                assert!(!found, "{word} is still in a file");
            }
        }
    }
}

pub(crate) async fn a_space_and_a_collection_are_never_left(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    let mut secret = document("diary", &["The automobile was a gift."]);
    secret.key.kind = EntryKind::Memories;
    retrieval.put_entry(&secret).await.unwrap();
    retrieval
        .put_entry(&in_collection("work", "fleet", &["Every automobile we own."]))
        .await
        .unwrap();
    for mode in [RetrievalMode::Words, RetrievalMode::Vectors, RetrievalMode::Hybrid] {
        assert!(!keys(&retrieval, "automobile", mode).await.contains(&"diary".to_owned()));
        let only = SearchQuery { collections: vec!["work".into()], ..search("automobile", mode) };
        let found = retrieval.search(&only).await.unwrap();
        let found: Vec<&str> = found.hits.iter().map(|hit| hit.entry.key.as_str()).collect();
        assert_eq!(found, ["fleet"], "{mode:?}");
        let nowhere =
            SearchQuery { collections: vec!["none".into()], ..search("automobile", mode) };
        assert!(retrieval.search(&nowhere).await.unwrap().hits.is_empty());
    }
}

pub(crate) async fn a_changed_model_is_made_up_for_and_old_vectors_go(location: DatabaseLocation) {
    let first = filled(&location).await;
    drop(first);
    let retrieval = opened(&location, Some(Thesaurus::new("test/two"))).await;
    assert!(keys(&retrieval, "car", RetrievalMode::Vectors).await.is_empty());
    assert_eq!(
        keys(&retrieval, "oil", RetrievalMode::Hybrid).await,
        ["garage"],
        "words still find it"
    );
    assert_eq!(retrieval.count_missing_vectors().await.unwrap(), 5);
    let mut steps = Vec::new();
    let none = CancellationToken::new();
    assert_eq!(retrieval.embed_missing(0, &none, |_| {}).await.unwrap(), 0);
    let made =
        retrieval.embed_missing(100, &CancellationToken::new(), |made| steps.push(made)).await;
    assert_eq!((made.unwrap(), steps), (5, vec![2, 4, 5]));
    assert_eq!(keys(&retrieval, "car", RetrievalMode::Vectors).await[0], "garage");
    let count = Statement::new("SELECT COUNT(*) FROM retrieval_vectors");
    assert_eq!(retrieval.database().query(count).await.unwrap()[0].integer(0).unwrap(), 5);
    assert_eq!(retrieval.check().await.unwrap(), []);
    let stopped = CancellationToken::new();
    stopped.cancel();
    assert_eq!(retrieval.embed_missing(100, &stopped, |_| {}).await.unwrap(), 0);
}

pub(crate) async fn without_a_model_words_are_enough(location: DatabaseLocation) {
    let retrieval = opened(&location, None).await;
    retrieval.put_entry(&document("garage", &["The automobile."])).await.unwrap();
    assert_eq!(keys(&retrieval, "automobiles", RetrievalMode::Hybrid).await, ["garage"]);
    let error = retrieval.search(&search("car", RetrievalMode::Vectors)).await.unwrap_err();
    assert!(matches!(error, RetrievalError::NoEmbedder), "{error}");
    assert_eq!(retrieval.count_missing_vectors().await.unwrap(), 0);
}

pub(crate) async fn a_model_that_does_not_answer_costs_meaning_only(location: DatabaseLocation) {
    let silent = Silent(EmbeddingModel { name: "test/silent".into() });
    let retrieval = opened(&location, Some(Arc::new(silent))).await;
    retrieval.put_entry(&document("garage", &["The automobile."])).await.unwrap();
    assert!(retrieval.take_failure().is_some() && retrieval.take_failure().is_none());
    let found = retrieval.search(&search("automobile", RetrievalMode::Hybrid)).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert!(found.words_only.is_some());
    assert_eq!(retrieval.count_missing_vectors().await.unwrap(), 1);
}

pub(crate) async fn hostile_queries_find_nothing_and_break_nothing(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    for text in [
        "",
        " ",
        "\"",
        "\" OR \"a",
        "*",
        "NEAR(",
        "a AND",
        "{scope_word}:x",
        "'); DROP TABLE x; --",
        "\0",
        "🦀",
        "!!!",
        "|",
        "& | ! <->",
        "-",
        "^",
        ":",
        "(",
        "oil\0changed",
    ] {
        let found = retrieval.search(&search(text, RetrievalMode::Words)).await.unwrap();
        assert!(found.hits.len() <= 1, "{text:?}: {:?}", found.hits);
    }
    let mut odd = document("odd", &["a NUL \0 in it", "\u{202e}backwards", ""]);
    odd.title = "x\0y".into();
    retrieval.put_entry(&odd).await.unwrap();
    assert_eq!(keys(&retrieval, "backwards", RetrievalMode::Words).await, ["odd"]);
    assert_eq!(retrieval.check().await.unwrap(), []);
}

pub(crate) async fn what_does_not_agree_is_noticed(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    let database = retrieval.database().clone();
    let damage = |sql: &'static str| {
        let database = database.clone();
        async move { database.write(Statement::new(sql).into()).await.unwrap() }
    };
    damage("UPDATE retrieval_passages SET body = 'something else' WHERE body LIKE 'Oil%'").await;
    let problems = retrieval.check().await.unwrap();
    assert!(problems.len() == 1 && problems[0].what.contains("differ"), "{problems:?}");
    damage("UPDATE retrieval_passages SET body = 'Oil was changed.' WHERE body = 'something else'")
        .await;
    assert_eq!(retrieval.check().await.unwrap(), []);
    damage("DELETE FROM retrieval_entries WHERE key = 'sky'").await;
    let problems = retrieval.check().await.unwrap();
    assert!(problems[0].what.contains("1 passages that belong to no entry"), "{problems:?}");
    damage(
        "DELETE FROM retrieval_vectors WHERE passage IN (SELECT MIN(id) FROM retrieval_passages)",
    )
    .await;
    if database.dialect() == SqlDialect::Postgres {
        damage("DELETE FROM retrieval_passages WHERE body LIKE 'The lunar%'").await;
        let problems = retrieval.check().await.unwrap();
        assert!(problems[0].what.contains("1 vectors of passages"), "{problems:?}");
    }
}

pub(crate) async fn entries_are_listed_page_by_page(location: DatabaseLocation) {
    let retrieval = filled(&location).await;
    retrieval.put_entry(&in_collection("work", "fleet", &["Every automobile."])).await.unwrap();
    let mut names = Vec::new();
    let mut after = None;
    loop {
        let page =
            retrieval.list_entries(EntryKind::Documents, None, after.as_ref(), 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        names.extend(page.into_iter().map(|entry| (entry.key.key, entry.passages)));
    }
    let expected = [("garage", 2), ("kitchen", 2), ("sky", 1), ("fleet", 1)];
    assert_eq!(names, expected.map(|(key, count)| (key.to_owned(), count)));
    let collections = retrieval.list_collections(EntryKind::Documents).await.unwrap();
    assert_eq!((collections[0].entries, collections[0].passages), (3, 5));
    assert_eq!(collections[1].collection, "work");
}
