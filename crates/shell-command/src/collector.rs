//! Where everything that was read comes together.

use lango_text::visible_short;

use super::carried::Carried;
use super::mark;
use super::reading::{CommandStep, Reading};
use super::word::Word;

/// Bytes of words that are kept. Wrappers repeat words, so this is more than a command has; it is
/// a limit at all so that a short command cannot become a long reading.
const KEPT: usize = 512 * 1024;
/// Files that a command may run. Each is read before anybody is asked.
const SCRIPTS: usize = 32;

/// The reading while it is made.
#[derive(Debug, Default)]
pub(super) struct Collector {
    steps: Vec<CommandStep>,
    unreadable: Option<String>,
    scripts: Vec<String>,
    /// Files that a program looks for by itself, and may not find.
    looked_for: Vec<String>,
    /// The text of each here-document, once it was read.
    documents: Vec<String>,
    /// The programs so far that take what they read for commands.
    obeying: Vec<String>,
    /// The shell itself is given input, and all that it starts with it.
    all_fed: bool,
    /// The working directory changes.
    moves: bool,
    kept: usize,
}

impl Collector {
    /// Says why the reading is not complete. The first reason stays.
    pub(super) fn note(&mut self, reason: impl Into<String>) {
        self.unreadable.get_or_insert_with(|| reason.into());
    }

    /// Adds a step: `words` as they are, among what is carried.
    pub(super) fn step(&mut self, carried: &Carried, words: &[Word], reason: Option<String>) {
        let mut all = carried.assignments.clone();
        let mut filled_in = Vec::new();
        for (position, word) in words.iter().enumerate() {
            if word.pattern {
                filled_in.push(position);
            }
            if word.braces {
                self.note(format!("shells differ on the braces in {}", visible_short(&word.text)));
            }
            if !word.unknown && mark::is_mark(&word.text) {
                self.note(format!(
                    "the word {} looks like a redirection",
                    visible_short(&word.text)
                ));
            }
            all.push(word.text.clone());
        }
        let pattern = (!filled_in.is_empty()).then(|| {
            all.push(mark::filled_in(&filled_in));
            "file names are filled in by the shell".to_owned()
        });
        all.extend(carried.redirections.iter().cloned());
        let exact_only = reason.or_else(|| carried.exact_only.clone()).or(pattern);
        if self.keep(all.iter().map(String::len).sum()) {
            self.steps.push(CommandStep { words: all, exact_only });
        }
    }

    /// Whether so many bytes may still be kept.
    fn keep(&mut self, bytes: usize) -> bool {
        self.kept = self.kept.saturating_add(bytes);
        let fits = self.kept <= KEPT;
        if !fits {
            self.note("it repeats its words too often");
        }
        fits
    }

    /// A file whose content is run.
    pub(super) fn script(&mut self, path: &str) {
        if path.starts_with("/dev/") || path.starts_with("/proc/") {
            self.note(format!("{} is not a file that can be read ahead", visible_short(path)));
        }
        if self.scripts.iter().any(|known| known == path) {
            return;
        }
        if self.scripts.len() < SCRIPTS {
            self.scripts.push(path.to_owned());
        } else {
            self.note(format!("it runs more than {SCRIPTS} files"));
        }
    }

    /// A file that a program looks for by itself.
    pub(super) fn looks_for(&mut self, path: &str) {
        if !self.looked_for.iter().any(|known| known == path) {
            self.looked_for.push(path.to_owned());
        }
    }

    /// The working directory changes for some of the steps.
    pub(super) fn moves(&mut self) {
        self.moves = true;
    }

    /// A program that takes what it reads for commands.
    pub(super) fn obeys_input(&mut self, program: &str) {
        self.obeying.push(visible_short(program));
    }

    /// How many such programs there were so far.
    pub(super) fn obeying(&self) -> usize {
        self.obeying.len()
    }

    /// Whatever came since then is given input.
    pub(super) fn feed_since(&mut self, before: usize) {
        if let Some(program) = self.obeying.get(before) {
            let reason = format!("{program} may take its input for commands");
            self.note(reason);
        }
    }

    /// The shell itself is given input.
    pub(super) fn feed_all(&mut self) {
        self.all_fed = true;
    }

    /// A place for the text of a here-document that is read later. It stands in words until then,
    /// and cannot be mistaken: no command has a NUL character.
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

    /// What holds for the command as a whole can only be told now.
    pub(super) fn finish(mut self) -> Reading {
        if self.all_fed {
            self.feed_since(0);
        }
        if self.moves {
            // Before and behind a `cd` the same name is another file, and a loop has no before.
            if let Some(script) = self.scripts.iter().find(|path| !path.starts_with('/')) {
                let script = visible_short(script);
                self.note(format!(
                    "the directory changes, so it is not sure which file {script} is"
                ));
            }
        } else {
            let found = std::mem::take(&mut self.looked_for);
            self.scripts.extend(found);
        }
        let mut steps = std::mem::take(&mut self.steps);
        for word in steps.iter_mut().flat_map(|step| &mut step.words) {
            let number = word.strip_prefix('\0').and_then(|number| number.parse::<usize>().ok());
            if let Some(text) = number.and_then(|number| self.documents.get(number).cloned()) {
                *word = if self.keep(text.len()) { text } else { String::new() };
            }
        }
        Reading { steps, unreadable: self.unreadable, scripts: self.scripts }
    }
}
