//! Conversations that are longer than a model takes.

use lango_model::Wire;
use lango_protocol::WarningCode;

use crate::fixture::Lango;

fn long(turn: usize) -> String {
    format!("This is message number {turn}. {}", "Please remember every word of it. ".repeat(60))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_is_cut_before_the_provider_complains() {
    for wire in Wire::ALL {
        // About ten thousand tokens of bytes; the server refuses more than its window.
        let script = "[[reply]]\nlonger_than = 40000\nerror = \"context_too_long\"\n\
                      [[reply]]\nsay = \"I see.\"\n";
        let lango = Lango::playing(&[script]).await;
        let name = "small-model";
        let config = format!("[models.\"{name}\"]\ncontextWindow = 8000\nmaxOutput = 1000\n");
        std::fs::write(lango.config_file(), config).unwrap();
        let mut warned = false;
        for turn in 0..16 {
            let model = format!("{}/{name}", wire.name());
            let ask = lango.ask_over(wire, &long(turn)).with(&["--session", "long"]);
            let turn = ask.with(&["--model", &model]).turn().await;
            assert_eq!((turn.code, turn.answer()), (0, "I see."), "{wire:?}");
            assert_eq!(turn.count("setback"), 0, "{wire:?}: the provider never complained");
            warned |= turn.warnings().contains(&WarningCode::ContextShortened);
        }
        assert!(warned, "{wire:?}");
        let last = lango.received().pop().unwrap();
        assert!(last.body.contains("number 15") && !last.body.contains("number 0."), "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_long_is_answered_by_a_shorter_request_once() {
    for wire in Wire::ALL {
        let script = "[[reply]]\nlonger_than = 20000\nerror = \"context_too_long\"\n\
                      [[reply]]\nsay = \"I see.\"\n";
        let lango = Lango::playing(&[script]).await;
        let mut setbacks = 0;
        for turn in 0..10 {
            let ask = lango.ask_over(wire, &long(turn)).with(&["--session", "long"]);
            let turn = ask.turn().await;
            assert_eq!((turn.code, turn.answer()), (0, "I see."), "{wire:?} {}", turn.stderr);
            setbacks += turn.count("setback");
        }
        assert!(setbacks > 0, "{wire:?}: it was never too long");
        // What cannot be made shorter ends the turn with what to do.
        let huge = "Every word of this counts. ".repeat(2000);
        let turn = lango.ask_over(wire, &huge).turn().await;
        assert_eq!((turn.code, turn.class().as_str()), (1, "model"), "{wire:?}");
        assert!(turn.answer().contains("contextWindow"), "{}", turn.answer());
        assert_eq!(turn.count("setback"), 1, "{wire:?}: tried again once");
    }
}
