//! What the program logs about itself, and what it never does.

use crate::fixture::{Lango, TO_OPERATOR, calling};

/// Words of the user, of the model and of a file that must not be in a log.
const CANARIES: [&str; 4] = ["zebra-question", "zebra-answer", "zebra-file", "sk-zebra-key"];

async fn lango() -> Lango {
    let operator = calling("operator", &[("fs_read", "{ path = \"zebra.txt\" }")]);
    let script = format!("{operator}\n[[reply]]\nsay = \"zebra-answer\"\n");
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    std::fs::write(lango.workspace().join("zebra.txt"), "zebra-file\n").unwrap();
    lango
}

/// The lines that the logger wrote.
fn log_lines(stderr: &str) -> Vec<&str> {
    let levels = [" ERROR ", " WARN ", " INFO ", " DEBUG ", " TRACE "];
    stderr.lines().filter(|line| levels.iter().any(|level| line.contains(level))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_logged_unless_it_is_asked_for() {
    let lango = lango().await;
    let ran = lango.command(&["run", "zebra-question"]).run().await;
    assert_eq!((ran.code, log_lines(&ran.stderr)), (0, Vec::new()), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_has_names_and_figures_and_no_words() {
    let lango = lango().await;
    let run = |flags: &[&str]| {
        let arguments = [flags, &["run", "zebra-question"]].concat();
        lango.command(&arguments).set("OPENAI_API_KEY", "sk-zebra-key")
    };
    let info = run(&["-v"]).run().await;
    let lines = log_lines(&info.stderr).join("\n");
    assert!(lines.contains("turn{session=") && lines.contains("turn finished"), "{}", info.stderr);
    assert!(lines.contains("status=\"done\"") && !lines.contains("DEBUG"), "{lines}");
    for canary in CANARIES {
        assert!(!lines.contains(canary), "{canary} is in the log: {lines}");
    }
    let debug = run(&["-vv"]).run().await;
    let lines = log_lines(&debug.stderr).join("\n");
    for expected in ["model_call{agent=operator", "tool_call{agent=operator tool=fs_read", "ended"]
    {
        assert!(lines.contains(expected), "{expected}: {lines}");
    }
    assert!(!lines.contains("sk-zebra-key"), "{lines}");
    let filtered = run(&[]).set("LANGO_LOG", "lango_runtime=debug").run().await;
    assert!(filtered.stderr.contains("tool call ended"), "{}", filtered.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_is_none_is_refused() {
    let lango = Lango::silent().await;
    let wrong = lango.command(&["sessions", "list"]).set("LANGO_LOG", "lango=loud").run().await;
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("LANGO_LOG") && wrong.stderr.contains("lango_runtime=debug"));
}
