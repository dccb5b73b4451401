//! Reads one command with its words: what kind of program it starts, and what that runs.

use std::collections::HashMap;
use std::sync::LazyLock;

use lango_text::make_visible_short;

use super::builtins::{BUILTINS, BuiltinHandling};
use super::collector::ReadingCollector;
use super::context::CommandContext;
use super::interpreters::{INTERPRETERS, Interpreter};
use super::programs::{PROGRAMS, ProgramRule, UNLISTED};
use super::shells::{SHELLS, ShellProgram};
use super::word::ShellWord;
use super::wrappers::{WRAPPERS, WrapperProgram, is_runner};

/// Limits how many wrappers may be around a command.
const MAX_WRAPPER_COUNT: usize = 32;

/// Lists the directories of programs that are not bound by their content: bare names are looked up
/// there, too.
const SYSTEM_DIRECTORIES: [&str; 6] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"];

/// Classifies a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProgramKind {
    Wrapper(&'static WrapperProgram),
    Shell(&'static ShellProgram),
    Interpreter(&'static Interpreter),
    Builtin(BuiltinHandling),
    Program(&'static ProgramRule),
}

static KINDS: LazyLock<HashMap<&'static str, ProgramKind>> = LazyLock::new(|| {
    let programs = PROGRAMS.iter().map(|program| (program.names, ProgramKind::Program(program)));
    let all = programs
        .chain(INTERPRETERS.iter().map(|entry| (entry.names, ProgramKind::Interpreter(entry))))
        .chain(SHELLS.iter().map(|entry| (entry.names, ProgramKind::Shell(entry))))
        .chain(WRAPPERS.iter().map(|entry| (entry.names, ProgramKind::Wrapper(entry))))
        .chain(BUILTINS.iter().map(|(names, builtin)| (*names, ProgramKind::Builtin(*builtin))));
    all.flat_map(|(names, kind)| names.iter().map(move |name| (*name, kind))).collect()
});

/// Holds a command about to be read, with its context.
pub(super) struct Invocation<'run> {
    pub(super) collector: &'run mut ReadingCollector,
    pub(super) context: &'run CommandContext,
    pub(super) depth: usize,
    wrapped: usize,
}

impl<'run> Invocation<'run> {
    pub(super) fn new(
        collector: &'run mut ReadingCollector,
        context: &'run CommandContext,
        depth: usize,
    ) -> Self {
        Self { collector, context, depth, wrapped: 0 }
    }

    /// Reads a command. Without words it consists of assignments and redirections.
    pub(super) fn read(&mut self, words: &[ShellWord]) {
        let Some(command) = words.first() else {
            if !self.context.is_empty() {
                self.collector.add_step(self.context, words, None);
            }
            return;
        };
        if !command.is_static() {
            self.collector.note_incomplete("which program runs is known only when it runs");
            return self.add_step(words, None);
        }
        if command.text.contains('=') {
            // It would look like an assignment among the words of a step.
            self.collector.note_incomplete("the name of a program contains =");
        }
        let base = command.text.rsplit('/').next().unwrap_or_default();
        if is_runner(base) && words.len() > 1 {
            let name = make_visible_short(base);
            return self.add_unsure_step(words, format!("{name} runs what its arguments say"));
        }
        let kind = match command.text.rsplit_once('/') {
            Some((directory, base)) => {
                let kind = find_program_kind(base);
                let is_system = SYSTEM_DIRECTORIES.contains(&directory);
                if !is_system {
                    self.collector.add_script(&command.text);
                }
                // A file is no builtin, and one in another directory may be anything. Under the
                // name of a known program it may behave like that program.
                if !is_system || matches!(kind, Some(ProgramKind::Builtin(_))) {
                    let reason =
                        format!("runs the program in {}", make_visible_short(&command.text));
                    self.add_step(words, Some(reason));
                    if kind.is_none_or(|kind| matches!(kind, ProgramKind::Program(_))) {
                        return;
                    }
                }
                kind
            }
            None => find_program_kind(&command.text),
        };
        let kind = kind.or_else(|| {
            let kind = find_resembling_kind(&command.text)?;
            // It is a program of its own, whatever it resembles, so it is a step in any case.
            if !matches!(kind, ProgramKind::Program(_) | ProgramKind::Interpreter(_)) {
                let name = make_visible_short(&command.text);
                self.add_step(
                    words,
                    Some(format!("{name} may be another name of a known program")),
                );
            }
            Some(kind)
        });
        match kind {
            Some(ProgramKind::Wrapper(wrapper)) => self.read_wrapper(wrapper, words),
            Some(ProgramKind::Shell(shell)) => self.read_shell(shell, words),
            Some(ProgramKind::Interpreter(interpreter)) => {
                self.read_interpreter(interpreter, words);
            }
            Some(ProgramKind::Builtin(builtin)) => self.read_builtin(builtin, words),
            Some(ProgramKind::Program(program)) => self.read_program(program, words),
            None => {
                // A reason in the command itself says more.
                let has_reason =
                    self.context.exact_only.is_some() || words.iter().any(|word| word.pattern);
                self.add_step(words, (!has_reason).then(|| UNLISTED.to_owned()));
            }
        }
    }

    /// Reads the command that another one wraps, in the same context or an extended one.
    pub(super) fn read_wrapped(&mut self, words: &[ShellWord], context: &CommandContext) {
        if self.wrapped >= MAX_WRAPPER_COUNT {
            self.collector.note_incomplete("too many commands are wrapped into each other");
            return;
        }
        let wrapped = self.wrapped + 1;
        Invocation { collector: self.collector, context, depth: self.depth, wrapped }.read(words);
    }

    /// Reads a text as a shell would.
    pub(super) fn read_text(&mut self, text: &str) {
        super::parser::CommandParser::read(self.collector, text, self.context, self.depth + 1);
    }

    /// Adds the command as a step, unchanged.
    pub(super) fn add_step(&mut self, words: &[ShellWord], reason: Option<String>) {
        self.collector.add_step(self.context, words, reason);
    }

    /// Adds the command as a step that is not completely known.
    pub(super) fn add_unsure_step(&mut self, words: &[ShellWord], reason: String) {
        self.collector.note_incomplete(reason.clone());
        self.add_step(words, Some(reason));
    }

    /// Checks an assignment: a shell reads the values of some variables as a text with expansions.
    pub(super) fn check_assignment(collector: &mut ReadingCollector, assignment: &str) {
        if assignment.contains(['$', '`']) {
            collector.note_incomplete("a variable has a text that may be read as a command later");
        }
    }
}

/// Returns what is known about a program of this name.
fn find_program_kind(base: &str) -> Option<ProgramKind> {
    KINDS.get(base).copied()
}

/// Returns what is known about a program of almost this name: with a version at the end, or in
/// another case, which some systems ignore.
fn find_resembling_kind(command: &str) -> Option<ProgramKind> {
    let base = command.rsplit_once('/').map_or(command, |(_, base)| base).to_ascii_lowercase();
    let name = base
        .trim_end_matches(|last: char| last.is_ascii_digit() || last == '.')
        .trim_end_matches('-');
    KINDS.get(base.as_str()).or_else(|| KINDS.get(name)).copied()
}
