//! The examples of README and docs: every command line is one that the program takes, and those of README
//! are run as they are printed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lango_arguments::Arguments;
use lango_protocol::EventBody;
use lango_shell_command::read_command;

use crate::fixture::Lango;

/// What a test does with an example of README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trial {
    /// `lango run` with the embedded model: these tools are called, and the answer has these words.
    Embedded(&'static [&'static str], &'static str),
    /// With a scripted model, because it takes one that writes. Its words are the answer.
    Scripted,
    /// A command that prints these words.
    Prints(&'static str),
    /// It is only read, for this reason.
    OnlyRead(&'static str),
}

/// The examples of README, in its order.
const TRIALS: &[(&str, Trial)] = &[
    ("cargo run -- run \"list the files here\"", Trial::Embedded(&["fs_list"], "README.md")),
    ("cargo xtask test", Trial::OnlyRead("it runs this test")),
    (
        "lango run \"which files mention TODO?\"",
        Trial::Embedded(&["fs_search"], "TODO: switch it on"),
    ),
    (
        "lango run \"remember that the server room key is with Anna\"",
        Trial::Embedded(&["memory_store"], "the server room key is with Anna"),
    ),
    (
        "lango run \"what do you remember about the server room key?\"",
        Trial::Embedded(&["memory_search"], "the server room key is with Anna"),
    ),
    (
        "lango run \"make a folder called drafts and then list the files\"",
        Trial::Embedded(&["fs_mkdir", "fs_list"], "`drafts/`"),
    ),
    ("lango run \"how many TODOs are there in src?\"", Trial::Embedded(&["fs_search"], "1")),
    ("git diff | lango run \"review this\"", Trial::Scripted),
    ("lango run --last \"and which is the oldest?\"", Trial::Scripted),
    ("lango chat", Trial::Scripted),
    (
        "lango ingest docs notes.pdf https://example.org/guide",
        Trial::OnlyRead("it needs the network; docs alone are ingested before the next one"),
    ),
    (
        "lango run \"what do our notes say about backups?\"",
        Trial::Embedded(&["search_knowledge", "rag_retrieve"], "Backups run at half past two"),
    ),
    ("lango run \"I deploy on Fridays\"", Trial::Embedded(&[], "is remembered")),
    ("lango memory forget m_3f2a", Trial::OnlyRead("it has an id that is made up")),
    ("lango serve", Trial::OnlyRead("it does not end; the tests of the server start it")),
    ("lango a2a add weather https://agent.example.org", Trial::OnlyRead("it needs the network")),
    (
        "lango mcp add time --agent operator -- uvx mcp-server-time",
        Trial::OnlyRead("it needs the network"),
    ),
    ("lango mcp serve", Trial::OnlyRead("it does not end; the tests of MCP start it")),
    ("lango agents list", Trial::Prints("operator")),
    ("lango prompt show operator", Trial::Prints("tokens")),
    ("lango documents search \"…\"", Trial::Prints("")),
    ("lango knowledge list", Trial::Prints("")),
    ("lango cron list", Trial::Prints("")),
    ("lango memory list", Trial::Prints("I deploy on Fridays")),
    ("lango eval retrieval DIR", Trial::OnlyRead("it needs a collection; its own tests have one")),
    ("lango eval calls FILE.jsonl", Trial::OnlyRead("it needs requests; its own tests have some")),
    ("lango sessions list", Trial::Prints("which files mention TODO?")),
    ("lango models list", Trial::Prints("embedded")),
    ("lango usage", Trial::Prints("embedded")),
    ("lango approvals list", Trial::Prints("")),
    ("lango undo", Trial::Prints("")),
    ("lango ps", Trial::Prints("")),
    ("lango skills list", Trial::Prints("")),
    ("lango a2a list", Trial::Prints("")),
    ("lango mcp list", Trial::Prints("")),
    ("lango resume", Trial::Prints("")),
    ("lango config show --origin", Trial::Prints("approvals.policy")),
    ("lango doctor", Trial::Prints("sandbox")),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns README and the pages of docs.
fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(repository().join("docs")).unwrap();
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).filter(is_page).collect();
    pages.sort();
    pages.push(repository().join("README.md"));
    pages
}

