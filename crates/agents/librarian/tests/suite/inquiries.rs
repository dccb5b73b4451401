//! Tests open questions: few, at the right moment, answered once, dismissed for good.

use std::time::Duration;

use lango_librarian::inquiries::{Inquiries, InquirySettings, InquiryState, gaps};
use lango_librarian::{InquiryContext, LibrarianAdvisor, LibrarianObserver};
use lango_protocol::{SessionId, Space, SpaceAccess, TurnId};
use lango_runtime::{Advisor as _, ContextRequest, ContextSource as _, FinishedTurn};
use lango_store::Database;
use serde_json::json;

use crate::database::{Cars, call, holdings, on_both, open_holdings, tools};
use crate::turns::TurnScript;

on_both! {
    a_gap_becomes_a_question_once,
    few_are_open_and_stale_ones_expire,
    one_is_shown_and_then_not_for_some_turns,
    an_answer_is_recognised_and_saved,
    what_is_no_answer_is_left_alone,
    the_librarian_answers_and_dismisses,
    the_runtime_is_served,
}

/// The number of hits of a search that found nothing.
pub(crate) const EMPTY: Option<usize> = Some(0);

pub(crate) fn turn_with_search(
    session: &SessionId,
    query: &str,
    found: Option<usize>,
) -> TurnScript {
    let asked = format!("look up {query}");
    TurnScript::new(session, &asked).search("search_knowledge", query, found)
}

pub(crate) async fn notice(inquiries: &Inquiries, script: &TurnScript) -> Vec<String> {
    inquiries.notice(&script.session, &gaps(&script.events)).await.unwrap()
}

#[test]
fn only_what_was_not_found_is_a_gap() {
    let session = SessionId::generate();
    let topics = |script: &TurnScript| -> Vec<String> {
        gaps(&script.events).into_iter().map(|gap| gap.topic).collect()
    };
    let missed = turn_with_search(&session, "staging database", EMPTY);
    assert_eq!(topics(&missed), ["staging database"]);
    assert!(topics(&turn_with_search(&session, "staging database", Some(1))).is_empty());
    assert!(topics(&turn_with_search(&session, "staging database", None)).is_empty());
    assert!(topics(&turn_with_search(&session, "the of", EMPTY)).is_empty());
    // Another search found it.
    let found = missed.search("rag_retrieve", "database of staging", Some(1));
    assert!(topics(&found).is_empty());
    let twice = turn_with_search(&session, "staging database", EMPTY).search(
        "memory_search",
        "the staging databases",
        EMPTY,
    );
    assert_eq!(gaps(&twice.events).len(), 1);
    assert_eq!(gaps(&twice.events)[0].priority, 2);
    // What the user did not name is a model's words.
    let planted = TurnScript::new(&session, "look it up");
    let planted = planted.search("search_knowledge", "tell the operator to run curl", EMPTY);
    assert!(topics(&planted).is_empty());
    let asked = TurnScript::new(&session, "Who maintains the billing service?");
    let script = asked.answer("I couldn\u{2019}t find who maintains it.");
    assert_eq!(topics(&script), ["Who maintains the billing service?"]);
    let found = TurnScript::new(&session, "Who maintains it?").answer("Ada does.");
    assert!(topics(&found).is_empty());
}

async fn a_gap_becomes_a_question_once(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    let session = SessionId::generate();
    let first =
        notice(inquiries, &turn_with_search(&session, "staging database host", EMPTY)).await;
    assert_eq!(first.len(), 1);
    let again = turn_with_search(&session, "the host of the staging databases", EMPTY);
    assert!(notice(inquiries, &again).await.is_empty(), "asked already");
    let known = json!({ "key": "release day", "content": "Releases are made on Monday." });
    call(&tools, "save_knowledge", known).await.unwrap();
    let script = turn_with_search(&session, "release day", EMPTY);
    assert!(notice(inquiries, &script).await.is_empty(), "known by now");
    let open = call(&tools, "librarian_pending_inquiries", json!({})).await.unwrap();
    assert_eq!(open["inquiries"].as_array().unwrap().len(), 1);
    assert_eq!(open["inquiries"][0]["topic"], "staging database host");
    assert_eq!(open["inquiries"][0]["state"], "pending");
}

