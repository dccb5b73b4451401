//! Defines rules: which calls run without a question, which always need approval and which never
//! run.
//!
//! A rule is compared with the words of a parsed step, never with text. Rules know nothing about
//! shells; the tool parses the command (see `lango_tool::Proposal`).

use std::fmt;
use std::path::{Path, PathBuf};

use lango_protocol::{AgentName, Rights};
use lango_text::make_visible;
use lango_tool::{Proposal, ProposedStep, StepDirectory};
use serde::{Deserialize, Serialize};

use super::digest_parts;

/// Is what a rule does with a call that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The call runs without a question.
    Allow,
    /// A person is asked, even if another rule allows the call.
    Ask,
    /// The call never runs, even if another rule allows it.
    Deny,
}

/// Selects the steps that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepPattern {
    /// Every call, including one that could not be parsed.
    Any,
    /// Exactly these words.
    Exact(Vec<String>),
    /// These words, where `*` matches any characters in a word and, as the last word, any further
    /// words.
    Pattern(Vec<String>),
}

/// Represents one approval rule. A condition that is not set matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The id by which users refer to it.
    #[serde(skip)]
    pub id: String,
    /// The effect.
    pub effect: Effect,
    /// The tool; `*` matches any characters.
    pub tool: Option<String>,
    /// The agent that calls.
    pub agent: Option<AgentName>,
    /// The workspace, or one of its parent directories.
    pub directory: Option<PathBuf>,
    /// The directory that a step must happen in: for exactly these words this very one, for a
    /// pattern this one or one below. Without it, only steps in the workspace itself match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_directory: Option<PathBuf>,
    /// The steps.
    pub words: StepPattern,
    /// The digest of further content that the call depends on, such as a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// The rights beyond the sandbox. A rule that allows holds for calls that ask for no others, with
    /// exact words for those that ask for all of them; a rule that denies or asks holds for calls that
    /// ask for one of them.
    #[serde(default, skip_serializing_if = "Rights::is_empty")]
    pub rights: Rights,
}

/// Describes the call that a rule is compared with.
#[derive(Debug, Clone, Copy)]
pub struct RuleCase<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The agent that calls.
    pub agent: &'a AgentName,
    /// The workspace.
    pub directory: &'a Path,
    /// The proposed effect of the call.
    pub proposal: &'a Proposal,
}

impl Rule {
    /// Returns the rules that allow exactly this call from now on. There are none if the call
    /// cannot be named exactly, or if a person must see it each time.
    pub fn allowing_exactly(case: &RuleCase<'_>) -> Vec<Self> {
        let Proposal { steps, whole, unreadable, bound, always_ask, not_shown, .. } = case.proposal;
        if unreadable.is_some() || always_ask.is_some() || not_shown.is_some() {
            return Vec::new();
        }
        let bound = (!bound.is_empty()).then(|| bound_digest(case.proposal));
        let rule = |step: &ProposedStep| {
            let step_directory = match &step.directory {
                StepDirectory::Workspace | StepDirectory::Unknown => None,
                StepDirectory::At(directory) => Some(directory.clone()),
            };
            let mut rule = Self {
                id: String::new(),
                effect: Effect::Allow,
                tool: Some(case.tool.to_owned()),
                agent: Some(case.agent.clone()),
                directory: Some(case.directory.to_owned()),
                step_directory,
                words: StepPattern::Exact(step.words.clone()),
                bound: bound.clone(),
                rights: case.proposal.rights.clone(),
            };
            rule.id = rule.derive_id();
            rule
        };
        match whole {
            Some(step) => vec![rule(step)],
            None if steps.iter().any(|step| step.directory == StepDirectory::Unknown) => Vec::new(),
            None => steps.iter().map(rule).collect(),
        }
    }

    /// Derives an id from the content of the rule.
    pub(super) fn derive_id(&self) -> String {
        let text = match serde_json::to_string(self) {
            Ok(text) => text,
            // Without it, all rules would have one name.
            Err(error) => unreachable!("a rule is plain data, which JSON can express: {error}"),
        };
        let mut name = digest_parts([text.as_bytes()]);
        name.truncate(8);
        name
    }

    /// Tells whether the rule can apply to calls of this tool by this agent.
    pub(super) fn may_apply_to(&self, tool: &str, agent: &AgentName) -> bool {
        self.tool.as_deref().is_none_or(|pattern| matches_word(pattern, tool))
            && self.agent.as_ref().is_none_or(|name| name == agent)
    }

    /// Tells whether the rule is about commands of a program that is none of these.
    pub(super) fn is_about_programs_beside(&self, programs: &[&str]) -> bool {
        let words = match &self.words {
            StepPattern::Any => return false,
            StepPattern::Exact(words) | StepPattern::Pattern(words) => words,
        };
        let first = use_file_name(words).into_iter().next();
        self.tool.as_deref().is_some_and(|tool| tool.starts_with("exec_"))
            && first.is_some_and(|name| !name.contains('*') && !programs.contains(&name.as_str()))
    }