/// Returns the lines of a page's shell examples, without remarks. Lines that go on are one.
fn examples(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut lines = Vec::new();
    let (mut is_shell, mut begun) = (false, String::new());
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_shell = !is_shell && matches!(language, "sh" | "bash" | "shell");
        } else if is_shell {
            begun.push_str(line.split(" #").next().unwrap_or_default().trim());
            match begun.strip_suffix('\\') {
                Some(rest) => begun = format!("{} ", rest.trim_end()),
                None => lines.push(std::mem::take(&mut begun)),
            }
        }
    }
    lines.retain(|line| !line.is_empty() && !line.starts_with('#'));
    lines
}

/// Returns the words of each call of this program in a command line.
fn calls(line: &str) -> Vec<Vec<String>> {
    let steps = read_command(line).steps;
    let words = steps.iter().map(|step| step.program_words().to_vec());
    words.filter(|words| words.first().is_some_and(|program| program == "lango")).collect()
}

#[test]
fn the_program_takes_every_command_line_of_the_documents() {
    let mut count = 0;
    for page in pages() {
        for line in examples(&page) {
            for words in calls(&line) {
                count += 1;
                let read = Arguments::read(words.iter().map(OsString::from));
                let is_help = |error: &clap::Error| !error.use_stderr();
                if let Err(error) = read
                    && !is_help(&error)
                {
                    panic!("{}: {line}\n{error}", page.display());
                }
            }
        }
    }
    assert!(count > 250, "only {count} command lines were found");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_of_readme_works_as_printed() {
    let examples = examples(&repository().join("README.md"));
    let is_setting =
        |line: &&String| line.starts_with("export ") || line.starts_with("OPENAI_BASE_URL=");
    let printed: Vec<&str> =
        examples.iter().filter(|line| !is_setting(line)).map(String::as_str).collect();
    let known: Vec<&str> = TRIALS.iter().map(|(line, _)| *line).collect();
    assert_eq!(printed, known, "say in this test what each example of README does");

    let lango = Lango::playing(&["[[reply]]\nsay = \"Looked at.\"\n"; 3]).await;
    std::fs::write(lango.workspace().join("src/lamp.rs"), "// TODO: switch it on\n").unwrap();
    std::fs::create_dir(lango.workspace().join("docs")).unwrap();
    let notes = "# Notes\n\nBackups run at half past two, every night.\n";
    std::fs::write(lango.workspace().join("docs/notes.md"), notes).unwrap();
    for (line, trial) in TRIALS {
        // Without its documents, a question about them would find none.
        if line.contains("what do our notes say") {
            let ingested = lango.bare(&["ingest", "docs"]).run().await;
            assert_eq!(ingested.code, 0, "{ingested:?}");
        }
        match trial {
            Trial::OnlyRead(_) => {}
            Trial::Embedded(tools, words) => try_embedded(&lango, line, tools, words).await,
            Trial::Scripted => try_scripted(&lango, line).await,
            Trial::Prints(words) => {
                let call = calls(line).remove(0);
                let arguments: Vec<&str> = call[1..].iter().map(String::as_str).collect();
                let output = lango.bare(&arguments).run().await;
                assert_eq!(output.code, 0, "{line}: {output:?}");
                assert!(output.stdout.contains(words), "{line}: {output:?}");
            }
        }
    }
}

/// Returns the request of an example, which is its last word.
fn request(line: &str) -> String {
    let line = line.replace("cargo run -- ", "lango ");
    calls(&line).remove(0).pop().unwrap()
}

async fn try_embedded(lango: &Lango, line: &str, tools: &[&str], words: &str) {
    let turn = lango.bare(&["run", "--output-format", "stream-json", &request(line)]).turn().await;
    let called: Vec<&str> = turn
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCall { tool, .. } => Some(tool.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!((turn.code, called.as_slice()), (0, tools), "{line}: {}", turn.answer());
    assert!(turn.answer().contains(words), "{line}: {}", turn.answer());
}

async fn try_scripted(lango: &Lango, line: &str) {
    let call = calls(line).remove(0);
    let arguments: Vec<&str> = call[1..].iter().map(String::as_str).collect();
    let input = if line.contains('|') { "+ a new line\n" } else { "hello\n" };
    let is_chat = arguments == ["chat"];
    let invocation = lango.command(&arguments);
    let invocation =
        if is_chat || line.contains('|') { invocation.input(input) } else { invocation };
    let output = invocation.run().await;
    assert_eq!(output.code, 0, "{line}: {output:?}");
    assert!(output.stdout.contains("Looked at."), "{line}: {output:?}");
}