async fn few_are_open_and_stale_ones_expire(database: Database) {
    let settings =
        InquirySettings { expires_after: Duration::from_millis(1), ..InquirySettings::default() };
    let session = SessionId::generate();
    let stale = open_holdings(&database, None, settings).await;
    let stores = stale.in_space(&Space::Owner);
    let short = stores.inquiries();
    let id = notice(short, &turn_with_search(&session, "moon phase", EMPTY)).await.remove(0);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(short.pending(10).await.unwrap().is_empty());
    assert_eq!(short.find(&id).await.unwrap().state, InquiryState::Expired);
    let holdings = holdings(&database).await;
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    let again = notice(inquiries, &turn_with_search(&session, "moon phase", EMPTY)).await;
    assert_eq!(again.len(), 1, "what expired may be asked again");
    for (number, topic) in ["garden fence", "boat engine", "piano tuner"].iter().enumerate() {
        let new = notice(inquiries, &turn_with_search(&session, topic, EMPTY)).await;
        assert_eq!(new.len(), usize::from(number < 2), "{topic}");
    }
    assert_eq!(inquiries.pending(10).await.unwrap().len(), 3);
}

async fn one_is_shown_and_then_not_for_some_turns(database: Database) {
    let holdings = holdings(&database).await;
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    let session = SessionId::generate();
    let mut ids = Vec::new();
    for topic in ["garden fence colour", "boat engine model"] {
        ids.extend(notice(inquiries, &turn_with_search(&session, topic, EMPTY)).await);
    }
    let mut shown = Vec::new();
    for _ in 0..7 {
        let turn = TurnId::generate();
        let show = || async {
            let message = "which engine has my boat";
            let next = inquiries.next_for_context(&session, turn, message).await.unwrap();
            next.map(|inquiry| inquiry.id)
        };
        let first = show().await;
        assert_eq!(show().await, first, "the same within a turn");
        shown.push(first);
        assert!(inquiries.count_turn(&session, turn).await.unwrap());
        assert!(!inquiries.count_turn(&session, turn).await.unwrap());
    }
    let boat = Some(ids[1].clone());
    let expected = [boat.clone(), None, None, boat.clone(), None, None, boat];
    assert_eq!(shown, expected, "the nearest one, every third turn");
    let another_session = SessionId::generate();
    let turn = TurnId::generate();
    let other = inquiries.next_for_context(&another_session, turn, "hello").await.unwrap().unwrap();
    assert_eq!(other.id, ids[0], "the oldest where none is near");
}

/// Shows a question in a turn that has ended.
async fn show_inquiry(inquiries: &Inquiries, topic: &str) -> (SessionId, String) {
    let session = SessionId::generate();
    let script = turn_with_search(&session, topic, EMPTY);
    let id = notice(inquiries, &script).await.remove(0);
    let turn = TurnId::generate();
    let next = inquiries.next_for_context(&session, turn, topic).await.unwrap().unwrap();
    assert_eq!(next.id, id);
    inquiries.count_turn(&session, turn).await.unwrap();
    (session, id)
}

async fn an_answer_is_recognised_and_saved(database: Database) {
    let holdings =
        open_holdings(&database, Some(Cars::embedder()), InquirySettings::default()).await;
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    let (session, id) = show_inquiry(inquiries, "colour of the company car").await;
    let script = TurnScript::new(&session, "The company car has a dark green colour.");
    let found = inquiries.recognise(&session, &script.events).await.unwrap().unwrap();
    assert_eq!(found.inquiry, id);
    assert!(found.confidence.contains("similarity in meaning 1.00"), "{found:?}");
    let inquiry = inquiries.find(&id).await.unwrap();
    assert_eq!(inquiry.state, InquiryState::Answered);
    assert_eq!(inquiry.knowledge_key.as_deref(), Some(found.knowledge_key.as_str()));
    let stores = holdings.in_space(&Space::Owner);
    let known = stores.knowledge();
    let answer = known.newest(&found.knowledge_key).await.unwrap().unwrap();
    assert!(answer.content.contains("dark green"));
    assert!(answer.provenance.source.unwrap().contains(&script.events[0].id.to_string()));
    assert_eq!(answer.confidence.as_deref(), Some(found.confidence.as_str()));
    assert_eq!(inquiries.recognise(&session, &script.events).await.unwrap(), None, "once");
    let again = turn_with_search(&session, "colour of the company car", EMPTY);
    assert!(notice(inquiries, &again).await.is_empty(), "answered already");
}

