//! Collects everything that was read.

use lango_text::make_visible_short;

use super::context::CommandContext;
use super::mark;
use super::reading::{CommandReading, CommandStep};
use super::word::ShellWord;

/// Limits how many bytes of words are kept. Wrappers repeat words, so this is more than a command
/// has; without a limit a short command could become a long reading.
const MAX_WORD_BYTES: usize = 512 * 1024;
/// Limits how many files a command may run. Each is read before the user is asked.
const MAX_SCRIPT_COUNT: usize = 32;

/// Holds the reading while it is built.
#[derive(Debug, Default)]
pub(super) struct ReadingCollector {
    steps: Vec<CommandStep>,
    unreadable: Option<String>,
    scripts: Vec<String>,
    /// Files that a program looks for by itself, and may not find.
    optional_scripts: Vec<String>,
    /// The text of each here-document, once it was read.
    documents: Vec<String>,
    /// The programs so far that take their input for commands.
    command_readers: Vec<String>,
    /// True if the shell itself gets input, and with it all that it starts.
    shell_has_input: bool,
    /// True if the working directory changes.
    changes_directory: bool,
    kept_bytes: usize,
}

impl ReadingCollector {
    /// Says why the reading is not complete. The first reason is kept.
    pub(super) fn note_incomplete(&mut self, reason: impl Into<String>) {
        self.unreadable.get_or_insert_with(|| reason.into());
    }

    /// Adds a step: `words` as they are, together with those of the context.
    pub(super) fn add_step(
        &mut self,
        context: &CommandContext,
        words: &[ShellWord],
        reason: Option<String>,
    ) {
        let mut all = context.assignments.clone();
        let mut filled_positions = Vec::new();
        for (position, word) in words.iter().enumerate() {
            if word.pattern {
                filled_positions.push(position);
            }
            if word.braces {
                self.note_incomplete(format!(
                    "shells differ on the braces in {}",
                    make_visible_short(&word.text)
                ));
            }
            if !word.unknown && mark::is_mark(&word.text) {
                self.note_incomplete(format!(
                    "the word {} looks like a redirection",
                    make_visible_short(&word.text)
                ));
            }
            all.push(word.text.clone());
        }
        let pattern = (!filled_positions.is_empty()).then(|| {
            all.push(mark::build_expansion_mark(&filled_positions));
            "file names are filled in by the shell".to_owned()
        });
        all.extend(context.redirections.iter().cloned());
        let exact_only = reason.or_else(|| context.exact_only.clone()).or(pattern);
        if self.has_room_for(all.iter().map(String::len).sum()) {
            let (program, length) = (context.assignments.len(), words.len());
            self.steps.push(CommandStep { words: all, exact_only, program, length });
        }
    }

    /// Tells whether so many bytes may still be kept.
    fn has_room_for(&mut self, bytes: usize) -> bool {
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        let fits = self.kept_bytes <= MAX_WORD_BYTES;
        if !fits {
            self.note_incomplete("it repeats its words too often");
        }
        fits
    }

    /// Adds a file whose content is run.
    pub(super) fn add_script(&mut self, path: &str) {
        if path.starts_with("/dev/") || path.starts_with("/proc/") {
            self.note_incomplete(format!(
                "{} is not a file that can be read ahead",
                make_visible_short(path)
            ));
        }
        if self.scripts.iter().any(|other| other == path) {
            return;
        }
        if self.scripts.len() < MAX_SCRIPT_COUNT {
            self.scripts.push(path.to_owned());
        } else {
            self.note_incomplete(format!("it runs more than {MAX_SCRIPT_COUNT} files"));
        }
    }

    /// Adds a file that a program looks for by itself.
    pub(super) fn add_optional_script(&mut self, path: &str) {
        if !self.optional_scripts.iter().any(|other| other == path) {
            self.optional_scripts.push(path.to_owned());
        }
    }

    /// Records that the working directory changes for some of the steps.
    pub(super) fn note_directory_change(&mut self) {
        self.changes_directory = true;
    }

    /// Adds a program that takes its input for commands.
    pub(super) fn add_command_reader(&mut self, program: &str) {
        self.command_readers.push(make_visible_short(program));
    }

    /// Returns how many such programs there were so far.
    pub(super) fn command_reader_count(&self) -> usize {
        self.command_readers.len()
    }

    /// Records that the programs added since then get input.
    pub(super) fn mark_input_since(&mut self, before: usize) {
        if let Some(program) = self.command_readers.get(before) {
            let reason = format!("{program} may take its input for commands");
            self.note_incomplete(reason);
        }
    }

    /// Records that the shell itself gets input.
    pub(super) fn mark_shell_input(&mut self) {
        self.shell_has_input = true;
    }

    /// Reserves a placeholder for the text of a here-document that is read later. It is
    /// unambiguous: no command has a NUL character.
    pub(super) fn reserve_document(&mut self) -> (usize, String) {
        let number = self.documents.len();
        self.documents.push(String::new());
        (number, format!("\0{number}"))
    }

    pub(super) fn fill_document(&mut self, number: usize, text: &str) {
        if let Some(document) = self.documents.get_mut(number) {
            text.clone_into(document);
        }
    }

    /// Finishes the reading. What holds for the command as a whole is known only now.
    pub(super) fn finish(mut self) -> CommandReading {
        if self.shell_has_input {
            self.mark_input_since(0);
        }
        if self.changes_directory {
            // Before and after a `cd` the same name is another file, and a loop has no before.
            if let Some(script) = self.scripts.iter().find(|path| !path.starts_with('/')) {
                let script = make_visible_short(script);
                self.note_incomplete(format!(
                    "the directory changes, so it is not sure which file {script} is"
                ));
            }
        } else {
            let found = std::mem::take(&mut self.optional_scripts);
            self.scripts.extend(found);
        }
        let mut steps = std::mem::take(&mut self.steps);
        for word in steps.iter_mut().flat_map(|step| &mut step.words) {
            let number = word.strip_prefix('\0').and_then(|number| number.parse::<usize>().ok());
            if let Some(text) = number.and_then(|number| self.documents.get(number).cloned()) {
                *word = if self.has_room_for(text.len()) { text } else { String::new() };
            }
        }
        CommandReading {
            steps,
            unreadable: self.unreadable,
            scripts: self.scripts,
            changes_directory: self.changes_directory,
        }
    }
}
