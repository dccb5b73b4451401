//! Files and commands.

use super::told;

#[test]
fn a_listing_is_a_list_of_names() {
    let result = ".: 4 entries\n\
        file              3 2026-11-15T23:10:28Z blob.bin\n\
        directory      4096 2026-11-15T23:10:28Z empty/\n\
        link              9 2026-11-15T23:10:28Z here -> notes.md\n\
        file             63 2026-11-15T23:10:28Z my notes.md";
    assert_eq!(
        told("fs_list", r#"{"path":"."}"#, result),
        "4 entries in the workspace:\n\n\
         - `blob.bin`, 3 bytes\n\
         - `empty/`\n\
         - `here -> notes.md` (link)\n\
         - `my notes.md`, 63 bytes"
    );
    assert_eq!(
        told("fs_list", r#"{"path":"empty"}"#, "empty: 0 entries"),
        "There is nothing in `empty`."
    );
    let cut = "a: 1 entries shown, there are more; list a subdirectory or use a smaller depth\n\
               file              1 2026-11-15T23:10:28Z b";
    assert_eq!(
        told("fs_list", r#"{"path":"a"}"#, cut),
        "The first 1 entry in `a`; there are more:\n\n- `b`, 1 byte"
    );
}

#[test]
fn a_file_is_shown_to_the_letter() {
    let result = "notes.md: lines 1-4 of 4\n# Garden\n\nThe garden needs water twice a week.\nTODO buy a hose\n";
    assert_eq!(
        told("fs_read", r#"{"path":"notes.md"}"#, result),
        "`notes.md` (4 lines):\n\n```\n# Garden\n\nThe garden needs water twice a week.\nTODO buy a hose\n```"
    );
    assert_eq!(
        told(
            "fs_read",
            r#"{"limit":2,"path":"long.txt"}"#,
            "long.txt: lines 1-2 of 10, continue with offset=3\n1\n2\n"
        ),
        "`long.txt`, lines 1 to 2 of 10:\n\n```\n1\n2\n```"
    );
    assert_eq!(
        told(
            "fs_read",
            r#"{"path":"blob.bin"}"#,
            "blob.bin: binary data, 3 bytes, not shown because it is not text"
        ),
        "`blob.bin` is not text: binary data, 3 bytes."
    );
    assert_eq!(told("fs_read", r#"{"path":"e"}"#, "e: empty file"), "`e` is empty.");
}

#[test]
fn a_search_says_how_many_lines_match() {
    let result = "2 matching lines in 5 files searched\n\
                  notes.md:4: TODO buy a hose\nsrc/main.rs:1: fn main() {} // TODO";
    assert_eq!(
        told("fs_search", r#"{"pattern":"TODO"}"#, result),
        "2 lines match `TODO` (5 files searched):\n\n\
         ```\nnotes.md:4: TODO buy a hose\nsrc/main.rs:1: fn main() {} // TODO\n```"
    );
    assert_eq!(
        told("fs_search", r#"{"pattern":"zzzz"}"#, "0 matching lines in 5 files searched"),
        "Nothing was found for `zzzz` (5 files searched)."
    );
    assert_eq!(
        told(
            "fs_stat",
            r#"{"path":"notes.md"}"#,
            "notes.md: file, 63 bytes, 4 lines, modified 2026-11-15T23:10:28Z, mode 0644"
        ),
        "`notes.md` is a file: 63 bytes, 4 lines, modified 2026-11-15T23:10:28Z, mode 0644."
    );
}

#[test]
fn a_change_says_what_changed_and_how_to_take_it_back() {
    for (name, arguments, result, expected) in [
        (
            "fs_write",
            r#"{"content":"a\nb\n","path":"new.txt"}"#,
            "created new.txt, 4 bytes, +2 -0 lines",
            "Created `new.txt`: 4 bytes, +2 -0 lines.",
        ),
        (
            "fs_write",
            r#"{"content":"a\nc\n","path":"new.txt"}"#,
            "replaced new.txt, 4 bytes, +1 -1 lines",
            "Replaced the content of `new.txt`: 4 bytes, +1 -1 lines.",
        ),
        (
            "fs_edit",
            r#"{"new_text":"d","old_text":"c","path":"new.txt"}"#,
            "edited new.txt, +1 -1 lines\n--- new.txt\n+++ new.txt\n@@ -1,2 +1,2 @@\n a\n-c\n+d\n",
            "Edited `new.txt`, +1 -1 lines:\n\n```\n--- new.txt\n+++ new.txt\n@@ -1,2 +1,2 @@\n a\n-c\n+d\n```",
        ),
        ("fs_mkdir", r#"{"path":"sub/dir"}"#, "made sub/dir", "Made the directory `sub/dir`."),
        (
            "fs_move",
            r#"{"from":"new.txt","to":"sub/new.txt"}"#,
            "moved new.txt to sub/new.txt",
            "Moved `new.txt` to `sub/new.txt`.",
        ),
        ("fs_delete", r#"{"path":"a"}"#, "deleted a", "Deleted `a`."),
        (
            "fs_delete",
            r#"{"path":"sub","recursive":true}"#,
            "deleted sub with 2 entries",
            "Deleted `sub` with the 2 entries in it.",
        ),
    ] {
        let expected = format!("{expected}\n\n`lango undo` takes it back.");
        assert_eq!(told(name, arguments, result), expected);
    }
    assert_eq!(
        told("fs_mkdir", r#"{"path":"sub"}"#, "sub was there already"),
        "`sub` was there already; nothing was changed."
    );
}

#[test]
fn a_command_says_how_it_ended_and_what_it_printed() {
    let ran = |command: &str, result: &str| {
        told("exec_shell", &serde_json::json!({ "command": command }).to_string(), result)
    };
    assert_eq!(
        ran("make test", "exit code 0 after 0.038 s\nstdout:\nhi\nstderr:\noops"),
        "`make test` ended with exit code 0:\n\n```\nhi\nstderr:\noops\n```"
    );
    assert_eq!(
        ran("false", "exit code 1 after 0.038 s\nstderr:\noops"),
        "`false` ended with exit code 1:\n\n```\nstderr:\noops\n```"
    );
    assert_eq!(
        ran("true", "exit code 0 after 0.044 s, no output"),
        "`true` ended with exit code 0 and printed nothing."
    );
    assert_eq!(
        ran("echo a; kill -9 $$", "exit code 137 (signal 9) after 0.049 s\nstdout:\na"),
        "`echo a; kill -9 $$` ended with exit code 137 (signal 9):\n\n```\na\n```"
    );
}

#[test]
fn a_command_in_the_background_says_how_it_stands() {
    assert_eq!(
        told("exec_background", r#"{"command":"echo up; sleep 100"}"#, "started, id p1"),
        "Started `echo up; sleep 100` in the background, as `p1`."
    );
    let status = |result: &str| told("exec_status", r#"{"id":"p1"}"#, result);
    assert_eq!(
        status("p1 running since 1 s\noutput:\nup"),
        "`p1` has been running for 1 s. The last of what it printed:\n\n```\nup\n```"
    );
    assert_eq!(
        status("p1 exited with exit code 0\noutput:\n(no output)"),
        "`p1` has ended with exit code 0. It printed nothing."
    );
    assert_eq!(
        told("exec_stop", r#"{"id":"p1"}"#, "p1 stopped\noutput:\nup"),
        "`p1` was stopped. The last of what it printed:\n\n```\nup\n```"
    );
}

#[test]
fn a_long_output_is_cut_and_says_how_much_more_there_is() {
    let head: String = (1..2508).map(|number| format!("{number}\n")).collect();
    let result = format!(
        "exit code 0 after 0.040 s\nstdout:\n{head}[… 212547 bytes left out; read them with \
         output_read, reference \"voHPuxrlQ\" …]\n39182\n40000"
    );
    let told = told("exec_shell", r#"{"command":"seq 1 40000"}"#, &result);
    assert!(told.starts_with("`seq 1 40000` ended with exit code 0:\n\n```\n1\n2\n"), "{told}");
    assert!(told.ends_with(" more bytes are not shown)"), "{told}");
    assert!(told.len() <= 6 * 1024 && !told.contains("output_read"), "{told}");
}

#[test]
fn a_skill_is_told_as_a_script_or_as_its_instructions() {
    assert_eq!(
        told("skill_run", r#"{"name":"tidy-up"}"#, "exit code 0 after 0.010 s\nstdout:\ntidy"),
        "The skill `tidy-up` ended with exit code 0:\n\n```\ntidy\n```"
    );
    assert_eq!(
        told(
            "skill_tidy",
            "{}",
            "Instructions of the skill tidy (files: SKILL.md in /s/tidy)\n\nTidy up.\nThen rest."
        ),
        "The skill `tidy` consists of instructions:\n\n> Tidy up.\n> Then rest."
    );
    assert_eq!(
        told("output_read", r#"{"reference":"x"}"#, "a\nb\n[from line 3 of 9]"),
        "From line 3 of 9:\n\n```\na\nb\n```"
    );
}
