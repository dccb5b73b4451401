//! Tests our client against the scripted model, which is as strict as the providers: whole turns
//! over every API.

use std::sync::Arc;

use lango_model::{
    AnsweredCall, CallOutcome, Endpoint, Image, Message, ModelFacts, ModelFault, ModelId,
    ModelRequest, ProviderState, RemoteModel, ReplyOptions, UserMessage, Wire, list_models,
};
use lango_protocol::{CallId, CallStatus};
use lango_scripted::{Script, ScriptedServer};

use crate::hearing::{ReceivedReply, endpoint, receive, receive_request, request};

async fn server(script: &str) -> ScriptedServer {
    ScriptedServer::start(Script::parse("test", script).unwrap()).await.unwrap()
}

fn endpoint_of(server: &ScriptedServer, wire: Wire, name: &str) -> Endpoint {
    let mut endpoint = endpoint(wire, &server.base_url_for(wire));
    endpoint.id = ModelId::new(format!("{wire:?}"), name);
    endpoint
}

/// Returns the calls of a reply as they go back, with results.
fn exchange(from: &ModelId, received: &ReceivedReply) -> Message {
    let answered = received.calls.iter().map(|(name, arguments)| AnsweredCall {
        id: CallId::generate(),
        name: name.clone(),
        arguments: arguments.clone(),
        result: format!("result of {name}"),
        outcome: CallOutcome::tool(CallStatus::Ok),
    });
    let provider_state =
        received.provider_state.clone().map(|data| ProviderState { from: from.clone(), data });
    Message::Exchange { text: received.text.clone(), calls: answered.collect(), provider_state }
}

fn with(messages: Vec<Message>) -> Arc<ModelRequest> {
    let options = ReplyOptions { max_output_tokens: Some(1_000), temperature: Some(1.0) };
    Arc::new(ModelRequest { messages, options, ..ModelRequest::clone(&request()) })
}

const TURN: &str = r#"
[[reply]]
results = 2
say = "done: {result}"

[[reply]]
think = "let me see"
say = "Looking"
call = [
    { name = "fs_read", arguments = { path = "ä", deep = { list = [1, "🦀"] } } },
    { name = "fs_stat", arguments = {} },
]
"#;

#[tokio::test]
async fn a_turn_with_calls_goes_there_and_back_over_every_wire() {
    for wire in Wire::ALL {
        let server = server(TURN).await;
        // Named so that signatures are checked.
        let model = RemoteModel::new(endpoint_of(&server, wire, "gemini-3-pro")).unwrap();
        let first = receive(&model).await;
        assert_eq!(first.error, None, "{wire:?}");
        assert_eq!((first.text.as_str(), first.reasoning.as_str()), ("Looking", "let me see"));
        assert_eq!(first.calls.len(), 2, "{wire:?}");
        let arguments: serde_json::Value = serde_json::from_str(&first.calls[0].1).unwrap();
        assert_eq!(arguments["deep"]["list"][1], "🦀");
        assert!(first.usage.is_some() && first.provider_state.is_some(), "{wire:?}: {first:?}");

        let back = exchange(&model.endpoint().id, &first);
        let second = receive_request(&model, with(vec![Message::user("hello"), back])).await;
        assert_eq!(second.error, None, "{wire:?}");
        assert_eq!(second.text, "done: result of fs_stat", "{wire:?}");
    }
}

/// One model continues in the middle of a turn what another began.
#[tokio::test]
async fn any_model_can_go_on_where_another_stopped() {
    for from in Wire::ALL {
        let server = server(TURN).await;
        let before = RemoteModel::new(endpoint_of(&server, from, "gemini-3-pro")).unwrap();
        let first = receive(&before).await;
        let back = exchange(&before.endpoint().id, &first);
        for to in Wire::ALL {
            for name in ["gemini-3-pro", "other"] {
                let model = RemoteModel::new(endpoint_of(&server, to, name)).unwrap();
                let messages = vec![Message::user("hello"), back.clone()];
                let received = receive_request(&model, with(messages)).await;
                assert_eq!(received.error, None, "{from:?} to {to:?} {name}");
                assert_eq!(received.text, "done: result of fs_stat", "{from:?} to {to:?} {name}");
            }
        }
    }
}

fn image(media_type: &str) -> Image {
    Image { media_type: media_type.into(), data: "pixels".into() }
}

fn said(author: Option<&str>, text: &str) -> Message {
    Message::Assistant { author: author.map(str::to_owned), text: text.into() }
}

fn bad_call() -> Message {
    let call = AnsweredCall {
        id: CallId::generate(),
        name: "not a name".into(),
        arguments: "{broken".into(),
        result: String::new(),
        outcome: CallOutcome::tool(CallStatus::Refused),
    };
    Message::Exchange { text: " \n".into(), calls: vec![call], provider_state: None }
}

#[tokio::test]
async fn odd_conversations_are_taken_by_every_wire() {
    let images = vec![image("image/png")];
    let looks = Message::User(UserMessage { images, ..UserMessage::default() });
    let conversations = [
        vec![said(None, "I begin"), Message::user("hello")],
        vec![Message::user("a"), Message::user("b"), said(None, "c"), said(Some("vault"), "d \n")],
        vec![bad_call(), Message::user("x"), bad_call(), bad_call()],
        vec![Message::user("x"), said(None, "y"), bad_call(), Message::user("z"), looks],
    ];
    for wire in Wire::ALL {
        for sees in [None, Some(false)] {
            for messages in &conversations {
                let server = server("[[reply]]\nsay = \"fine\"").await;
                let mut endpoint = endpoint_of(&server, wire, "gemini-3-pro");
                let facts =
                    ModelFacts { images: sees, window: Some(100_000), ..ModelFacts::default() };
                endpoint.facts = facts;
                let model = RemoteModel::new(endpoint).unwrap();
                let received = receive_request(&model, with(messages.clone())).await;
                let outcome = (received.text.as_str(), received.error);
                assert_eq!(outcome, ("fine", None), "{wire:?} {messages:?}");
            }
        }
    }
}

#[tokio::test]
async fn faults_are_told_apart_on_every_wire() {
    let faults = [
        ("fault = \"silence\"", ModelFault::Silent),
        ("say = \"abc\"\nfault = \"stall\"", ModelFault::Silent),
        ("call = [{ name = \"f\", arguments = {} }]\nfault = \"cut\"", ModelFault::Cut),
        ("say = \"abc\"\nfault = \"no-end\"", ModelFault::Cut),
        ("say = \"abc\"\nfault = \"garbage\"", ModelFault::Malformed),
        ("say = \"abc\"\nfault = \"error-event\"", ModelFault::Overloaded),
        ("fault = \"status\"\nstatus = 401", ModelFault::Authentication),
    ];
    for wire in Wire::ALL {
        for (reply, expected) in faults {
            let server = server(&format!("[[reply]]\n{reply}")).await;
            let mut endpoint = endpoint_of(&server, wire, "m");
            endpoint.idle_timeout = std::time::Duration::from_millis(300);
            let received = receive(&RemoteModel::new(endpoint).unwrap()).await;
            assert_eq!(received.fault(), Some(expected), "{wire:?} {reply}: {received:?}");
            assert_eq!(received.calls, [], "{wire:?} {reply}");
        }
    }
}

#[tokio::test]
async fn models_are_listed_on_every_wire() {
    for wire in Wire::ALL {
        let server = server("[[reply]]\nsay = \"x\"").await;
        let models = list_models(&endpoint_of(&server, wire, "m")).await.unwrap();
        assert!(!models.is_empty(), "{wire:?}");
    }
}
