//! Sends histories of every kind through our client, over every API, to a server that is as strict
//! as the providers: no provider refuses a conversation, whatever it holds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod message;

use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{
    ContextBlock, Endpoint, Message, Model, ModelEvent, ModelId, ModelRequest, ProviderState,
    RemoteModel, ReplyOptions, Wire,
};
use lango_scripted::{Script, ScriptedServer, profile};
use lango_tool::{SafetyLevel, ToolDeclaration};
use message::Sketch;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::value::RawValue;
use tokio::runtime::Builder;

/// Returns reasoning of its own when it is asked for some, and accepts everything else.
const SCRIPT: &str = r#"
[[reply]]
user = "a thought, please"
think = "THOUGHT"
say = "Looking."
call = [{ name = "fs_read", arguments = { path = "a" } }]

[[reply]]
say = "fine"
"#;

/// Holds a server, a model behind it, and the provider state that this model returned.
struct ModelUnderTest {
    model: RemoteModel,
    _server: ScriptedServer,
    kept: ProviderState,
}

impl ModelUnderTest {
    async fn new(wire: Wire, name: &str) -> Self {
        let text = SCRIPT.replace("THOUGHT", &format!("what {wire:?} {name} thinks"));
        let script = Script::parse("histories.toml", &text).unwrap();
        let server = ScriptedServer::start_without_history(script).await.unwrap();
        let id = ModelId::new(format!("{wire:?}"), name);
        let endpoint = Endpoint::new(id.clone(), wire, server.base_url_for(wire));
        let model = RemoteModel::new(endpoint).unwrap();
        let asked = request(vec![Message::user("a thought, please")], ReplyOptions::default());
        let events = receive(&model, asked).await.unwrap();
        let data = events.into_iter().find_map(|event| match event {
            ModelEvent::ProviderState(data) => Some(data),
            _ => None,
        });
        let kept = ProviderState { from: id, data: data.unwrap() };
        Self { model, _server: server, kept }
    }
}

fn request(messages: Vec<Message>, options: ReplyOptions) -> ModelRequest {
    let parameters = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema",
        "type":"object","properties":{"path":{"type":["string","null"]}},
        "additionalProperties":false}"#;
    let parameters: Box<RawValue> = serde_json::from_str(parameters).unwrap();
    let tool = ToolDeclaration {
        name: "fs_read".into(),
        description: "Reads a file.".into(),
        parameters: parameters.into(),
        level: SafetyLevel::Safe,
    };
    ModelRequest {
        instruction: "You are operator, and so on.".into(),
        context: vec![ContextBlock { source: "workspace", text: "here".into() }],
        messages,
        tools: vec![tool],
        options,
        ..ModelRequest::default()
    }
}

async fn receive(model: &RemoteModel, request: ModelRequest) -> Result<Vec<ModelEvent>, String> {
    let mut stream = model.stream(Arc::new(request));
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.map_err(|error| error.to_string())?);
    }
    Ok(events)
}

/// Generates the options of a reply, within what the types allow.
fn options() -> impl Strategy<Value = ReplyOptions> {
    let tokens = prop::option::of(1..100_000_u32);
    let temperature = prop::option::of(0.0..=2.0_f32);
    (tokens, temperature).prop_map(|(max_output_tokens, temperature)| ReplyOptions {
        max_output_tokens,
        temperature,
    })
}

/// Sends histories of every kind; their provider states come from this model and from all others.
fn everything_is_accepted(wire: Wire, name: &str) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (partner, foreign) = runtime.block_on(async {
        let mut foreign = Vec::new();
        for other in Wire::ALL {
            foreign.push(ModelUnderTest::new(other, "another").await.kept);
        }
        (ModelUnderTest::new(wire, name).await, foreign)
    });
    let histories = prop::collection::vec(message::sketch(), 0..9);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(300));
    let tested = runner.run(&(histories, options()), |(sketches, options)| {
        let build = |sketch: Sketch| sketch.into_message(&partner.kept, &foreign);
        let messages: Vec<_> = sketches.into_iter().map(build).collect();
        let shown = format!("{messages:#?}");
        let events = runtime.block_on(receive(&partner.model, request(messages, options)));
        prop_assert!(events.is_ok(), "{events:?}\n{shown}");
        Ok(())
    });
    if let Err(failure) = tested {
        panic!("{wire:?} {name}: {failure}");
    }
}

#[test]
fn every_wire_accepts_every_history() {
    std::thread::scope(|scope| {
        for wire in Wire::ALL {
            for name in profile(wire).model_names {
                scope.spawn(move || everything_is_accepted(wire, name));
            }
        }
    });
}
