//! Tells whether a command does nothing but show what is in its directory.
//!
//! Such a command needs no question where it runs confined to reading the workspace: a link or an
//! option can lead any program out of it. What counts is listed; whatever this does not know is not
//! taken for reading.

use super::mark::is_mark;
use super::reading::{CommandReading, CommandStep};

/// Lists programs that only show something, whatever their arguments are. Those that write a file
/// or run a program with some option have a reason for an exact rule then.
#[rustfmt::skip]
pub const READING_PROGRAMS: &[&str] = &[
    "ls", "dir", "vdir", "cat", "tac", "head", "tail", "wc", "nl", "od", "hexdump", "strings", "stat",
    "du", "df", "basename", "dirname", "realpath", "readlink", "whoami", "id", "groups", "uname",
    "arch", "nproc", "uptime", "free", "date", "cal", "which", "grep", "egrep", "fgrep", "zgrep",
    "zcat", "cmp", "comm", "cut", "tr", "rev", "paste", "join", "fold", "fmt", "expand", "unexpand",
    "column", "jq", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "pwd", "rg", "sort",
    "diff", "tree", "find", "git",
];

/// Lists the actions of `find` that are more than finding.
const FIND_ACTIONS: [&str; 9] =
    ["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// Lists the subcommands of git that only show something.
const GIT_READERS: [&str; 9] =
    ["status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "shortlog", "describe"];

impl CommandReading {
    /// Tells whether all that the command does is to show what is in its directory or below, or
    /// facts about the machine that hold no secrets.
    pub fn only_reads(&self) -> bool {
        self.unreadable.is_none()
            && self.scripts.is_empty()
            && !self.changes_directory
            && !self.steps.is_empty()
            && self.steps.iter().all(CommandStep::only_reads)
    }

    /// Tells whether a step is a call of git, whose configuration can name programs.
    pub fn calls_git(&self) -> bool {
        self.programs().any(|name| name == "git")
    }

    /// Returns the names of the programs that the steps run, as far as they are known.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| step.program_words().first()).map(String::as_str)
    }
}

impl CommandStep {
    fn only_reads(&self) -> bool {
        let [name, arguments @ ..] = self.program_words() else { return false };
        // Assignments come before the program; of what follows it, only the names of files that the
        // shell fills in are no redirection.
        let after = &self.words[self.program + self.length..];
        self.program == 0
            && self.exact_only.is_none()
            && after.iter().all(|word| is_mark(word) && word.starts_with("<*"))
            && READING_PROGRAMS.contains(&name.as_str())
            && arguments.iter().all(|word| stays_inside(word))
            && match name.as_str() {
                "find" => !arguments.iter().any(|word| FIND_ACTIONS.contains(&word.as_str())),
                // To set the clock is refused anyway, and to write one is not its default.
                "date" => arguments.iter().all(|word| word.starts_with('+') || word == "-u"),
                "git" => is_git_reader(arguments),
                _ => true,
            }
    }
}

/// Tells whether a word names nothing outside of the directory, whatever it means to its program.
fn stays_inside(word: &str) -> bool {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    // The value of a short option can follow it at once.
    let is_glued = word.starts_with('-') && !word.starts_with("--") && word.contains('/');
    let leads_out =
        |path: &str| path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
    !is_glued && !leads_out(word) && !leads_out(value)
}

fn is_git_reader(arguments: &[String]) -> bool {
    let Some((subcommand, options)) = arguments.split_first() else { return false };
    GIT_READERS.contains(&subcommand.as_str())
        // They let git run programs, or look at files outside of the repository.
        && !options.iter().any(|word| {
            ["--no-index", "--ext-diff", "--textconv", "--output", "--contents"]
                .iter()
                .any(|refused| word.starts_with(refused))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::read_command;

    #[test]
    fn commands_that_only_show_something_are_told_from_others() {
        for command in [
            "ls",
            "ls -la docs",
            "cat README.md | head -n 3",
            "wc -l a.md b.md",
            "grep -rn TODO src && git status",
            "git diff --stat",
            "git log --oneline -5",
            "find . -name '*.rs'",
            "sort names.txt | head",
            "rg --files",
            "cat notes.txt 2>/dev/null",
        ] {
            assert!(read_command(command).only_reads(), "{command}");
        }
        for command in [
            "",
            "rm x",
            "cat /etc/passwd",
            "cat ../other/x",
            "cat ~/x",
            "head -n1 a/../../x",
            "grep -f/etc/passwd x",
            "grep --file=/etc/passwd x",
            "cat x > y",
            "cat < x",
            // A file can be called like an option.
            "wc -l *.md",
            "cat $HOME/x",
            "cat $(echo x)",
            "sort -o y x",
            "find . -delete",
            "find . -exec rm {} +",
            "rg --pre ./run x",
            "git commit -m x",
            "git -C /tmp status",
            "git diff --no-index /etc/passwd x",
            "git log --output=x",
            "PATH=. ls",
            "./ls",
            "/bin/ls",
            "cd src && ls",
            "ls; rm x",
            "ls & rm x",
            "xargs rm < x",
            "tree -o x",
            "diff --to-file=x y",
            "date -s 12:00",
            "tee x",
            "sh -c 'ls > x'",
        ] {
            assert!(!read_command(command).only_reads(), "{command}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_writes_or_leads_out_reads_only(
            before in "(ls|cat a|git status|wc -l b)( \\| head| && ls)?",
            separator in prop::sample::select(vec!["; ", " && ", " || ", " | ", " & ", "\n"]),
            bad in prop::sample::select(vec![
                "rm a", "cp a b", "cat a > b", "cat a >> b", "tee b", "cat /etc/passwd",
                "cat ../a", "sh a", "./a", "X=1 ls", "sed -i s/a/b/ c", "find . -delete",
            ]),
        ) {
            let (one, other) = (format!("{before}{separator}{bad}"), format!("{bad}{separator}{before}"));
            prop_assert!(!read_command(&one).only_reads(), "{}", one);
            prop_assert!(!read_command(&other).only_reads(), "{}", other);
        }
    }
}