    fn applies_to(&self, case: &RuleCase<'_>) -> bool {
        self.may_apply_to(case.tool, case.agent)
            && self.directory.as_ref().is_none_or(|directory| case.directory.starts_with(directory))
    }

    /// Tells whether the rule allows the whole call, including one that could not be parsed.
    pub(super) fn allows_any(&self, case: &RuleCase<'_>) -> bool {
        self.effect == Effect::Allow
            && self.words == StepPattern::Any
            && self.applies_to(case)
            && self.allows_rights(case)
    }

    /// Tells whether the rule states the rights that a call asks for. One without rights allows none,
    /// also if it allows a whole tool.
    fn allows_rights(&self, case: &RuleCase<'_>) -> bool {
        let asked = &case.proposal.rights;
        match &self.words {
            StepPattern::Exact(_) => self.rights == *asked,
            StepPattern::Any | StepPattern::Pattern(_) => self.rights.include(asked),
        }
    }

    /// Tells whether the rights of a call are a reason for the rule to deny or question it.
    fn objects_to_rights(&self, case: &RuleCase<'_>) -> bool {
        self.rights.is_empty() || self.rights.overlap(&case.proposal.rights)
    }

    /// Tells whether the rule allows exactly this call as a whole.
    pub(super) fn allows_whole(&self, case: &RuleCase<'_>) -> bool {
        case.proposal.whole.as_ref().is_some_and(|whole| self.allows_exactly(case, whole))
    }

    /// Tells whether the rule allows one step of a call.
    pub(super) fn allows_step(&self, case: &RuleCase<'_>, step: &ProposedStep) -> bool {
        match &self.words {
            StepPattern::Any => self.allows_any(case),
            StepPattern::Exact(_) => self.allows_exactly(case, step),
            // Without a star it is a rule for exactly these words.
            StepPattern::Pattern(pattern) if !pattern.iter().any(|word| word.contains('*')) => {
                self.allows_exactly(case, step)
            }
            StepPattern::Pattern(pattern) => {
                self.effect == Effect::Allow
                    && self.applies_to(case)
                    && self.allows_rights(case)
                    && step.exact_only.is_none()
                    && self.covers_directory(case, &step.directory)
                    && matches_words(pattern, &step.words)
            }
        }
    }

    fn allows_exactly(&self, case: &RuleCase<'_>, step: &ProposedStep) -> bool {
        let is_same_directory = match &step.directory {
            StepDirectory::Workspace => self.step_directory.is_none(),
            StepDirectory::At(directory) => self.step_directory.as_ref() == Some(directory),
            StepDirectory::Unknown => false,
        };
        // Only exactly what was approved: a changed script makes a different call.
        let is_same_content = match &self.bound {
            Some(digest) => *digest == bound_digest(case.proposal),
            None => case.proposal.bound.is_empty(),
        };
        self.effect == Effect::Allow
            && self.applies_to(case)
            && self.allows_rights(case)
            && match &self.words {
                StepPattern::Any => false,
                StepPattern::Exact(words) | StepPattern::Pattern(words) => *words == step.words,
            }
            && is_same_directory
            && is_same_content
    }

    /// Tells whether a pattern holds in a directory.
    fn covers_directory(&self, case: &RuleCase<'_>, directory: &StepDirectory) -> bool {
        match (&self.step_directory, directory) {
            (_, StepDirectory::Unknown) | (None, StepDirectory::At(_)) => false,
            (None, StepDirectory::Workspace) => true,
            (Some(wanted), StepDirectory::Workspace) => case.directory.starts_with(wanted),
            (Some(wanted), StepDirectory::At(directory)) => directory.starts_with(wanted),
        }
    }

    /// Tells whether the rule denies or questions a call. One matching step is enough, in any of its
    /// spellings and in any directory. A call without steps matches every rule with words, because
    /// it is not known what it does.
    pub(super) fn objects_to(&self, case: &RuleCase<'_>) -> bool {
        if self.effect == Effect::Allow || !self.applies_to(case) || !self.objects_to_rights(case) {
            return false;
        }
        let steps = &case.proposal.steps;
        self.words == StepPattern::Any
            || steps.is_empty()
            || steps.iter().any(|step| {
                let mut spellings = std::iter::once(&step.words).chain(&step.spellings);
                spellings.any(|words| self.names(words))
            })
    }

    /// Tells whether a rule that denies or questions names these words, also by the file name alone.
    fn names(&self, words: &[String]) -> bool {
        let matches = |found: &[String]| match &self.words {
            StepPattern::Any => true,
            StepPattern::Exact(words) => words == found,
            StepPattern::Pattern(pattern) => matches_words(pattern, found),
        };
        matches(words) || matches(&use_file_name(words))
    }

    /// Tells whether the rule would deny or question a call for a path, though it has nothing to say
    /// about this call, which names another one. The call must leave such paths out.
    pub(super) fn excludes_paths_of(&self, case: &RuleCase<'_>) -> bool {
        self.effect != Effect::Allow
            && self.words != StepPattern::Any
            && self.rights.is_empty()
            && self.applies_to(case)
            && !self.objects_to(case)
    }

