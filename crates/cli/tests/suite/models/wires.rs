//! Whole turns over every wire, in every variant that servers are known for.

use futures_util::future::join_all;
use lango_model::Wire;
use lango_protocol::{CallStatus, EventBody, Usage};
use lango_scripted::profile;

use crate::fixture::{Lango, TO_OPERATOR};
use crate::journal::Turn;

/// Reasoning, words beside a call, two calls at once, and a text in many alphabets.
const WORK: &str = r#"
[[reply]]
agent = "operator"
results = 0
think = "Zwei Dateien, größer als nötig 🤔"
say = "Ich schaue nach …"
call = [
  { name = "fs_stat", arguments = { path = "README.md" } },
  { name = "fs_read", arguments = { path = "src/main.rs" } },
]
usage = { input = 1200, output = 80, cached = 1000, reasoning = 30 }
[[reply]]
agent = "operator"
results = 2
think = "Fertig."
say = "Три строки 三行 🌍: {result}"
usage = { input = 1400, output = 20, cached = 1100 }
"#;

/// The last one changes nothing on wires that have no document for a whole reply.
const VARIANTS: [&str; 15] = [
    "",
    "chunk_bytes = 1",
    "chunk_bytes = 7",
    "chunk_bytes = 61",
    "crlf = true",
    "crlf = true\nchunk_bytes = 3",
    "comments = true",
    "unknown_fields = true",
    "no_end_mark = true",
    "glued = true",
    "glued = true\nchunk_bytes = 13",
    "usage = \"early\"",
    "usage = \"none\"",
    "duplicate_index = true",
    "whole = true",
];

fn usages(turn: &Turn) -> Vec<(Usage, bool)> {
    let usages = turn.events.iter().filter_map(|event| match &event.body {
        EventBody::Usage { usage, estimated, .. } => Some((*usage, *estimated)),
        _ => None,
    });
    usages.collect()
}

async fn one_turn(wire: Wire, variant: &str) {
    let variant_table = format!("[variant]\n{variant}\n");
    let lango = Lango::playing(&[&variant_table, TO_OPERATOR, WORK]).await;
    let turn = lango.ask_over(wire, "Wie viele Zeilen?").turn().await;
    let told = format!("{wire:?}, {variant:?}: {}\n{}", turn.answer(), turn.stderr);
    assert_eq!(turn.code, 0, "{told}");
    assert_eq!(turn.answer(), expected_answer(&turn), "{told}");
    assert!(turn.answer().starts_with("Три строки 三行 🌍: "), "{told}");
    assert_eq!(turn.author(), "operator", "{told}");
    let results = turn.results();
    assert_eq!(
        results.iter().map(|(tool, _, _)| *tool).collect::<Vec<_>>(),
        ["fs_stat", "fs_read"]
    );
    assert_eq!(turn.results_with(CallStatus::Ok), 2, "{told}");
    assert_eq!(turn.messages()[0], ("operator", "Ich schaue nach …"), "{told}");
    let thoughts = turn.events.iter().filter_map(|event| match &event.body {
        // Some providers sign a reply without a word about what they thought.
        EventBody::Reasoning { text, .. } => Some(text.as_str()).filter(|text| !text.is_empty()),
        _ => None,
    });
    assert_eq!(thoughts.collect::<Vec<_>>(), ["Zwei Dateien, größer als nötig 🤔", "Fertig."]);
    assert_eq!(lango.received().len(), 3, "nothing was asked twice: {told}");
    assert!(lango.received().iter().all(|request| request.wire == wire), "{told}");
    let usages = usages(&turn);
    assert_eq!(usages.len(), 3, "{told}");
    if variant.contains("none") {
        assert!(usages.iter().all(|(_, estimated)| *estimated), "{told}");
    } else {
        let (usage, estimated) = usages[1];
        assert!(!estimated, "{told}");
        assert_eq!((usage.input, usage.output), (1200, 80), "{told}");
        if profile(wire).counts_cached_tokens {
            assert_eq!(usage.cached, 1000, "{told}");
        }
    }
}

