//! Tests noting, observing and reflecting.

use lango_chronicler::{MemoryKind, MemoryOrigin, MemorySettings, Priority};
use lango_store::{DatabaseLocation, Statement};
use tokio_util::sync::CancellationToken;

use crate::samples::{Home, ScriptedModel, session, small_settings};

pub(crate) async fn what_the_user_states_is_known_in_the_next_conversation(
    location: DatabaseLocation,
) {
    let home = Home::at(&location).await;
    let first = session("first");
    home.play(&first, &["Hi! I live in Bern. Can you list the files?", "thanks a lot"]).await;
    assert!(home.chronicler().has_work(&first).await.unwrap());
    let report = home.work(&first).await;
    assert_eq!((report.memories, report.observations.len()), (1, 0));
    assert!(!home.chronicler().has_work(&first).await.unwrap());
    let memory = &home.memory.list_memories(false).await.unwrap()[0];
    assert_eq!((memory.content.as_str(), memory.kind), ("I live in Bern.", MemoryKind::Fact));
    assert_eq!((memory.origin, memory.sources[0].seq), (MemoryOrigin::Said, 1));
    let prompt = home.prompt(&session("second"), "where do I live").await;
    assert!(prompt.contains(&format!("- {} (", memory.id)), "{prompt}");
    assert!(prompt.contains("said by the user): I live in Bern."), "{prompt}");
    // A repeated statement is a duplicate.
    home.play(&session("second"), &["I live in Bern"]).await;
    assert_eq!(home.work(&session("second")).await.memories, 0);
    home.assert_sound().await;
}

pub(crate) async fn a_later_statement_takes_the_place_of_an_earlier_one(
    location: DatabaseLocation,
) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &["I live in Bern", "I prefer tabs for indentation"]).await;
    home.work(&work).await;
    home.play(&work, &["I've just moved to Basel", "I prefer spaces for indentation now"]).await;
    home.work(&work).await;
    assert_eq!(
        home.current_memories().await,
        ["I've just moved to Basel", "I prefer spaces for indentation now"]
    );
    let all = home.memory.list_memories(true).await.unwrap();
    let old = all.iter().find(|memory| memory.content == "I live in Bern").unwrap();
    let new = all.iter().find(|memory| memory.content.contains("Basel")).unwrap();
    assert_eq!(old.superseded_by.as_ref(), Some(&new.id));
    assert!(!home.prompt(&work, "where do I live").await.contains("Bern"));
    home.assert_sound().await;
}

const CHAT: &[&str] = &[
    "Good morning, could you look at the parser with me for a moment?",
    "Our project Atlas uses PostgreSQL 16 for everything that has to do with billing.",
    "thanks, and what about the other one?",
    "My sister Vreni visits us on the third of December and stays for a week.",
    "okay then, please go on with the list of files that we had before",
];

pub(crate) async fn conversation_is_observed_once_there_is_enough_of_it(
    location: DatabaseLocation,
) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, &CHAT[..1]).await;
    assert!(home.work(&work).await.observations.is_empty());
    home.play(&work, &CHAT[1..]).await;
    let report = home.work(&work).await;
    let contents: Vec<&str> = report.observations.iter().map(|o| o.content.as_str()).collect();
    assert_eq!(contents, [CHAT[1], CHAT[3]]);
    assert!(report.observations.iter().all(|o| o.extractive && o.sources.len() == 1));
    assert_eq!(home.work(&work).await.observations, [], "nothing is observed twice");
    let now = home.chronicler().observe_now(&work, &CancellationToken::new()).await.unwrap();
    assert_eq!(now.observations, []);
    home.play(&work, &["I work for Siemens"]).await;
    let now = home.chronicler().observe_now(&work, &CancellationToken::new()).await.unwrap();
    assert_eq!(now.observations.len(), 1);
    home.assert_sound().await;
}

pub(crate) async fn a_session_that_was_not_counted_is_observed_too(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    let unobserved = || async {
        let statement = Statement::new("SELECT unobserved_tokens FROM watermarks");
        home.database.query(statement).await.unwrap()[0].optional_integer(0).unwrap()
    };
    let forget_count = || async {
        let statement = Statement::new("UPDATE watermarks SET unobserved_tokens = NULL");
        home.database.write(statement.into()).await.unwrap();
    };
    home.play(&work, &CHAT[..1]).await;
    home.work(&work).await;
    let counted = unobserved().await;
    assert!(counted > Some(0));
    forget_count().await;
    home.work(&work).await;
    assert_eq!(unobserved().await, counted, "counted when there is little");
    forget_count().await;
    home.play(&work, &CHAT[1..]).await;
    assert_eq!(home.work(&work).await.observations.len(), 2);
    assert!(home.work(&work).await.is_empty());
    assert_eq!(unobserved().await, Some(0), "everything was observed");
    home.assert_sound().await;
}

