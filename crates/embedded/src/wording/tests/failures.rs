//! Calls that did not do their work.

use super::{is_failure, told};

#[test]
fn a_failure_is_told_in_the_tools_words() {
    for (name, arguments, result, expected) in [
        (
            "fs_list",
            r#"{"path":"nothere"}"#,
            "nothere does not exist; fs_list shows what does",
            "Listing `nothere` failed: nothere does not exist; fs_list shows what does.",
        ),
        (
            "fs_delete",
            r#"{"path":"sub"}"#,
            "sub is a directory with 2 entries; set recursive to delete them too",
            "Deleting `sub` failed: sub is a directory with 2 entries; set recursive to delete them too.",
        ),
        (
            "fs_read",
            r#"{"path":"../x"}"#,
            "not permitted: ../x leads outside the workspace; use a path inside it",
            "Reading `../x` is not permitted: ../x leads outside the workspace; use a path inside it.",
        ),
        (
            "memory_store",
            r#"{"content":"The moon is a cheese"}"#,
            "not permitted: not stored: the user did not say this; only what the user said is remembered (not said: chees, moon)",
            "Remembering this is not permitted: not stored: the user did not say this; only what the user said is remembered (not said: chees, moon).",
        ),
        (
            "browser_read",
            "{}",
            "no page is open. Open one with browser_navigate",
            "Reading the page failed: no page is open. Open one with browser_navigate.",
        ),
        (
            "browser_navigate",
            r#"{"url":"http://10.0.0.1/"}"#,
            "not permitted: it is private. To allow it: lango config set egress.allow '[\"10.0.0.1\"]'",
            "Opening `http://10.0.0.1/` is not permitted: it is private. To allow it: lango config set egress.allow '[\"10.0.0.1\"]'",
        ),
        (
            "graph_traverse",
            r#"{"start_node":"Bob"}"#,
            "there is no node \"Bob\" in the graph",
            "Following the relations of `Bob` failed: there is no node \"Bob\" in the graph.",
        ),
        (
            "rag_ingest",
            r#"{"path":"nothere.md"}"#,
            "nothere.md: it cannot be read: No such file or directory (os error 2)",
            "Taking in `nothere.md` failed: nothere.md: it cannot be read: No such file or directory (os error 2).",
        ),
        (
            "fs_read",
            r#"{"id":"p9"}"#,
            "the arguments do not fit: unknown field `id`, expected one of `path`, `offset`, `limit` at line 1 column 5",
            "`fs_read` was not run: the arguments do not fit: unknown field `id`, expected one of `path`, `offset`, `limit` at line 1 column 5.",
        ),
        (
            "fs_readd",
            "{}",
            "\"fs_readd\" was not run: it is not a tool of operator. Its tools are: exec_shell, fs_read",
            "`fs_readd` was not run: it is not a tool of operator.",
        ),
    ] {
        let said = told(name, arguments, result);
        assert_eq!(said, expected);
        assert!(is_failure(&said), "{said}");
    }
}

#[test]
fn what_helped_before_is_passed_on() {
    let result = "sub is a directory with 2 entries; set recursive to delete them too\n\n\
                  This error came up before [lesson rvZYptxL7], helped 1 of 1 times. What helped: call \
                  fs_delete with recursive true";
    assert_eq!(
        told("fs_delete", r#"{"path":"sub"}"#, result),
        "Deleting `sub` failed: sub is a directory with 2 entries; set recursive to delete them too.\n\n\
         What helped before: call fs_delete with recursive true"
    );
}

#[test]
fn what_was_not_approved_was_not_done() {
    let run = r#"{"command":"rm -rf build"}"#;
    for (result, expected) in [
        (
            "Not run: not approved (--approve none). Do not try it again; tell the user.",
            "Running `rm -rf build` was not done: not approved (--approve none).",
        ),
        (
            "Not run: not allowed by the rule deny exec_shell rm. Do not try it again.",
            "Running `rm -rf build` was not done: not allowed by the rule deny exec_shell rm.",
        ),
        (
            "Not run: this very call was denied before in this turn. Do not ask again.",
            "Running `rm -rf build` was not done: this very call was denied before in this turn.",
        ),
        (
            "Not run: the turn was stopped.",
            "Running `rm -rf build` was not done: the turn was stopped.",
        ),
        (
            "Not run: build has changed since this was decided on. Look at it again, then call again.",
            "Running `rm -rf build` was not done: build has changed since this was decided on.",
        ),
        (
            "The process ended before this call was started. It had no effect; call it again if it is \
             still needed.",
            "Running `rm -rf build` was not done: the process ended before it was started.",
        ),
        (
            "exec_shell was not run: you made this very call before and the result was the same each \
             time. Use that result, do something else, or answer",
            "Running `rm -rf build` was not done: you made this very call before and the result was the \
             same each time.",
        ),
    ] {
        assert_eq!(told("exec_shell", run, result), expected);
    }
}

#[test]
fn what_is_half_done_is_told_as_such() {
    let run = r#"{"command":"sleep 5","timeout_seconds":1}"#;
    assert_eq!(
        told(
            "exec_shell",
            run,
            "stopped after 1 s; raise timeout_seconds or do less at once\nstdout so far:\none\ntwo"
        ),
        "Running `sleep 5` was stopped, because it did not end within 1 s.\n\n\
         ```\nstdout so far:\none\ntwo\n```\n\nGive it more time, or do less at once."
    );
    assert_eq!(
        told("exec_shell", run, "Stopped by the user; it may have had a part of its effect."),
        "Running `sleep 5` was stopped; it may have had a part of its effect."
    );
    let unknown = "OUTCOME UNKNOWN: the process ended while this call was running. It may or may not have had \
         its effect, and it was not run again. Check the state of things before you repeat it, and \
         tell the user.";
    let said = told("exec_shell", run, unknown);
    assert!(said.starts_with("What came of this is not known"), "{said}");
}

#[test]
fn a_name_that_looks_like_a_success_does_not_make_one() {
    for (name, path) in [
        ("fs_delete", "deleted notes"),
        ("fs_mkdir", "made x"),
        ("fs_write", "created x, 3 bytes"),
        ("fs_edit", "edited a, +1 -1 lines"),
        ("fs_list", "x: 3 entries"),
        ("fs_read", "x: empty file"),
        ("fs_stat", "x: file, 3 bytes, modified now, mode 1"),
    ] {
        let arguments = serde_json::json!({ "path": path }).to_string();
        let said =
            told(name, &arguments, &format!("{path} does not exist; fs_list shows what does"));
        assert!(is_failure(&said), "{said}");
    }
}

#[test]
fn a_result_about_something_else_is_no_success() {
    for (name, result) in [
        ("fs_list", "b: 0 entries"),
        ("fs_read", "b: empty file"),
        ("fs_stat", "b: file, 3 bytes, modified 2026-11-15T23:10:28Z, mode 0644"),
        ("fs_write", "created b, 4 bytes"),
        ("fs_edit", "edited b, +1 -1 lines\n+b"),
        ("fs_mkdir", "made b"),
        ("fs_delete", "deleted b"),
    ] {
        let said = told(name, r#"{"path":"a"}"#, result);
        assert!(is_failure(&said), "{said}");
    }
}