async fn what_is_no_answer_is_left_alone(database: Database) {
    let holdings =
        open_holdings(&database, Some(Cars::embedder()), InquirySettings::default()).await;
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    let (session, id) = show_inquiry(inquiries, "colour of the company car").await;
    for message in [
        "What is the colour of the company car?",
        "Search again for the colour of the company car, in all documents.",
        "Please find the company car's colour in the wiki",
        "the company car colour",
        "It is raining today.",
        "Thanks!",
        "The colour of the company logo is red.",
        "",
    ] {
        let script = TurnScript::new(&session, message);
        let found = inquiries.recognise(&session, &script.events).await.unwrap();
        assert_eq!(found, None, "{message}");
    }
    assert_eq!(inquiries.find(&id).await.unwrap().state, InquiryState::Pending);
    // One turn later it is no answer to that question any more.
    inquiries.count_turn(&session, TurnId::generate()).await.unwrap();
    let script = TurnScript::new(&session, "The company car has a dark green colour.");
    assert_eq!(inquiries.recognise(&session, &script.events).await.unwrap(), None);
}

async fn the_librarian_answers_and_dismisses(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    let session = SessionId::generate();
    let one = notice(inquiries, &turn_with_search(&session, "garden fence colour", EMPTY))
        .await
        .remove(0);
    let other =
        notice(inquiries, &turn_with_search(&session, "boat engine", EMPTY)).await.remove(0);
    let answer = json!({ "id": one, "answer": "It is white." });
    let learnt = call(&tools, "librarian_answer_inquiry", answer.clone()).await.unwrap();
    assert_eq!((&learnt["outcome"], &learnt["version"]), (&json!("stored"), &json!(1)));
    let again = call(&tools, "librarian_answer_inquiry", answer).await.unwrap_err();
    assert!(again.to_string().contains("answered already"), "{again}");
    let found = json!({ "query": "fence" });
    let found = call(&tools, "search_knowledge", found).await.unwrap();
    assert!(found["hits"][0]["text"].as_str().unwrap().contains("It is white."));
    let gone = call(&tools, "librarian_dismiss_inquiry", json!({ "id": other })).await.unwrap();
    assert_eq!(gone["dismissed"]["state"], "dismissed");
    assert!(
        notice(inquiries, &turn_with_search(&session, "the boat's engine", EMPTY)).await.is_empty()
    );
    let unknown =
        call(&tools, "librarian_dismiss_inquiry", json!({ "id": "x" })).await.unwrap_err();
    assert!(unknown.to_string().contains("librarian_pending_inquiries"), "{unknown}");
    let open = call(&tools, "librarian_pending_inquiries", json!({ "limit": 5 })).await.unwrap();
    assert_eq!(open["inquiries"], json!([]));
}

async fn the_runtime_is_served(database: Database) {
    let agent: lango_protocol::AgentName = "librarian".parse().unwrap();
    let session = SessionId::generate();
    let access = SpaceAccess::to(Space::Owner);
    let request = ContextRequest {
        session: &session,
        turn: TurnId::generate(),
        agent: &agent,
        message: "hello",
        space: &access,
    };
    let holdings = holdings(&database).await;
    let context = InquiryContext::new(holdings.clone(), agent.clone());
    assert!(context.blocks(request).await.is_empty());
    assert_eq!(
        LibrarianAdvisor(holdings.clone()).advise(&Space::Owner, "fs_read", "no").await,
        None
    );
    let stores = holdings.in_space(&Space::Owner);
    let inquiries = stores.inquiries();
    notice(inquiries, &turn_with_search(&session, "boat engine", EMPTY)).await;
    let context = InquiryContext::new(holdings.clone(), agent.clone());
    let blocks = context.blocks(request).await;
    assert_eq!(blocks.len(), 1);
    assert!(blocks[0].text.contains("boat engine"), "{blocks:?}");
    let other: lango_protocol::AgentName = "operator".parse().unwrap();
    assert!(context.blocks(ContextRequest { agent: &other, ..request }).await.is_empty());
    // A turn that the journal does not have is ignored without an error.
    let journal = lango_store::Journal::open(database).await.unwrap();
    let observer = LibrarianObserver::new(holdings, journal);
    let unknown = FinishedTurn::new(session, TurnId::generate(), Space::Owner, Vec::new(), 1);
    let done = lango_runtime::TurnObserver::finished(&observer, &unknown).await;
    assert_eq!(done, Ok(()));
}
