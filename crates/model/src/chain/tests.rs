use std::sync::Mutex;

use lango_protocol::{CallId, CallStatus, Usage};
use proptest::prelude::*;
use tokio::time::Instant;

use super::*;
use crate::{AnsweredCall, CallOutcome, Message, Shortening, estimate_tokens};

/// Answers each request with the next of its replies.
struct ScriptedModel {
    id: ModelId,
    replies: Mutex<VecDeque<Vec<Result<ModelEvent, ModelError>>>>,
    requests: Mutex<Vec<(Instant, Arc<ModelRequest>)>>,
}

impl Model for ScriptedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.requests.lock().unwrap().push((Instant::now(), request));
        let reply = self.replies.lock().unwrap().pop_front().expect("no reply is left");
        let reply = reply
            .into_iter()
            .map(|event| event.map_err(|error| error.with(&self.id, "http://127.0.0.1:1", None)));
        Box::pin(stream::iter(reply.collect::<Vec<_>>()))
    }
}

fn scripted(name: &str, replies: Vec<Vec<Result<ModelEvent, ModelError>>>) -> Arc<ScriptedModel> {
    let (provider, model) = name.split_once('/').unwrap();
    let (replies, requests) = (Mutex::new(replies.into()), Mutex::default());
    Arc::new(ScriptedModel { id: ModelId::new(provider, model), replies, requests })
}

fn link(model: &Arc<ScriptedModel>) -> ChainLink {
    let model: Arc<ScriptedModel> = Arc::clone(model);
    ChainLink { model, facts: ModelFacts::default(), health: Arc::default() }
}

fn chain(models: &[&Arc<ScriptedModel>]) -> Chain {
    let fallbacks = models[1..].iter().map(|model| link(model)).collect();
    Chain::new(link(models[0]), fallbacks, RetryPolicy::default())
}

/// Represents a piece of a stream.
type Piece = Result<ModelEvent, ModelError>;

#[expect(clippy::unnecessary_wraps, reason = "pieces of a stream are results")]
fn text(text: &str) -> Piece {
    Ok(ModelEvent::Text(text.into()))
}

fn fails(fault: ModelFault) -> Piece {
    Err(ModelError::new(fault, "as the test says"))
}

fn asks_to_wait(seconds: u64) -> Piece {
    let wait = Some(Duration::from_secs(seconds));
    Err(ModelError::new(ModelFault::RateLimited, "slowly").retry_after(wait))
}

fn request(messages: Vec<Message>) -> Arc<ModelRequest> {
    Arc::new(ModelRequest {
        instruction: "You are operator.".into(),
        messages,
        ..ModelRequest::default()
    })
}

#[derive(Debug, Default)]
struct CollectedReply {
    /// The text that is left after every setback.
    text: String,
    setbacks: Vec<(ModelFault, String)>,
    shortened: Option<Shortening>,
    error: Option<ModelError>,
}

async fn ask(chain: &Chain, messages: Vec<Message>) -> CollectedReply {
    let mut received = CollectedReply::default();
    let mut stream = chain.stream(request(messages));
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Text(piece)) => received.text.push_str(&piece),
            Ok(ModelEvent::Setback(setback)) => {
                received.text.clear();
                received.setbacks.push((setback.error.fault, setback.next.to_string()));
            }
            Ok(ModelEvent::Shortened(shortened)) => received.shortened = Some(shortened),
            Ok(_) => {}
            Err(error) => received.error = Some(error),
        }
    }
    received
}