    /// Tells whether the rule names a path, given relative to the workspace.
    pub(super) fn names_path(&self, workspace: &Path, relative: &Path) -> bool {
        let spelling = |path: &Path| vec![path.to_string_lossy().into_owned()];
        self.names(&spelling(relative)) || self.names(&spelling(&workspace.join(relative)))
    }

    /// Tells whether the rule might deny or question a call of which not everything is known.
    pub(super) fn may_object_to_rest(&self, case: &RuleCase<'_>) -> bool {
        self.effect != Effect::Allow
            && self.words != StepPattern::Any
            && case.proposal.unreadable.is_some()
            && self.applies_to(case)
            && self.objects_to_rights(case)
    }
}

/// Reduces `/usr/bin/rm` to `rm`, for rules that deny or question a call.
fn use_file_name(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some((_, name)) = first.rsplit_once('/')
    {
        *first = name.to_owned();
    }
    words
}

fn bound_digest(proposal: &Proposal) -> String {
    let parts =
        proposal.bound.iter().flat_map(|bound| [bound.what.as_bytes(), bound.digest.as_bytes()]);
    digest_parts(parts)
}

fn matches_words(pattern: &[String], words: &[String]) -> bool {
    match pattern.split_last() {
        Some((last, first)) if last == "*" => {
            words.len() >= first.len()
                && first.iter().zip(words).all(|(pattern, word)| matches_word(pattern, word))
        }
        _ => {
            pattern.len() == words.len()
                && pattern.iter().zip(words).all(|(pattern, word)| matches_word(pattern, word))
        }
    }
}

/// Tells whether a word matches a pattern in which `*` matches any characters. Takes linear time
/// for each star.
fn matches_word(pattern: &str, word: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = word.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(position) = rest.find(piece) else { return false };
        rest = &rest[position + piece.len()..];
    }
    rest.ends_with(last)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = match self.effect {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        };
        write!(f, "{effect} {}", make_visible(self.tool.as_deref().unwrap_or("any tool")))?;
        match &self.words {
            StepPattern::Any => {}
            StepPattern::Exact(words) => write!(f, ": exactly {}", quote_words(words))?,
            StepPattern::Pattern(words) => write!(f, ": {}", quote_words(words))?,
        }
        if let Some(agent) = &self.agent {
            write!(f, ", by {agent}")?;
        }
        if let Some(directory) = &self.directory {
            write!(f, ", in {}", make_visible(&directory.to_string_lossy()))?;
        }
        if let Some(directory) = &self.step_directory {
            write!(f, ", run in {}", make_visible(&directory.to_string_lossy()))?;
        }
        if !self.rights.is_empty() {
            write!(f, ", with {}", make_visible(&self.rights.to_string()))?;
        }
        if let Some(digest) = &self.bound {
            write!(f, ", as long as the content is {}", &digest[..digest.len().min(12)])?;
        }
        Ok(())
    }
}

/// Quotes the words as a person would type them and makes invisible characters visible.
fn quote_words(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%*".contains(c))
    };
    let word = |word: &String| {
        if plain(word) {
            word.clone()
        } else {
            format!("'{}'", make_visible(&word.replace('\'', "'\\''")))
        }
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_star_stands_for_characters_and_at_the_end_for_words() {
        for (pattern, fitting, other) in [
            ("cargo test", "cargo test", "cargo test --all"),
            ("cargo test *", "cargo test", "cargo build"),
            ("cargo test *", "cargo test -p x", "carg"),
            ("git log --*", "git log --oneline", "git log -p"),
            ("ls *.rs", "ls main.rs", "ls main.rs extra"),
            ("a*b*c", "axxbyyc", "axxbyy"),
            ("*", "anything at all", "anything at all"),
        ] {
            assert!(matches_words(&words(pattern), &words(fitting)), "{pattern} {fitting}");
            if fitting != other {
                assert!(!matches_words(&words(pattern), &words(other)), "{pattern} {other}");
            }
        }
        assert!(!matches_word("ab*ba", "aba"), "pieces do not overlap");
    }

    #[test]
    fn a_rule_reads_as_a_sentence() {
        let rule = Rule {
            id: String::new(),
            effect: Effect::Allow,
            tool: Some("exec_shell".to_owned()),
            agent: None,
            directory: Some("/home/me".into()),
            step_directory: None,
            words: StepPattern::Exact(vec!["echo".into(), "it's \u{202e}".into()]),
            bound: None,
            rights: Rights::default(),
        };
        assert_eq!(
            rule.to_string(),
            "allow exec_shell: exactly echo 'it'\\''s \\u{202e}', in /home/me"
        );
        let id = rule.derive_id();
        let rights = serde_json::from_str(r#"["network", "git", "write:/a\u202e"]"#).unwrap();
        let rule = Rule { rights, ..rule };
        assert!(rule.to_string().ends_with(", in /home/me, with git, network, write:/a\\u{202e}"));
        assert_ne!(rule.derive_id(), id);
        assert_eq!(rule.derive_id().len(), 8);
    }
}
