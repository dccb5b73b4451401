//! Reads commands that a file tool does as well: with names that are looked up, and undone if need be.

use super::file_names::{FileNames, FoundEntry, WantedEntry};

/// A file command with a meaning of its own, whose names are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileCommand {
    List(Option<String>),
    Read(String),
    First(String, i64),
    Last(String, i64),
    Move(Vec<String>, String),
    Copy(Vec<String>, String),
    Delete { paths: Vec<String>, recursive: bool },
    MakeDirectory(Vec<String>),
    Touch(String),
}

/// Reads a command that a file tool does as well: with names that are looked up, and undone if need be.
pub(crate) fn read_file_command(command: &str, files: &FileNames<'_>) -> Option<FileCommand> {
    if command.contains(['|', '>', '<', ';', '&', '$', '`', '\\']) {
        return None;
    }
    let words = split_shell_words(command)?;
    let (program, rest) = words.split_first()?;
    let (options, operands): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    let letters: String =
        options.iter().flat_map(|option| option.trim_start_matches('-').chars()).collect();
    let only = |allowed: &str| letters.chars().all(|c| allowed.contains(c));
    let file = |mention: &str| match files.find(mention, WantedEntry::File) {
        FoundEntry::One(path) => Some(path),
        _ => None,
    };
    let existing = |operands: &[&String]| -> Option<Vec<String>> {
        operands
            .iter()
            .map(|name| match files.find(name, WantedEntry::Any) {
                FoundEntry::One(path) => Some(path),
                _ => name.contains('*').then(|| (*name).clone()),
            })
            .collect()
    };
    match (program.as_str(), operands.as_slice()) {
        ("ls" | "ll" | "dir", []) if only("lah1") => Some(FileCommand::List(None)),
        ("ls" | "ll" | "dir", [path]) if only("lah1") && !path.contains('*') => {
            match files.find(path, WantedEntry::Directory) {
                FoundEntry::One(path) => Some(FileCommand::List(Some(path))),
                _ => None,
            }
        }
        ("cat" | "less" | "more", [path]) if letters.is_empty() => {
            file(path).map(FileCommand::Read)
        }
        ("head" | "tail", _) => {
            let mut count = 10;
            let mut path = None;
            let mut words = rest.iter();
            while let Some(word) = words.next() {
                let number = word
                    .trim_start_matches("-n")
                    .trim_start_matches("--lines=")
                    .trim_start_matches('-');
                if word == "-n" {
                    count = words.next()?.parse().ok()?;
                } else if word.starts_with('-') {
                    count = number.parse().ok()?;
                } else if path.is_none() {
                    path = Some(file(word)?);
                } else {
                    return None;
                }
            }
            let path = path?;
            Some(if program == "head" {
                FileCommand::First(path, count)
            } else {
                FileCommand::Last(path, count)
            })
        }
        ("mv", [from @ .., to]) if !from.is_empty() && letters.is_empty() => {
            Some(FileCommand::Move(existing(from)?, (*to).clone()))
        }
        ("cp", [from @ .., to]) if !from.is_empty() && only("raR") => {
            Some(FileCommand::Copy(existing(from)?, (*to).clone()))
        }
        ("rm", paths) if !paths.is_empty() && only("rf") => {
            Some(FileCommand::Delete { paths: existing(paths)?, recursive: letters.contains('r') })
        }
        ("mkdir", paths) if !paths.is_empty() && only("p") => {
            Some(FileCommand::MakeDirectory(paths.iter().map(|path| (*path).clone()).collect()))
        }
        ("touch", [path]) if letters.is_empty() && files.kind_of(path).is_none() => {
            Some(FileCommand::Touch((*path).clone()))
        }
        _ => None,
    }
}

/// Splits a command without expansions into words.
fn split_shell_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}
