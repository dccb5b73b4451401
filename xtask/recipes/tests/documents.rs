//! The files and commands that the documents show are taken by those who read them.
#![expect(clippy::unwrap_used, reason = "clippy knows tests by their attribute, not their helpers")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lango_app::config;
use lango_model::{FactsTable, ModelEntry};
use lango_orchestration::AgentSpec;

const GUIDE: &str = include_str!("../../../CONTRIBUTING.md");

/// A block of code in a document, with the heading of its section.
struct Block {
    heading: String,
    language: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut heading = String::new();
    let mut open: Option<Block> = None;
    for line in document.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let (heading, language) = (heading.clone(), language.to_owned());
                open = Some(Block { heading, language, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{line}\n"),
            (None, None) => {
                if let Some(text) = line.strip_prefix("## ") {
                    text.clone_into(&mut heading);
                }
            }
        }
    }
    blocks
}

/// Returns the only block of a language in a section of the guide.
fn block_of_guide(heading: &str, language: &str) -> String {
    let mut found = blocks(GUIDE);
    found.retain(|block| block.heading == heading && block.language == language);
    assert_eq!(found.len(), 1, "{heading}");
    found.remove(0).text
}

/// Splits a command as a shell does, as far as documents need it.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in command.chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, ' ') => words.push(String::new()),
            (None, '#') if words.last().is_some_and(String::is_empty) => break,
            _ => words.last_mut().unwrap().push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_agent_that_the_guide_shows_is_one() {
    let file = block_of_guide("Add an agent", "markdown");
    let agent = AgentSpec::parse("poet.md", &file).unwrap();
    assert_eq!(agent.name.as_str(), "poet");
}

#[test]
fn the_facts_that_the_guide_shows_are_taken() {
    let table = block_of_guide("Add a model's facts", "toml");
    let entries: BTreeMap<String, ModelEntry> = toml::from_str(&table).unwrap();
    let facts = FactsTable::built_in().with_entries(entries).unwrap().find("", "my-model");
    assert_eq!(facts.window, Some(128_000));
}

/// Returns the documents that show commands.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = [root.clone(), root.join("docs")]
        .into_iter()
        .flat_map(|folder| folder.read_dir().unwrap())
        .map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|one| one == "md")).collect()
}

#[test]
fn what_documents_set_in_the_configuration_can_be_set() {
    let directory = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for line in blocks(&text).iter().flat_map(|block| block.text.lines()) {
            let Some(setting) = line.trim().strip_prefix("lango config set ") else { continue };
            let [key, value] = &words(setting)[..] else { panic!("{}", line) };
            let file = directory.path().join(format!("{checked}.toml"));
            let result = config::set_key(&file, key, value);
            assert!(result.is_ok(), "{}: {line}: {result:?}", document.display());
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} settings were found");
}
