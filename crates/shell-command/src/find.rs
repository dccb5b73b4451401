//! Handles `find` and `xargs`, which run a command on what they find.

use super::invocation::Invocation;
use super::word::ShellWord;
use super::wrappers::skip_options;

/// Lists the actions of `find` that run a command.
const COMMAND_ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// Lists the actions of `find` that delete or write.
const WRITE_ACTIONS: [&str; 5] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];

impl Invocation<'_> {
    /// Reads `find`, and the commands that it runs.
    pub(super) fn read_find(&mut self, words: &[ShellWord]) {
        let is_one_of =
            |word: &ShellWord, names: &[&str]| names.iter().any(|name| word.text == **name);
        let runs = words.iter().any(|word| is_one_of(word, &COMMAND_ACTIONS));
        let changes = words.iter().any(|word| is_one_of(word, &WRITE_ACTIONS));
        let reason = match (runs, changes) {
            (true, _) => Some("runs a command on what it finds"),
            (false, true) => Some("deletes files or writes to one"),
            (false, false) => None,
        };
        self.add_step(words, reason.map(str::to_owned));
        let mut rest = words;
        while let Some(start) = rest.iter().position(|word| is_one_of(word, &COMMAND_ACTIONS)) {
            if rest[start].text.ends_with("dir") {
                self.collector.note_directory_change();
            }
            rest = &rest[start + 1..];
            let end = rest.iter().enumerate().position(|(position, word)| {
                word.text == ";"
                    || (word.text == "+" && position > 0 && rest[position - 1].text == "{}")
            });
            let Some(end) = end else {
                self.collector.note_incomplete("a command of find has no end");
                return;
            };
            let command = &rest[..end];
            if let Some(last) = command.iter().rposition(|word| is_one_of(word, &COMMAND_ACTIONS)) {
                // One of them is the argument of another option.
                self.collector.note_incomplete("it is not sure where a command of find starts");
                rest = &rest[last..];
                continue;
            }
            if command.iter().any(|word| word.text.contains("{}")) {
                self.collector.note_incomplete("find fills in the names of what it finds");
            }
            if command.is_empty() {
                self.collector.note_incomplete("a command of find is missing");
            }
            let context = self.context.clone();
            self.read_wrapped(command, &context);
            rest = &rest[end + 1..];
        }
    }

    /// Reads `xargs`, which adds its input to a command.
    pub(super) fn read_xargs(&mut self, words: &[ShellWord]) {
        const FLAGS: [&str; 9] =
            ["-0", "-r", "-t", "-x", "-o", "--null", "--no-run-if-empty", "--verbose", "--exit"];
        const VALUED: [&str; 14] = [
            "-n",
            "-L",
            "-P",
            "-s",
            "-I",
            "-d",
            "-E",
            "-a",
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--replace",
            "--delimiter",
            "--arg-file",
        ];
        self.collector
            .note_incomplete("xargs adds words to a command that are known only when it runs");
        match skip_options(words, &FLAGS, &VALUED) {
            Ok(start) if start < words.len() => {
                let mut context = self.context.clone();
                context.limit(|| "gets more words from xargs".to_owned());
                self.read_wrapped(&words[start..], &context);
            }
            Ok(_) => self.add_step(words, None),
            Err(reason) => self.add_step(words, Some(reason)),
        }
    }
}
