//! Tests what `exec_shell` proposes: the steps, and the scripts with their content.

use lango_shell_command::read_command;
use lango_tool::{Proposal, ProposedStep};
use serde_json::json;

use crate::support::Bench;

/// Renders a step's words with blanks between them, after `=` if only a rule for exactly these
/// words may allow it.
fn shown(step: &ProposedStep) -> String {
    let exact = if step.exact_only.is_some() { "=" } else { "" };
    format!("{exact}{}", step.words.join(" "))
}

fn proposal(bench: &Bench, command: &str, cwd: Option<&str>) -> Proposal {
    let arguments = json!({"command": command, "cwd": cwd}).to_string();
    let prepared = bench.registry.get("exec_shell").unwrap().prepare(&arguments).unwrap();
    prepared.propose().unwrap()
}

#[tokio::test(flavor = "current_thread")]
async fn a_proposal_has_the_steps_of_the_command() {
    let bench = Bench::new().await;
    let proposal = proposal(&bench, "ls -l && env X=1 rm y", None);
    let steps: Vec<_> = proposal.steps.iter().map(shown).collect();
    assert_eq!(steps, ["ls -l", "=X=1 rm y"]);
    assert_eq!((proposal.unreadable, proposal.bound), (None, vec![]));
    let unreadable = read_command("rm $x").unreadable;
    assert!(unreadable.is_some());
    assert_eq!(super::proposal::proposal(&bench, "rm $x", None).unreadable, unreadable);
}

#[tokio::test(flavor = "current_thread")]
async fn a_script_is_shown_and_bound() {
    let bench = Bench::new().await;
    bench.put("d/run.sh", "#!/bin/sh\nrm -rf /\u{202e}\n");
    let first = proposal(&bench, "./run.sh; sh gone", Some("d"));
    let digest = &first.bound[0].digest;
    assert_eq!((first.bound[0].what.as_str(), digest.len()), ("./run.sh", 64));
    assert_eq!((first.bound[1].what.as_str(), first.bound[1].digest.as_str()), ("gone", "missing"));
    let expected = format!(
        "\n  $ ./run.sh; sh gone\nruns the file ./run.sh, 22 bytes, SHA-256 {}…:\n  \
         | #!/bin/sh\n  | rm -rf /\\u{{202e}}\n\
         runs files that are not there now: gone\n",
        &digest[..12]
    );
    assert!(first.summary.contains(&expected), "{}", first.summary);
    assert_eq!(first, proposal(&bench, "./run.sh; sh gone", Some("d")));
    // A change of any of them makes it another proposal.
    bench.put("d/run.sh", "#!/bin/sh\nrm -rf ~\n");
    let second = proposal(&bench, "./run.sh; sh gone", Some("d"));
    assert_ne!(first.bound, second.bound);
    bench.put("d/gone", "");
    assert_ne!(second.bound, proposal(&bench, "./run.sh; sh gone", Some("d")).bound);
}

#[tokio::test(flavor = "current_thread")]
async fn a_script_is_shown_whole_or_cannot_be_approved() {
    let bench = Bench::new().await;
    let fitting = "a\n".repeat(64 * 1024 / "  | a\n".len());
    bench.put("fitting", &fitting);
    bench.put("long", format!("{fitting}b\n"));
    bench.put("half", &fitting[..fitting.len() / 2 + 2]);
    bench.put("other-half", &fitting[..fitting.len() / 2 + 2]);
    bench.put("invisible", "\u{202e}".repeat(16 * 1024));
    bench.put("bytes", [b'l', b's', 0xff, b'\n', b'r', b'm']);
    bench.put("disguised", [b"\0 no text\n\xff".to_vec(), fitting.clone().into_bytes()].concat());
    bench.put("program", [b"\x7fELF\0".to_vec(), vec![0; 128 * 1024]].concat());
    bench.put("large-program", [b"\x7fELF\0".to_vec(), vec![0; 1024 * 1024]].concat());
    bench.put("huge", "a".repeat(1024 * 1024 + 1));
    bench.link("long", "link");
    for (command, said) in [
        ("./fitting", "\n  | a\n"),
        ("./bytes", ":\n  | ls\\xff\n  | rm\n"),
        ("./program", "\nruns the file ./program, a compiled program of 131077 bytes, SHA-256 "),
        ("./large-program", "\nruns the file ./large-program, a large compiled program\n"),
        ("./half", ":\n  | a\n"),
    ] {
        let proposal = proposal(&bench, command, None);
        assert!(proposal.summary.contains(said), "{}", proposal.summary);
        assert_eq!(proposal.not_shown, None, "{command}");
    }
    let shown = proposal(&bench, "./fitting", None).summary;
    assert_eq!(shown.matches("\n  | a").count(), fitting.len() / 2, "every line of it");
    for command in
        ["./long", "./link", "./half; ./other-half", "./invisible", "./disguised", "sh huge"]
    {
        let proposal = proposal(&bench, command, None);
        let why = proposal.not_shown.unwrap_or_default();
        assert!(why.contains("cannot be shown whole"), "{command}: {why}");
        assert!(proposal.summary.contains("cannot be approved"), "{command}");
    }
    let (long, link) = (proposal(&bench, "./long", None), proposal(&bench, "./link", None));
    assert_eq!(long.bound[0].digest, link.bound[0].digest, "a link counts by what it leads to");
    for (command, why) in [
        ("./huge", "./huge is larger than 1024 KiB"),
        ("sh .", ". is not a regular file"),
        ("sh /dev/null", "/dev/null is not a file that can be read ahead"),
    ] {
        let proposal = proposal(&bench, command, None);
        assert_eq!(proposal.unreadable.as_deref(), Some(why), "{command}");
        assert!(proposal.bound[0].digest.starts_with("not read: "), "{:?}", proposal.bound);
    }
    let makes = proposal(&bench, "make", None);
    assert_eq!(makes.bound.len(), 3);
    assert!(makes.bound.iter().all(|file| file.digest == "missing"));
}
