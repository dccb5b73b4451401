//! A person at a terminal. `script` from util-linux provides one.

use crate::fixture::{Lango, TO_OPERATOR};

const TOUCH: &str = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "exec_shell", arguments = { command = "touch made" } }]
[[reply]]
agent = "operator"
say = "That is how it went."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_shown_the_whole_command_and_decides() {
    for (typed, code, made) in [("y\n", 0, true), ("n\n", 3, false), ("\n", 3, false)] {
        let lango = Lango::playing(&[TO_OPERATOR, TOUCH]).await;
        let mut session = lango.at_terminal("run 'make it'").start_typing();
        session.answer(typed).await;
        let finished = session.finish().await;
        assert_eq!(finished.code, code, "{typed:?}: {}", finished.stdout);
        assert_eq!(lango.workspace().join("made").exists(), made, "{typed:?}");
        let shown = &finished.stdout;
        assert!(shown.contains("operator wants to use exec_shell:"), "{shown}");
        assert!(shown.contains("$ touch made") && shown.contains("[y/a/N]"), "{shown}");
        assert!(shown.contains("That is how it went."), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_gets_colour_unless_it_does_not_want_any() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let terminal = || lango.at_terminal("run hello").input("\n").set("TERM", "xterm");
    let coloured = terminal().run().await.stdout;
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    for plain in [terminal().set("NO_COLOR", "1"), terminal().set("TERM", "dumb")] {
        let plain = plain.run().await.stdout;
        assert!(plain.contains("Hello.") && !plain.contains('\u{1b}'), "{plain:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn terminal_codes_in_an_answer_are_not_obeyed() {
    let script = "[[reply]]\nsay = \"\\u001b]0;owned\\u0007Hello\\u001b[2J.\"\n";
    let lango = Lango::playing(&[script]).await;
    let shown = lango.at_terminal("run hello").input("\n").set("NO_COLOR", "1").run().await.stdout;
    assert!(shown.contains("Hello") && !shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_command_a_terminal_gets_a_chat() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let chat = lango.at_terminal("").input("hi\n/quit\n").run().await;
    assert_eq!(chat.code, 0, "{}", chat.stdout);
    assert!(chat.stdout.contains("/help for help") && chat.stdout.contains("Hello."));
    assert_eq!(lango.requests().len(), 1);
}
