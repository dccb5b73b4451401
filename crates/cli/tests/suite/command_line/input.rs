//! What goes in: words, standard input, and a whole conversation.

use lango_protocol::EventBody;
use serde_json::Value;

use crate::fixture::Lango;

const ECHO: &str = "[[reply]]\nsay = \"Understood.\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_goes_along_with_the_message() {
    for text in [&["run", "review this"][..], &["run", "review", "-", "this"]] {
        let lango = Lango::playing(&[ECHO]).await;
        let piped = lango.command(text).with(&["--output-format", "stream-json"]);
        let turn = piped.input("diff --git a b\n").turn().await;
        assert_eq!(turn.code, 0);
        let EventBody::UserMessage { text, attachment, .. } = &turn.events[0].body else {
            panic!("{:?}", turn.events[0]);
        };
        assert_eq!((text.as_str(), attachment.as_deref()), ("review this", Some("diff --git a b")));
        let sent = lango.requests()[0].user().to_owned();
        assert!(
            sent.contains("review this\n\n<attachment>\ndiff --git a b\n</attachment>"),
            "{sent}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_alone_is_the_message() {
    for arguments in [&["run"][..], &["run", "-"]] {
        let lango = Lango::playing(&[ECHO]).await;
        let finished = lango.command(arguments).input("What is this?\n").run().await;
        assert_eq!((finished.code, finished.stdout.as_str()), (0, "Understood.\n"));
        assert!(lango.requests()[0].user().ends_with("What is this?"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_or_nothing_at_all_is_refused_before_anybody_is_asked() {
    let lango = Lango::playing(&[ECHO]).await;
    let nothing = lango.command(&["run"]).run().await;
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("lango run \"your question\""), "{}", nothing.stderr);
    let flood = lango.command(&["run", "read"]).input(vec![b'x'; 1024 * 1024 + 1]).run().await;
    assert_eq!(flood.code, 2);
    assert!(flood.stderr.contains("longer than 1 MiB"), "{}", flood.stderr);
    assert!(lango.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_not_text_do_not_stop_a_message() {
    let lango = Lango::playing(&[ECHO]).await;
    let finished =
        lango.command(&["run", "what is it?"]).input(b"\xff\xfe\x00ok".to_vec()).run().await;
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(lango.requests()[0].user().contains("ok\n</attachment>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_in_a_pipe_takes_each_line_as_a_turn_of_one_session() {
    let lango = Lango::playing(&[
        "[[reply]]\nuser = \"second\"\nsay = \"Two.\"\n[[reply]]\nsay = \"One.\"\n",
    ])
    .await;
    let chat =
        lango.command(&["chat"]).input("first\n\n/session\nsecond\n/quit\nthird\n").run().await;
    assert_eq!(chat.code, 0, "{}", chat.stderr);
    let lines: Vec<&str> = chat.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[2]), (3, "One.", "Two."));
    let list = lango.command(&["sessions", "list", "--json"]).run().await;
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!((list[0]["turns"].as_u64(), list.as_array().unwrap().len()), (Some(2), 1));
    assert_eq!(list[0]["id"], lines[1]);
    assert_eq!(lango.requests()[1].said_by("user")[0], "first");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_can_begin_a_new_conversation_and_tells_how_the_last_turn_ended() {
    let script = "[[reply]]\nuser = \"break\"\nfault = \"status\"\n[[reply]]\nsay = \"One.\"\n";
    let lango = Lango::playing(&[script]).await;
    let chat = lango.command(&["chat"]).input("first\n/new\n/nonsense\nbreak\n").run().await;
    assert_eq!(chat.code, 4, "{}", chat.stderr);
    assert!(chat.stdout.contains("unknown command /nonsense; /help lists them"), "{}", chat.stdout);
    let list = lango.command(&["sessions", "list", "--json"]).run().await;
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert!(!lango.requests()[1].text().contains("first"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_command_and_a_terminal_there_is_help_and_code_2() {
    let lango = Lango::silent().await;
    let finished = lango.command(&[]).run().await;
    assert_eq!((finished.code, finished.stdout.as_str()), (2, ""));
    assert!(finished.stderr.contains("no command given"), "{}", finished.stderr);
    assert!(finished.stderr.contains("lango demo"), "{}", finished.stderr);
    let wrong = lango.command(&["run", "--no-such-flag"]).run().await;
    assert_eq!(wrong.code, 2);
}
