//! Whatever a conversation holds, no provider refuses it: histories of every kind are sent through
//! our client, over every wire, to a server that is as strict as the providers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod message;

use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{
    ContextBlock, Endpoint, Keepsake, Message, Model, ModelEvent, ModelId, ModelRequest, Options,
    RemoteModel, Wire,
};
use lango_scripted::{Script, ScriptedServer, profile};
use lango_tool::{SafetyLevel, ToolDeclaration};
use message::Sketch;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::value::RawValue;
use tokio::runtime::Builder;

/// Gives a thought of its own when it is asked for one, and is content with everything else.
const SCRIPT: &str = r#"
[[reply]]
user = "a thought, please"
think = "THOUGHT"
say = "Looking."
call = [{ name = "fs_read", arguments = { path = "a" } }]

[[reply]]
say = "fine"
"#;

/// A server, a model behind it, and what this model gave us to keep.
struct Partner {
    model: RemoteModel,
    _server: ScriptedServer,
    kept: Keepsake,
}

impl Partner {
    async fn new(wire: Wire, name: &str) -> Self {
        let text = SCRIPT.replace("THOUGHT", &format!("what {wire:?} {name} thinks"));
        let script = Script::parse("histories.toml", &text).unwrap();
        let server = ScriptedServer::start_forgetful(script).await.unwrap();
        let id = ModelId::new(format!("{wire:?}"), name);
        let endpoint = Endpoint::new(id.clone(), wire, server.base_url_for(wire));
        let model = RemoteModel::new(endpoint).unwrap();
        let asked = request(vec![Message::user("a thought, please")], Options::default());
        let events = hear(&model, asked).await.unwrap();
        let data = events.into_iter().find_map(|event| match event {
            ModelEvent::Keepsake(data) => Some(data),
            _ => None,
        });
        let kept = Keepsake { from: id, data: data.unwrap() };
        Self { model, _server: server, kept }
    }
}

fn request(messages: Vec<Message>, options: Options) -> ModelRequest {
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

async fn hear(model: &RemoteModel, request: ModelRequest) -> Result<Vec<ModelEvent>, String> {
    let mut stream = model.stream(Arc::new(request));
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.map_err(|error| error.to_string())?);
    }
    Ok(events)
}

/// How a model is to answer, within what the types allow.
fn options() -> impl Strategy<Value = Options> {
    let tokens = prop::option::of(1..100_000_u32);
    let temperature = prop::option::of(0.0..=2.0_f32);
    (tokens, temperature)
        .prop_map(|(max_output_tokens, temperature)| Options { max_output_tokens, temperature })
}

/// Sends histories of every kind; the keepsakes in them are of this model and of all others.
fn everything_is_accepted(wire: Wire, name: &str) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (partner, foreign) = runtime.block_on(async {
        let mut foreign = Vec::new();
        for other in Wire::ALL {
            foreign.push(Partner::new(other, "another").await.kept);
        }
        (Partner::new(wire, name).await, foreign)
    });
    let histories = prop::collection::vec(message::sketch(), 0..9);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(300));
    let tested = runner.run(&(histories, options()), |(sketches, options)| {
        let build = |sketch: Sketch| sketch.into_message(&partner.kept, &foreign);
        let messages: Vec<_> = sketches.into_iter().map(build).collect();
        let shown = format!("{messages:#?}");
        let events = runtime.block_on(hear(&partner.model, request(messages, options)));
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
