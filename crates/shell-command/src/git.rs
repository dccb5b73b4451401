//! Handles `git` and what it can be made to run.

use super::invocation::Invocation;
use super::word::ShellWord;

/// Lists the options before the subcommand that change nothing but the output.
const GLOBAL_OPTIONS: [&str; 7] = [
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--version",
    "--help",
    "--no-advice",
];

/// Lists the subcommands that do what their name says. Any other may be an alias, which can be any
/// command, or it runs commands by itself.
const PLAIN_SUBCOMMANDS: [&str; 52] = [
    "add",
    "annotate",
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-index",
    "diff-tree",
    "fetch",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "version",
    "worktree",
];

/// Lists the options that run a command or write a file, in all subcommands that have them.
const RISKY_OPTIONS: [&str; 13] = [
    "--exec",
    "--exec-path",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--extcmd",
    "--output",
    "--template",
    "--config",
    "--interactive",
    "--strategy",
];

/// Lists the letters of short options with such a meaning, by subcommand.
const RISKY_LETTERS: [(&str, &str); 5] =
    [("rebase", "xis"), ("grep", "O"), ("merge", "s"), ("pull", "s"), ("init", "c")];

impl Invocation<'_> {
    /// Reads a call of `git`.
    pub(super) fn read_git(&mut self, words: &[ShellWord]) {
        self.add_step(words, find_git_risk(words).map(str::to_owned));
    }
}

fn find_git_risk(words: &[ShellWord]) -> Option<&'static str> {
    let arguments = &words[1..];
    let subcommand =
        arguments.iter().position(|word| !GLOBAL_OPTIONS.contains(&word.text.as_str()))?;
    let (name, arguments) = (arguments[subcommand].text.as_str(), &arguments[subcommand + 1..]);
    if name.starts_with('-') {
        return Some("is told by an option where to find its settings or programs");
    }
    if !PLAIN_SUBCOMMANDS.contains(&name) {
        return Some("this subcommand of git can run any command");
    }
    let letters =
        RISKY_LETTERS.iter().find(|(of, _)| *of == name).map_or("", |(_, letters)| letters);
    let risky = arguments.iter().any(|word| {
        let text = word.text.as_str();
        let option = text.split_once('=').map_or(text, |(option, _)| option);
        let is_short = text.starts_with('-') && !text.starts_with("--");
        // An address such as `ext::command` names the program that talks to the remote.
        text.contains("::")
            || (option.len() > 2 && RISKY_OPTIONS.iter().any(|risky| risky.starts_with(option)))
            || (is_short && text.contains(|letter| letters.contains(letter)))
    });
    risky.then_some("is told by an argument to run a command or to write to a file")
}