async fn hello(chain: &Chain) -> CollectedReply {
    ask(chain, vec![Message::user("hello")]).await
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again_with_growing_waits() {
    let faults = [ModelFault::Overloaded, ModelFault::Unreachable, ModelFault::Cut];
    let mut replies: Vec<_> = faults.iter().map(|fault| vec![text("ha"), fails(*fault)]).collect();
    replies.push(vec![text("hello"), text(" you")]);
    let model = scripted("a/one", replies);
    let received = hello(&chain(&[&model])).await;
    assert_eq!(received.text, "hello you");
    assert_eq!(received.setbacks, faults.map(|fault| (fault, "a/one".to_owned())));
    let times: Vec<Instant> = model.requests.lock().unwrap().iter().map(|(at, _)| *at).collect();
    let waits: Vec<u128> = times.windows(2).map(|w| (w[1] - w[0]).as_millis()).collect();
    assert!((250..=501).contains(&waits[0]), "{waits:?}");
    assert!((500..=1001).contains(&waits[1]), "{waits:?}");
    assert!((1000..=2001).contains(&waits[2]), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_waited_for_as_long_as_it_asks_but_not_for_ever() {
    let patient = scripted("a/one", vec![vec![asks_to_wait(30)], vec![text("yes")]]);
    assert_eq!(hello(&chain(&[&patient])).await.text, "yes");
    let waited = {
        let times = patient.requests.lock().unwrap();
        times[1].0 - times[0].0
    };
    assert!(waited.as_secs() >= 30);

    let long = scripted("a/one", vec![vec![asks_to_wait(3600)]]);
    let other = scripted("b/two", vec![vec![text("here")]]);
    let begun = Instant::now();
    let received = hello(&chain(&[&long, &other])).await;
    assert_eq!((received.text.as_str(), received.setbacks.len()), ("here", 1));
    assert!(begun.elapsed() < Duration::from_secs(1));

    let alone = scripted("a/one", vec![vec![asks_to_wait(3600)]]);
    let error = hello(&chain(&[&alone])).await.error.unwrap();
    assert!(error.to_string().contains("it asks to wait 3600 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_goes_to_the_next_model_at_once() {
    for fault in [
        ModelFault::Authentication,
        ModelFault::Quota,
        ModelFault::UnknownModel,
        ModelFault::ToolsUnsupported,
        ModelFault::Tls,
        ModelFault::TooSlow,
        ModelFault::OutputLimit,
    ] {
        let first = scripted("a/one", vec![vec![text("half"), fails(fault)]]);
        let second = scripted("b/two", vec![vec![text("whole")]]);
        let received = hello(&chain(&[&first, &second])).await;
        assert_eq!(received.text, "whole", "{fault:?}");
        assert_eq!(received.setbacks, [(fault, "b/two".to_owned())]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_stays_one() {
    let first = scripted("a/one", vec![vec![fails(ModelFault::ContentRefused)]]);
    let second = scripted("b/two", vec![vec![text("never")]]);
    let received = hello(&chain(&[&first, &second])).await;
    assert_eq!(received.error.unwrap().fault, ModelFault::ContentRefused);
    assert!(second.requests.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn when_no_model_can_answer_the_error_names_all_models() {
    let first = scripted("a/one", vec![vec![fails(ModelFault::Quota)]]);
    let second = scripted("b/two", vec![vec![fails(ModelFault::Authentication)]]);
    let error = hello(&chain(&[&first, &second])).await.error.unwrap().to_string();
    assert!(error.starts_with("b/two refused the key: as the test says (before it, a/one has no "));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_keeps_failing_is_left_alone_and_tried_again_later() {
    let sick = || vec![fails(ModelFault::Overloaded)];
    // Four attempts, one more, and the probe after the pause fails as well.
    let first =
        scripted("a/one", vec![sick(), sick(), sick(), sick(), sick(), sick(), vec![text("back")]]);
    let second = scripted("b/two", (0..4).map(|_| vec![text("stand-in")]).collect());
    let chain = chain(&[&first, &second]);
    let asked = || first.requests.lock().unwrap().len();
    assert_eq!((hello(&chain).await.text.as_str(), asked()), ("stand-in", 4));
    // The fifth failure in a row is the last that is waited for.
    assert_eq!((hello(&chain).await.text.as_str(), asked()), ("stand-in", 5));
    let received = hello(&chain).await;
    assert_eq!((received.text.as_str(), asked()), ("stand-in", 5));
    assert_eq!(received.setbacks, [(ModelFault::Resting, "b/two".to_owned())]);
    tokio::time::advance(Duration::from_secs(16)).await;
    assert_eq!((hello(&chain).await.text.as_str(), asked()), ("stand-in", 6));
    // The pause is longer now.
    tokio::time::advance(Duration::from_secs(16)).await;
    assert!(chain.shared.first.link.health.is_paused());
    tokio::time::advance(Duration::from_secs(16)).await;
    assert_eq!((hello(&chain).await.text.as_str(), asked()), ("back", 7));
    assert!(!chain.shared.first.link.health.is_paused());
}

#[tokio::test(start_paused = true)]
async fn only_one_request_finds_out_whether_a_provider_is_back() {
    let health: Arc<ProviderHealth> = Arc::default();
    for _ in 0..5 {
        health.admit().unwrap().record_failure();
    }
    assert!(health.admit().is_err());
    tokio::time::advance(Duration::from_secs(16)).await;
    let probe = health.admit().unwrap();
    assert!(health.admit().is_err() && health.is_paused());
    // A probe that was cancelled leaves the decision to the next.
    drop(probe);
    health.admit().unwrap().record_success();
    assert!(health.admit().is_ok());
}

#[tokio::test(start_paused = true)]
async fn too_long_is_answered_by_a_shorter_request_once() {
    let model = scripted("a/one", vec![vec![fails(ModelFault::ContextTooLong)], vec![text("ok")]]);
    let history = history(20, 40);
    let received = ask(&chain(&[&model]), history.clone()).await;
    assert_eq!(received.text, "ok");
    assert!(received.shortened.is_some_and(|shortened| shortened.messages >= 6), "{received:?}");
    let sent = Arc::clone(&model.requests.lock().unwrap()[1].1);
    assert_eq!(sent.messages.last(), history.last());
    assert!(matches!(sent.messages[0], Message::User(_)));

    // Also when it was cut before: the second try is shorter than the first.
    let model = scripted("a/one", vec![vec![fails(ModelFault::ContextTooLong)], vec![text("ok")]]);
    let chain_of_one = with_window(&model, 2_000);
    assert_eq!(ask(&chain_of_one, history.clone()).await.text, "ok");
    {
        let sent = model.requests.lock().unwrap();
        let sizes: Vec<u64> = sent.iter().map(|(_, request)| fit::count_tokens(request)).collect();
        assert!(sizes[1] <= sizes[0] * 7 / 10, "{sizes:?}");
    }

    let never =
        scripted("a/one", (0..2).map(|_| vec![fails(ModelFault::ContextTooLong)]).collect());
    let received = ask(&chain(&[&never]), history).await;
    assert_eq!(received.error.unwrap().fault, ModelFault::ContextTooLong);
}

/// Turns of a user's message, an exchange and an answer, and a last message.
fn history(turns: usize, words: usize) -> Vec<Message> {
    let long = |what: &str| format!("{what} ").repeat(words);
    let mut messages = Vec::new();
    for turn in 0..turns {
        messages.push(Message::user(format!("turn {turn}: {}", long("please"))));
        messages.push(exchange(&long("result")));
        messages.push(Message::Assistant { author: None, text: long("answer") });
    }
    messages.push(Message::user("the newest"));
    messages
}

fn exchange(result: &str) -> Message {
    let call = AnsweredCall {
        id: CallId::generate(),
        name: "fs_read".into(),
        arguments: "{}".into(),
        result: result.into(),
        outcome: CallOutcome::tool(CallStatus::Ok),
    };
    Message::Exchange { text: String::new(), calls: vec![call], provider_state: None }
}

fn with_window(model: &Arc<ScriptedModel>, window: u64) -> Chain {
    let facts = ModelFacts { window: Some(window), max_output: Some(100), ..ModelFacts::default() };
    Chain::new(ChainLink { facts, ..link(model) }, Vec::new(), RetryPolicy::default())
}

#[tokio::test]
async fn a_history_is_cut_before_the_provider_complains_and_the_cut_stays_for_some_turns() {
    let model = scripted("a/one", (0..30).map(|_| vec![text("ok")]).collect());
    let chain = with_window(&model, 2_000);
    let whole = history(30, 20);
    let mut cuts = Vec::new();
    for turns in 0..30 {
        let mut messages = whole[..3 * turns].to_vec();
        messages.push(Message::user("the newest"));
        let received = ask(&chain, messages.clone()).await;
        let (_, sent) = model.requests.lock().unwrap().pop().unwrap();
        assert!(fit::count_tokens(&sent) <= 2_000, "{} tokens", fit::count_tokens(&sent));
        assert_eq!(sent.messages[..], messages[messages.len() - sent.messages.len()..]);
        assert!(matches!(sent.messages[0], Message::User(_)));
        cuts.push(received.shortened.map_or(0, |shortened| shortened.messages));
    }
    let moved = cuts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(cuts[29] > 0 && moved <= 4, "{cuts:?}");
}

#[tokio::test]
async fn results_of_this_turn_give_way_when_there_is_no_history_left() {
    let model = scripted("a/one", vec![vec![text("ok")]]);
    let mut messages = vec![Message::user("read them all")];
    messages.extend((0..10).map(|_| exchange(&"many words ".repeat(300))));
    let received = ask(&with_window(&model, 4_000), messages.clone()).await;
    let sent = &model.requests.lock().unwrap()[0].1;
    assert_eq!(sent.messages.len(), messages.len());
    assert!(fit::count_tokens(sent) <= 4_000, "{}", fit::count_tokens(sent));
    assert!(received.shortened.is_some_and(|shortened| shortened.results >= 3), "{received:?}");
    assert_eq!(sent.messages.last(), messages.last(), "the newest result is the last to go");
}

#[tokio::test]
async fn what_a_provider_counts_is_learnt() {
    // This one counts half as much again as we do.
    let messages = history(6, 100);
    let ours = fit::count_tokens(&request(messages.clone()));
    let usage = Usage { input: ours * 3 / 2, ..Usage::default() };
    let reply = || vec![Ok(ModelEvent::Usage(usage)), text("ok")];
    let model = scripted("a/one", vec![reply(), reply()]);
    let chain = with_window(&model, ours * 3 / 2);
    assert!(ask(&chain, messages.clone()).await.shortened.is_none());
    assert!(ask(&chain, messages).await.shortened.is_some());
}

proptest! {
    /// Whatever is cut, pairs stay whole, the newest message stays, and a part that fits is not
    /// touched.
    #[test]
    fn a_shorter_request_is_a_part_of_the_longer_one(
        turns in prop::collection::vec((1_usize..200, 0_usize..4, 1_usize..200), 0..12),
        tail in prop::collection::vec(1_usize..400, 0..6),
        window in 400_u64..6_000,
    ) {
        let mut messages = Vec::new();
        for (user, exchanges, answer) in turns {
            messages.push(Message::user("u ".repeat(user)));
            messages.extend((0..exchanges).map(|_| exchange(&"r ".repeat(answer))));
            messages.push(Message::Assistant { author: None, text: "a ".repeat(answer) });
        }
        let newest = messages.len();
        messages.push(Message::user("the newest"));
        messages.extend(tail.iter().map(|words| exchange(&"result ".repeat(*words))));
        let request = request(messages.clone());
        let fitted = fit::fit_request(&request, window, &TokenRatio::default());
        let sent = &fitted.request.messages;
        let cut = messages.len() - sent.len();
        prop_assert!(cut <= newest);
        let begins_with_user = matches!(sent[0], Message::User(_));
        prop_assert!(cut == 0 || begins_with_user);
        prop_assert!(sent.iter().any(|message| *message == messages[newest]));
        for (kept, original) in sent.iter().zip(&messages[cut..]) {
            if let (Message::Exchange { calls: kept, .. }, Message::Exchange { calls, .. }) =
                (kept, original)
            {
                prop_assert_eq!(kept.len(), calls.len());
                prop_assert!(kept[0].result.len() <= calls[0].result.len());
            } else {
                prop_assert_eq!(kept, original);
            }
        }
        if fit::count_tokens(&request) <= window {
            prop_assert_eq!(sent, &messages);
        }
        if let Some(counted) = fitted.counted {
            let real = fit::count_tokens(&fitted.request);
            prop_assert!(real.abs_diff(counted) <= estimate_tokens("a few words off") * 10);
        }
    }
}