pub(crate) async fn a_model_writes_observations_and_is_not_believed_blindly(
    location: DatabaseLocation,
) {
    let model = ScriptedModel::new(&["Here are my notes:\n\
         - [high] 2026-11-20: User's project Atlas uses PostgreSQL 16 for billing. (m3)\n\
         - [medium] User's sister Vreni visits on 3 December. (m7)\n\
         - [high] User's bank is Evilbank. (m3)\n\
         - [high] User's password is hunter2 (m3)\n\
         - nonsense"]);
    let home = Home::with_observer(&location, small_settings(), model.clone()).await;
    let work = session("work");
    home.play(&work, CHAT).await;
    let report = home.work(&work).await;
    let contents: Vec<&str> = report.observations.iter().map(|o| o.content.as_str()).collect();
    assert_eq!(
        contents,
        [
            "User's project Atlas uses PostgreSQL 16 for billing.",
            "User's sister Vreni visits on 3 December."
        ]
    );
    let first = &report.observations[0];
    assert_eq!((first.priority, first.extractive), (Priority::High, false));
    assert_eq!(first.at.to_string(), "2026-11-20T12:00:00.000000Z");
    assert_eq!(model.call_count(), 1);
    let request = model.requests.lock().unwrap()[0].clone();
    assert!(request.contains("m3 ") && request.contains("user: Our project Atlas"), "{request}");
    // Without a second reply the observations are extractive, and nothing is lost.
    home.play(&work, &["I work for Siemens in Zug", CHAT[0], CHAT[4], CHAT[2], CHAT[0]]).await;
    let report = home.work(&work).await;
    assert!(report.observations.len() == 1 && report.observations[0].extractive);
    assert_eq!(model.call_count(), 2);
    assert!(home.chronicler().count_tokens_today().await.unwrap() > 100);
    home.assert_sound().await;
}

pub(crate) async fn nothing_due_asks_no_model(location: DatabaseLocation) {
    let model = ScriptedModel::new(&[]);
    let home = Home::with_observer(&location, small_settings(), model.clone()).await;
    let work = session("work");
    home.play(&work, &["I live in Bern"]).await;
    for _ in 0..3 {
        home.work(&work).await;
        home.chronicler().work_on_recent_sessions(&CancellationToken::new()).await.unwrap();
    }
    assert_eq!(model.call_count(), 0);
    assert_eq!(home.chronicler().count_tokens_today().await.unwrap(), 0);
}

pub(crate) async fn a_day_has_a_limit(location: DatabaseLocation) {
    let settings = MemorySettings { tokens_per_day: 100, ..small_settings() };
    let model = ScriptedModel::new(&["- [high] User lives in Bern. (m1)"]);
    let home = Home::with_observer(&location, settings, model.clone()).await;
    let work = session("work");
    home.play(&work, CHAT).await;
    let report = home.work(&work).await;
    assert!(report.observations.iter().all(|o| o.extractive));
    assert_eq!(model.call_count(), 0, "it would cost more than the day has");
}

pub(crate) async fn of_two_at_once_one_observes(location: DatabaseLocation) {
    let one = Home::at(&location).await;
    let other = Home::at(&location).await;
    let work = session("work");
    one.play(&work, CHAT).await;
    let (first, second) = tokio::join!(one.work(&work), other.work(&work));
    assert_eq!(first.observations.len() + second.observations.len(), 2);
    assert_eq!(first.memories + second.memories, 2);
    one.assert_sound().await;
}

pub(crate) async fn observations_are_condensed_and_stay(location: DatabaseLocation) {
    let model = ScriptedModel::new(&[
        "- [high] User's project Atlas uses PostgreSQL 16 for billing. (m3)\n\
         - [medium] User's sister Vreni visits on the third of December for a week. (m7)\n\
         - [medium] User looked at the parser and at a list of files this morning. (m1,m9)\n",
        "- 2026-11-20: Atlas uses PostgreSQL 16 for billing; Vreni visits in December. (n1,n2)\n\
         - User owns a boat. (n1)",
    ]);
    let home = Home::with_observer(&location, small_settings(), model).await;
    let work = session("work");
    home.play(&work, CHAT).await;
    let report = home.work(&work).await;
    assert_eq!(report.observations.len(), 3);
    let reflection = &report.reflections[0];
    assert_eq!(
        reflection.content,
        "- 2026-11-20: Atlas uses PostgreSQL 16 for billing; Vreni visits in December."
    );
    assert_eq!((reflection.sources.len(), reflection.generation), (3, 1));
    let kept = home.memory.list_observations(Some(&work), 10).await.unwrap();
    assert!(
        kept.len() == 3 && kept.iter().all(|o| o.condensed_by.as_ref() == Some(&reflection.id))
    );
    assert!(home.work(&work).await.is_empty());
    home.assert_sound().await;
}

pub(crate) async fn what_does_not_agree_is_noticed(location: DatabaseLocation) {
    let home = Home::at(&location).await;
    let work = session("work");
    home.play(&work, CHAT).await;
    home.work(&work).await;
    home.assert_sound().await;
    let damage = |sql: &'static str| {
        let database = home.database.clone();
        async move { database.write(Statement::new(sql).into()).await.unwrap() }
    };
    let problems = || async { home.chronicler().check().await.unwrap() };
    damage("UPDATE watermarks SET observed_seq = observed_seq - 1").await;
    assert_eq!(problems().await.len(), 1);
    damage("UPDATE watermarks SET observed_seq = observed_seq + 1").await;
    damage("UPDATE observation_runs SET first_seq = first_seq + 5").await;
    assert!(problems().await.iter().any(|problem| problem.what.contains("left out")));
    damage("UPDATE observation_runs SET first_seq = first_seq - 5").await;
    damage("DELETE FROM retrieval_entries").await;
    assert_eq!(problems().await.len(), 2, "two memories are not in the index");
}
