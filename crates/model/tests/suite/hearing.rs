//! What comes out of the client.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use lango_model::{
    Endpoint, Fault, Message, Model, ModelError, ModelEvent, ModelId, ModelRequest, RemoteModel,
    Wire,
};
use lango_protocol::Usage;

use crate::raw_server::{self, Response};
use crate::speech::Speech;

/// Everything a reply said, its pieces put together.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) usage: Option<Usage>,
    pub(crate) keepsake: Option<String>,
    pub(crate) error: Option<ModelError>,
}

impl Heard {
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.error.as_ref().map(|error| error.fault)
    }

    /// The same without the figures, which come last and may get lost.
    pub(crate) fn without_usage(&self) -> Self {
        Self { usage: None, ..self.clone() }
    }
}

pub(crate) fn endpoint(wire: Wire, base_url: &str) -> Endpoint {
    let mut endpoint = Endpoint::new(ModelId::new("test", "model"), wire, base_url);
    endpoint.idle_timeout = Duration::from_secs(2);
    endpoint
}

pub(crate) fn request() -> Arc<ModelRequest> {
    Arc::new(ModelRequest {
        instruction: "You are operator, x".into(),
        messages: vec![Message::user("hello")],
        ..ModelRequest::default()
    })
}

/// Asks once.
pub(crate) async fn hear(model: &RemoteModel) -> Heard {
    hear_request(model, request()).await
}

pub(crate) async fn hear_request(model: &RemoteModel, request: Arc<ModelRequest>) -> Heard {
    let mut heard = Heard::default();
    let mut stream = model.stream(request);
    let mut first = true;
    while let Some(event) = stream.next().await {
        let began = !std::mem::replace(&mut first, false);
        let is_call = matches!(event, Ok(ModelEvent::Call(_)));
        assert!(heard.calls.is_empty() || is_call, "{event:?} after a call");
        match event {
            Ok(ModelEvent::Answering(id)) => {
                assert!(!began, "said twice who answers");
                assert_eq!(&id, model.id());
            }
            Err(error) => {
                assert!(stream.next().await.is_none(), "something after an error");
                heard.error = Some(error);
                break;
            }
            Ok(_) if !began => panic!("did not say who answers: {event:?}"),
            Ok(ModelEvent::Text(text)) => heard.text.push_str(&text),
            Ok(ModelEvent::Reasoning(text)) => heard.reasoning.push_str(&text),
            Ok(ModelEvent::Keepsake(data)) => heard.keepsake = Some(data),
            Ok(ModelEvent::Call(call)) => heard.calls.push((call.name, call.arguments)),
            Ok(ModelEvent::Usage(usage)) => heard.usage = Some(usage),
            Ok(ModelEvent::Setback(_) | ModelEvent::Shortened(_)) => panic!("{event:?}"),
        }
    }
    heard
}

/// What is heard of each of these responses, each over its own connection.
pub(crate) async fn hear_all(wire: Wire, responses: Vec<Response>) -> Vec<Heard> {
    let count = responses.len();
    let server = raw_server::serve(move |number, _| responses[number].clone()).await;
    let model = RemoteModel::new(endpoint(wire, &server.url)).unwrap();
    let mut heard = Vec::new();
    for _ in 0..count {
        heard.push(hear(&model).await);
    }
    heard
}

/// What is heard of a streamed body.
pub(crate) async fn hear_body(speech: &Speech, body: impl Into<Vec<u8>>) -> Heard {
    let response = Response::new(speech.content_type(), body);
    hear_all(speech.wire, vec![response]).await.remove(0)
}
