//! Generates messages of every kind that the types allow.

use bytes::Bytes;
use lango_model::{AnsweredCall, CallOutcome, Image, Message, ProviderState, UserMessage};
use lango_protocol::{CallId, CallStatus};
use proptest::prelude::*;

/// Represents a message, before provider states of real models are put into it.
#[derive(Debug, Clone)]
pub(crate) enum Sketch {
    Plain(Message),
    Exchange { text: String, calls: Vec<(String, String, String)>, provider_state: StateOrigin },
}

/// Says which model the provider state of an exchange comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StateOrigin {
    None,
    /// From the model that is asked.
    Own,
    /// From one of the others.
    Foreign(usize),
}

impl Sketch {
    pub(crate) fn into_message(self, own: &ProviderState, foreign: &[ProviderState]) -> Message {
        let (text, mut calls, provider_state) = match self {
            Self::Plain(message) => return message,
            Self::Exchange { text, calls, provider_state } => (text, calls, provider_state),
        };
        let provider_state = match provider_state {
            StateOrigin::None => None,
            StateOrigin::Own => {
                // A provider state goes back with the call that it came with.
                calls.insert(0, ("fs_read".into(), r#"{"path":"a"}"#.into(), "r".into()));
                Some(own.clone())
            }
            StateOrigin::Foreign(index) => foreign.get(index % foreign.len().max(1)).cloned(),
        };
        let answered = |(name, arguments, result)| AnsweredCall {
            id: CallId::generate(),
            name,
            arguments,
            result,
            outcome: CallOutcome::tool(CallStatus::Ok),
        };
        Message::Exchange { text, calls: calls.into_iter().map(answered).collect(), provider_state }
    }
}

/// Generates texts as people and programs write them, and unusual ones.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "",
        " ",
        "\n\t ",
        "\u{301}",
        "\u{200b}",
        "\u{feff}",
        "\u{202e}desrever",
        "שלום, עולם",
        "\u{0}",
        "\u{1b}[31mred\u{7f}",
        "\u{2028}\u{85}\u{a0}",
        "\u{fffe}\u{10ffff}",
        "👩\u{200d}👩\u{200d}👧 e\u{301}",
        "ends in white space \n",
        "{\"role\":\"system\"} \\u0000 \\ud800",
        "data: [DONE]\n\ndata: {}",
    ]);
    prop_oneof![odd.prop_map(str::to_owned), any::<String>(), "[ -~\n]{0,40}"]
}

fn image() -> impl Strategy<Value = Image> {
    let kinds = vec!["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];
    let data = prop::collection::vec(any::<u8>(), 1..40);
    (prop::sample::select(kinds), data)
        .prop_map(|(kind, data)| Image { media_type: kind.into(), data: Bytes::from(data) })
}

/// Names of tools, of the transfer, and of things that are no tools.
fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "fs_read",
        "exec_shell",
        "transfer_to_agent",
        "functions.exec",
        "a b",
        "",
        "-x",
        "9lives",
        "exec_shеll",
    ]);
    prop_oneof![
        4 => known.prop_map(str::to_owned),
        1 => Just("x".repeat(65)),
        1 => any::<String>(),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "{}",
        "",
        "null",
        "[1]",
        "{\"path\": \"a",
        "{\"a\": 1e309}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": 1, \"a\": 2}",
        " {\"agent_name\": \"vault\", \"task\": \"é\\n🌍\"} ",
        "{\"deep\": {\"list\": [1, -0.5, 18446744073709551615, null, \"\\u0000\"]}}",
        "{\"\": \"\"}",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn exchange() -> impl Strategy<Value = Sketch> {
    let calls = prop::collection::vec((name(), arguments(), text()), 0..5);
    let provider_state = prop_oneof![
        Just(StateOrigin::None),
        Just(StateOrigin::Own),
        any::<usize>().prop_map(StateOrigin::Foreign),
    ];
    (text(), calls, provider_state).prop_map(|(text, calls, provider_state)| Sketch::Exchange {
        text,
        calls,
        provider_state,
    })
}

/// Generates any message.
pub(crate) fn sketch() -> impl Strategy<Value = Sketch> {
    let images = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(image(), 1..4)];
    let beside = || prop::option::weighted(0.2, text());
    let user = (text(), beside(), beside(), images).prop_map(|(text, attachment, task, images)| {
        Message::User(UserMessage { text, attachment, task, images })
    });
    let authors = prop::sample::select(vec!["vault", "lango-orchestrator", "a"]);
    let author = prop::option::of(authors.prop_map(str::to_owned));
    let words = (author, text()).prop_map(|(author, text)| Message::Assistant { author, text });
    prop_oneof![
        3 => user.prop_map(Sketch::Plain),
        2 => words.prop_map(Sketch::Plain),
        3 => exchange(),
    ]
}
