//! Tests that our own client understands the server in every variant, over every API.

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{Endpoint, Message, Model, ModelEvent, ModelId, ModelRequest, RemoteModel};
use proptest::prelude::*;

use super::*;

const REPLY: &str = "think = \"hm, é\"\nsay = \"Héllo 🌍, and everybody who is in it\"\ncopies = 2\n\
                     usage = { input = 90, output = 40, cached = 30 }\n\
                     [[reply.call]]\nname = \"fs_read\"\narguments = { path = \"ä/🦀\", n = [1, 2] }";

/// Holds a received reply.
#[derive(Debug, Default, PartialEq)]
struct Reply {
    text: String,
    reasoning: String,
    calls: Vec<(String, serde_json::Value)>,
    figures: Option<(u64, u64, u64)>,
}

async fn receive(variant: WireVariant, wire: Wire) -> Reply {
    let mut script = Script::parse("x", &format!("[[reply]]\n{REPLY}")).unwrap();
    script.variant = variant;
    let server = ScriptedServer::start(script).await.unwrap();
    let id = ModelId::new("p", "m");
    let model = RemoteModel::new(Endpoint::new(id, wire, server.base_url_for(wire))).unwrap();
    let mut stream = model.stream(Arc::new(ModelRequest {
        instruction: "You are operator, x".into(),
        messages: vec![Message::user("hello")],
        ..ModelRequest::default()
    }));
    let mut reply = Reply::default();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            ModelEvent::Text(text) => reply.text.push_str(&text),
            ModelEvent::Reasoning(text) => reply.reasoning.push_str(&text),
            ModelEvent::Call(call) => {
                let arguments = serde_json::from_str(&call.arguments).unwrap();
                reply.calls.push((call.name, arguments));
            }
            ModelEvent::Usage(usage) => {
                reply.figures = Some((usage.input, usage.output, usage.cached));
            }
            _ => {}
        }
    }
    reply
}

fn variant() -> impl Strategy<Value = WireVariant> {
    let chunk = prop_oneof![Just(None), (1..60_usize).prop_map(NonZeroUsize::new)];
    let usage =
        prop::sample::select(vec![UsagePosition::End, UsagePosition::None, UsagePosition::Early]);
    (chunk, usage, any::<[bool; 8]>()).prop_map(|(chunk_bytes, usage, habits)| {
        let [words, crlf, comments, unknown_fields, no_end_mark, glued, duplicate_index, whole] =
            habits;
        WireVariant {
            chunk_bytes,
            words,
            crlf,
            comments,
            unknown_fields,
            no_end_mark,
            glued,
            usage,
            duplicate_index,
            whole: whole && chunk_bytes.is_some(),
        }
    })
}

fn wire() -> impl Strategy<Value = Wire> {
    prop::sample::select(Wire::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_variant_says_the_same(variant in variant(), wire in wire()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let plain = runtime.block_on(receive(WireVariant::default(), wire));
        prop_assert_eq!(plain.calls.len(), 2);
        let cached = if profile(wire).counts_cached_tokens { 30 } else { 0 };
        prop_assert_eq!(plain.figures, Some((90, 40, cached)));
        let mut received = runtime.block_on(receive(variant.clone(), wire));
        if variant.usage == UsagePosition::None {
            prop_assert_eq!(received.figures, None);
            received.figures = plain.figures;
        }
        prop_assert_eq!(received, plain);
    }
}