/// The answer quotes the newest result, which is the source of `main.rs`.
fn expected_answer(turn: &Turn) -> String {
    format!("Три строки 三行 🌍: {}", turn.results()[1].2.trim_end())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_the_same_over_every_wire_in_every_variant() {
    let wires = Wire::ALL.map(|wire| async move {
        for variant in VARIANTS {
            one_turn(wire, variant).await;
        }
    });
    join_all(wires).await;
}

/// One that writes a file, so that half of it or two of it would show.
const WRITE: &str = r#"
[[reply]]
agent = "operator"
results = 0
say = "Ich schreibe …"
call = [{ name = "exec_shell", arguments = { command = "echo done äöü 🌍 >> effects" } }]
[[reply]]
agent = "operator"
results = 1
say = "Written."
"#;

/// The reply with the call is cut after so many bytes, once.
async fn cut(wire: Wire, at: usize) -> bool {
    let broken = format!(
        r#"
[[reply]]
agent = "operator"
results = 0
times = 1
fault = "cut"
cut_at = {at}
say = "Ich schreibe …"
call = [{{ name = "exec_shell", arguments = {{ command = "echo done äöü 🌍 >> effects" }} }}]
"#
    );
    let lango = Lango::playing(&[TO_OPERATOR, &broken, WRITE]).await;
    let turn = lango.ask_over(wire, "write it").with(&["--approve", "all"]).turn().await;
    let told = format!("{wire:?} cut at {at}: {}\n{}", turn.answer(), turn.stderr);
    assert_eq!((turn.code, turn.answer()), (0, "Written."), "{told}");
    let effects = std::fs::read_to_string(lango.workspace().join("effects")).unwrap();
    assert_eq!(effects, "done äöü 🌍\n", "{told}");
    assert_eq!(turn.count("tool_call"), 1, "{told}");
    assert_eq!(turn.messages()[0], ("operator", "Ich schreibe …"), "{told}");
    // Beyond the end of the reply nothing is cut.
    turn.count("setback") == 1
}

async fn cut_everywhere(wire: Wire) {
    // Every byte is tried on the reader itself; here it is the whole turn that recovers.
    let mut recovered = 0;
    for at in (0..2600).step_by(61) {
        if !cut(wire, at).await {
            break;
        }
        recovered += 1;
    }
    assert!(recovered >= 5, "{wire:?}: only {recovered}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cut_anywhere_over_any_wire_runs_once() {
    join_all(Wire::ALL.map(cut_everywhere)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_goes_along_over_every_wire_and_is_mentioned_later() {
    let script = r#"
[[reply]]
images = 1
say = "A red square."
[[reply]]
mentions = "[with an image]"
say = "You showed me an image before."
"#;
    for wire in Wire::ALL {
        let lango = Lango::playing(&[script]).await;
        let red = include_bytes!("../../../../eval/src/red.png");
        let image = lango.file("red.png", red);
        let first = lango.ask_over(wire, "What is this?").with(&["--image", &image]);
        let first = first.with(&["--session", "pictures"]).turn().await;
        assert_eq!((first.code, first.answer()), (0, "A red square."), "{wire:?}");
        let again =
            lango.ask_over(wire, "And before?").with(&["--session", "pictures"]).turn().await;
        assert_eq!(again.answer(), "You showed me an image before.", "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_an_image_is_refused_before_anything_is_sent() {
    let lango = Lango::silent().await;
    let text = lango.file("notes.txt", "hello");
    for (path, words) in [(text.as_str(), "not a PNG"), ("/nowhere.png", "cannot read")] {
        let finished = lango.command(&["run", "look", "--image", path]).run().await;
        assert_eq!(finished.code, 2);
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert!(lango.received().is_empty());
}
