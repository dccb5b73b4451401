//! Collects what comes out of the client.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use lango_model::{
    Endpoint, Message, Model, ModelError, ModelEvent, ModelFault, ModelId, ModelRequest,
    RemoteModel, Wire,
};
use lango_protocol::Usage;

use crate::raw_server::{self, Response};
use crate::speech::Speech;

/// Holds everything of a reply, its pieces put together.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct ReceivedReply {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) usage: Option<Usage>,
    pub(crate) provider_state: Option<String>,
    pub(crate) error: Option<ModelError>,
}

impl ReceivedReply {
    pub(crate) fn fault(&self) -> Option<ModelFault> {
        self.error.as_ref().map(|error| error.fault)
    }

    /// Returns the same without the token counts, which come last and may get lost.
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
pub(crate) async fn receive(model: &RemoteModel) -> ReceivedReply {
    receive_request(model, request()).await
}

pub(crate) async fn receive_request(
    model: &RemoteModel,
    request: Arc<ModelRequest>,
) -> ReceivedReply {
    let mut received = ReceivedReply::default();
    let mut stream = model.stream(request);
    let mut first = true;
    while let Some(event) = stream.next().await {
        let began = !std::mem::replace(&mut first, false);
        let is_call = matches!(event, Ok(ModelEvent::Call(_)));
        assert!(received.calls.is_empty() || is_call, "{event:?} after a call");
        match event {
            Ok(ModelEvent::Answering(id)) => {
                assert!(!began, "said twice who answers");
                assert_eq!(&id, model.id());
            }
            Err(error) => {
                assert!(stream.next().await.is_none(), "something after an error");
                received.error = Some(error);
                break;
            }
            Ok(_) if !began => panic!("did not say who answers: {event:?}"),
            Ok(ModelEvent::Text(text)) => received.text.push_str(&text),
            Ok(ModelEvent::Reasoning(text)) => received.reasoning.push_str(&text),
            Ok(ModelEvent::ProviderState(data)) => received.provider_state = Some(data),
            Ok(ModelEvent::Call(call)) => received.calls.push((call.name, call.arguments)),
            Ok(ModelEvent::Usage(usage)) => received.usage = Some(usage),
            Ok(ModelEvent::Setback(_) | ModelEvent::Shortened(_)) => panic!("{event:?}"),
        }
    }
    received
}

/// Collects the replies to each of these responses, each over its own connection.
pub(crate) async fn receive_all(wire: Wire, responses: Vec<Response>) -> Vec<ReceivedReply> {
    let count = responses.len();
    let server = raw_server::serve(move |number, _| responses[number].clone()).await;
    let model = RemoteModel::new(endpoint(wire, &server.url)).unwrap();
    let mut received = Vec::new();
    for _ in 0..count {
        received.push(receive(&model).await);
    }
    received
}

/// Collects the reply of a streamed body.
pub(crate) async fn receive_body(speech: &Speech, body: impl Into<Vec<u8>>) -> ReceivedReply {
    let response = Response::new(speech.content_type(), body);
    receive_all(speech.wire, vec![response]).await.remove(0)
}
