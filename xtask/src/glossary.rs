//! `cargo xtask words`: the words and names that were replaced by others do not come back.
//!
//! Code, documents, prompts, topologies and the texts of the command line are read alike: a word counts
//! in a sentence and as a part of a name. Names of types, functions and constants that say too little
//! count where they are declared.

mod rules;
mod scan;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use crate::repository_files::{files_below, from_root, read};
use rules::{ALLOWED, AllowedUse, RULES, Rule};
use scan::{Match, Source};

/// Files that people write.
const EXTENSIONS: &[&str] = &["rs", "md", "toml", "py", "js", "mjs", "sh", "snap"];

/// The consequence of a replaced word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// It is counted.
    Report,
    /// It is an error.
    Deny,
}

/// A replaced word in a file.
#[derive(Debug)]
struct Finding {
    rule: &'static Rule,
    file: String,
    found: Match,
}

/// Prints every replaced word with its place, then how often each was found.
pub(crate) fn run(strictness: Strictness) -> Result<()> {
    let findings = findings(&crate::cargo::root()?)?;
    for Finding { rule, file, found } in &findings {
        let Match { line, text } = found;
        let place = line.map_or_else(|| format!("{file} (its name)"), |n| format!("{file}:{n}"));
        println!("{place}: {text:?}. Say: {}", rule.say);
    }
    println!("\nNot looked at:");
    for AllowedUse { file, replaced, reason, .. } in ALLOWED {
        println!("  {file}: {}, because {reason}", replaced.unwrap_or("all words"));
    }
    println!();
    conclude(&findings, strictness)
}

/// Prints how often each replaced word was found.
pub(crate) fn summarise(strictness: Strictness) -> Result<()> {
    conclude(&findings(&crate::cargo::root()?)?, strictness)
}

fn conclude(findings: &[Finding], strictness: Strictness) -> Result<()> {
    print!("{}", summary(findings));
    if strictness == Strictness::Deny && !findings.is_empty() {
        bail!("replaced words are used. To list them: cargo xtask words");
    }
    Ok(())
}

fn summary(findings: &[Finding]) -> String {
    let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for Finding { rule, .. } in findings {
        counts.entry(rule.replaced).or_insert((0, rule.say)).0 += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let mut text = String::new();
    for (replaced, (count, say)) in counts {
        text += &format!("{count:>6}  {replaced}: say {say}\n");
    }
    text + &format!("{:>6}  uses of replaced words\n", findings.len())
}

fn findings(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files_below(root, EXTENSIONS)? {
        let file = from_root(root, &path);
        let text = read(&path)?;
        let lines: Vec<&str> = text.lines().collect();
        let source = Source::new(&file, &text);
        for rule in RULES.iter().filter(|rule| rule.applies_to(&file)) {
            for found in source.matches(&rule.pattern) {
                let line = found.line.map_or("", |line| lines[line - 1]);
                if !ALLOWED.iter().any(|allowed| allowed.covers(rule, &file, line)) {
                    findings.push(Finding { rule, file: file.clone(), found });
                }
            }
        }
    }
    findings.sort_by(|a, b| (&a.file, a.found.line).cmp(&(&b.file, b.found.line)));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_words_are_counted_and_listed_with_their_places() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["src", "xtask/src/glossary"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let code = "/// An agent elsewhere, or nobody.\nstruct Elsewhere;\n";
        std::fs::write(root.path().join("src/door.rs"), code).unwrap();
        std::fs::write(root.path().join("xtask/src/glossary/a.rs"), "// elsewhere").unwrap();
        let findings = findings(root.path()).unwrap();
        let places: Vec<(&str, Option<usize>, &str)> =
            findings.iter().map(|one| (&*one.file, one.found.line, &*one.found.text)).collect();
        assert_eq!(
            places,
            [
                ("src/door.rs", None, "door"),
                ("src/door.rs", Some(1), "elsewhere"),
                ("src/door.rs", Some(1), "nobody"),
                ("src/door.rs", Some(2), "Elsewhere"),
            ]
        );
        let summary = summary(&findings);
        assert!(summary.starts_with("     2  elsewhere: say remote\n"), "{summary}");
        assert!(summary.ends_with("     4  uses of replaced words\n"), "{summary}");
        assert!(conclude(&findings, Strictness::Report).is_ok());
        assert!(conclude(&findings, Strictness::Deny).is_err());
        assert!(conclude(&[], Strictness::Deny).is_ok());
    }

    #[test]
    fn rules_have_names_of_their_own_and_what_is_allowed_exists() {
        let mut replaced: Vec<&str> = RULES.iter().map(|rule| rule.replaced).collect();
        replaced.sort_unstable();
        let count = replaced.len();
        replaced.dedup();
        assert_eq!(replaced.len(), count, "two rules have one name");
        let root = crate::cargo::root().unwrap();
        for allowed in ALLOWED {
            let known = allowed.replaced.is_none_or(|name| replaced.contains(&name));
            assert!(known && root.join(allowed.file).exists(), "of no use: {allowed:?}");
            assert!(!allowed.reason.is_empty(), "without a reason: {allowed:?}");
        }
    }
}
