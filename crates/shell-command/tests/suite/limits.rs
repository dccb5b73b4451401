//! Tests hostile texts: too long, too deep, not closed.

use lango_shell_command::read_command;

use super::{gives_up, reason, steps};

#[test]
fn what_is_not_closed_is_not_read() {
    for command in [
        "echo 'a",
        "echo \"a",
        "echo `a",
        "echo $(a",
        "echo ${a",
        "(a",
        "{ a; ",
        "if a; then b",
        "a &&",
        "a |",
        "for",
        "for x in a",
        "while a; do b",
        "case x in",
        "case x in a) b",
        "echo \\",
        "a; )",
        "a; }",
        "fi",
        "a ;; b",
        "; a",
        "& a",
        "| a",
        "a; ;b",
        "a & & b",
        "case x in a b) c;; esac",
        "for x a; do b; done",
        "do a; done",
        "in a",
        "echo $((1",
        "echo \"${a",
        "a\0b",
    ] {
        assert_ne!(reason(command), "", "{command:?}");
    }
    gives_up("ls; rm x; (a; b", &["ls", "rm x", "a", "b"]);
}

#[test]
fn a_command_has_a_greatest_length() {
    let fits = format!("echo {}", "a".repeat(64 * 1024 - 5));
    assert_eq!(reason(&fits), "");
    assert_eq!(reason(&format!("{fits}a")), "it is longer than 64 KiB");
}

/// Reads texts that are each as long as a command may be. Time is not measured: a reader that is
/// not linear would take minutes.
#[test]
fn hostile_texts_are_read_in_one_go() {
    const LENGTH: usize = 64 * 1024;
    for (piece, end) in [
        ("(((($(", ""),
        ("$((", ""),
        ("`", ""),
        ("\\`", ""),
        ("${x:-", ""),
        ("\"$(", ""),
        ("{ ", ""),
        ("a;", ""),
        ("if ", ""),
        ("$(", ")"),
        ("nice ", "a"),
        ("sh -c ", "a"),
        ("eval ", "a"),
        ("sh -c '", ""),
        ("a|", "a"),
        ("find -exec ", "\\;"),
        ("-exec ", ""),
        ("./a;", ""),
        ("<<a ", "\n"),
        ("<<a\n", ""),
        ("a=b ", "c"),
        ("((", ""),
        ("$((a)", ""),
        ("f() ", "a"),
        ("function f ", "a"),
        ("coproc ", "a"),
        ("! ", "a"),
        ("\\\n", "a"),
        ("#\n", "a"),
        ("case a in b) ", ""),
        ("$[", ""),
        ("{a,", "}"),
        ("[", "]"),
        ("*", ""),
        (">a ", ""),
        ("<(", ""),
        ("env a=b ", "c"),
        ("find . -exec ", "\\;"),
        ("git ", ""),
        ("sed -e p ", ""),
        ("psql|", "a"),
        ("echo '<*'", ""),
        ("\u{202e}ä", ""),
    ] {
        let text = piece.repeat((LENGTH - end.len()) / piece.len()) + end;
        let kept: usize =
            read_command(&text).steps.iter().flat_map(|step| &step.words).map(String::len).sum();
        assert!(kept <= 1024 * 1024, "{piece:?} became {kept} bytes");
    }
}

#[test]
fn words_that_wrappers_repeat_have_a_limit() {
    let long = "x".repeat(30_000);
    let reading = read_command(&format!("A={long} sh -c '{}'", "a;".repeat(10_000)));
    assert_eq!(reading.unreadable.as_deref(), Some("it repeats its words too often"));
    let reading = read_command(&format!("sh -c '{}' <<X\n{long}\nX", "a;".repeat(10_000)));
    assert_eq!(reading.unreadable.as_deref(), Some("it repeats its words too often"));
    let kept: usize = reading.steps.iter().flat_map(|step| &step.words).map(String::len).sum();
    assert!(kept < 1024 * 1024, "{kept}");
}

#[test]
fn what_is_wrapped_too_often_is_not_read() {
    for wrapper in ["env ", "nohup "] {
        let wrapped = |count: usize| format!("ls; {}rm x", wrapper.repeat(count));
        assert_eq!(read_command(&wrapped(3)).unreadable, None, "{wrapper}");
        assert!(steps(&wrapped(3)).last().unwrap().ends_with("rm x"), "{wrapper}");
        gives_up(&wrapped(40), &["ls"]);
    }
}
