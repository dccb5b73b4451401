//! Reads one command with its words: what kind of program it starts, and what that runs.

use std::collections::HashMap;
use std::sync::LazyLock;

use lango_text::visible_short;

use super::builtins::{BUILTINS, Builtin};
use super::collector::Collector;
use super::context::CommandContext;
use super::interpreters::{INTERPRETERS, Interpreter};
use super::programs::{PROGRAMS, Program};
use super::shells::{SHELLS, Shell};
use super::word::Word;
use super::wrappers::{WRAPPERS, Wrapper};

/// Limits how many wrappers may be around a command.
const MAX_WRAPPER_COUNT: usize = 32;

/// Lists the directories of programs that are not bound by their content: bare names are looked up
/// there, too.
const SYSTEM_DIRECTORIES: [&str; 6] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"];

/// Classifies a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Wrapper(&'static Wrapper),
    Shell(&'static Shell),
    Interpreter(&'static Interpreter),
    Builtin(Builtin),
    Program(&'static Program),
}

static KINDS: LazyLock<HashMap<&'static str, Kind>> = LazyLock::new(|| {
    let programs = PROGRAMS.iter().map(|program| (program.names, Kind::Program(program)));
    let all = programs
        .chain(INTERPRETERS.iter().map(|entry| (entry.names, Kind::Interpreter(entry))))
        .chain(SHELLS.iter().map(|entry| (entry.names, Kind::Shell(entry))))
        .chain(WRAPPERS.iter().map(|entry| (entry.names, Kind::Wrapper(entry))))
        .chain(BUILTINS.iter().map(|(names, builtin)| (*names, Kind::Builtin(*builtin))));
    all.flat_map(|(names, kind)| names.iter().map(move |name| (*name, kind))).collect()
});

/// Holds a command about to be read, with its context.
pub(super) struct Invocation<'run> {
    pub(super) collector: &'run mut Collector,
    pub(super) context: &'run CommandContext,
    pub(super) depth: usize,
    wrapped: usize,
}

impl<'run> Invocation<'run> {
    pub(super) fn new(
        collector: &'run mut Collector,
        context: &'run CommandContext,
        depth: usize,
    ) -> Self {
        Self { collector, context, depth, wrapped: 0 }
    }

    /// Reads a command. Without words it consists of assignments and redirections.
    pub(super) fn read(&mut self, words: &[Word]) {
        let Some(command) = words.first() else {
            if !self.context.is_empty() {
                self.collector.step(self.context, words, None);
            }
            return;
        };
        if !command.is_static() {
            self.collector.note("which program runs is known only when it runs");
            return self.step(words, None);
        }
        if command.text.contains('=') {
            // It would look like an assignment among the words of a step.
            self.collector.note("the name of a program contains =");
        }
        let kind = match command.text.rsplit_once('/') {
            Some((directory, base)) => {
                let kind = kind_of(base);
                let is_system = SYSTEM_DIRECTORIES.contains(&directory);
                if !is_system {
                    self.collector.script(&command.text);
                }
                // A file is no builtin, and one in another directory may be anything. Under the
                // name of a known program it may behave like that program.
                if !is_system || matches!(kind, Some(Kind::Builtin(_))) {
                    let reason = format!("runs the program in {}", visible_short(&command.text));
                    self.step(words, Some(reason));
                    if kind.is_none_or(|kind| matches!(kind, Kind::Program(_))) {
                        return;
                    }
                }
                kind
            }
            None => kind_of(&command.text),
        };
        let kind = kind.or_else(|| {
            let kind = kind_resembling(&command.text)?;
            // It is a program of its own, whatever it resembles, so it is a step in any case.
            if !matches!(kind, Kind::Program(_) | Kind::Interpreter(_)) {
                let name = visible_short(&command.text);
                self.step(words, Some(format!("{name} may be another name of a known program")));
            }
            Some(kind)
        });
        match kind {
            Some(Kind::Wrapper(wrapper)) => self.wrapper(wrapper, words),
            Some(Kind::Shell(shell)) => self.shell(shell, words),
            Some(Kind::Interpreter(interpreter)) => self.interpreter(interpreter, words),
            Some(Kind::Builtin(builtin)) => self.builtin(builtin, words),
            Some(Kind::Program(program)) => self.program(program, words),
            None => self.step(words, None),
        }
    }

    /// Reads the command that another one wraps, in the same context or an extended one.
    pub(super) fn read_wrapped(&mut self, words: &[Word], context: &CommandContext) {
        if self.wrapped >= MAX_WRAPPER_COUNT {
            self.collector.note("too many commands are wrapped into each other");
            return;
        }
        let wrapped = self.wrapped + 1;
        Invocation { collector: self.collector, context, depth: self.depth, wrapped }.read(words);
    }

    /// Reads a text as a shell would.
    pub(super) fn read_text(&mut self, text: &str) {
        super::parser::Parser::read(self.collector, text, self.context, self.depth + 1);
    }

    /// Adds the command as a step, unchanged.
    pub(super) fn step(&mut self, words: &[Word], reason: Option<String>) {
        self.collector.step(self.context, words, reason);
    }

    /// Adds the command as a step that is not completely known.
    pub(super) fn unsure(&mut self, words: &[Word], reason: String) {
        self.collector.note(reason.clone());
        self.step(words, Some(reason));
    }

    /// Checks an assignment: a shell reads the values of some variables as a text with expansions.
    pub(super) fn check_assignment(collector: &mut Collector, assignment: &str) {
        if assignment.contains(['$', '`']) {
            collector.note("a variable has a text that may be read as a command later");
        }
    }
}

/// Returns what is known about a program of this name.
fn kind_of(base: &str) -> Option<Kind> {
    KINDS.get(base).copied()
}

/// Returns what is known about a program of almost this name: with a version at the end, or in
/// another case, which some systems ignore.
fn kind_resembling(command: &str) -> Option<Kind> {
    let base = command.rsplit_once('/').map_or(command, |(_, base)| base).to_ascii_lowercase();
    let name = base
        .trim_end_matches(|last: char| last.is_ascii_digit() || last == '.')
        .trim_end_matches('-');
    KINDS.get(base.as_str()).or_else(|| KINDS.get(name)).copied()
}
