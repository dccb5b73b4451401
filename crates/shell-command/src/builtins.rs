//! Handles builtins of the shell, and programs that need more than a line in a table.

use super::invocation::Invocation;
use super::shells::is_harmless_set;
use super::word::ShellWord;

/// Tells how a builtin has to be handled.
#[derive(Debug, Clone, Copy)]
pub(super) enum BuiltinHandling {
    Eval,
    Source,
    Trap,
    Su,
    Find,
    Xargs,
    Git,
    Sed,
    Make,
    Set,
    /// It changes the working directory.
    ChangesDirectory,
    /// It changes what later commands mean.
    Redefines,
    /// It sets variables.
    SetsVariables,
    /// It evaluates some of its arguments, in some shells.
    Evaluates,
}

/// Lists the commands by name.
pub(super) const BUILTINS: &[(&[&str], BuiltinHandling)] = &[
    (&["eval"], BuiltinHandling::Eval),
    (&[".", "source"], BuiltinHandling::Source),
    (&["trap"], BuiltinHandling::Trap),
    (&["su", "runuser"], BuiltinHandling::Su),
    (&["find", "gfind"], BuiltinHandling::Find),
    (&["xargs", "gxargs"], BuiltinHandling::Xargs),
    (&["git"], BuiltinHandling::Git),
    (&["sed", "gsed"], BuiltinHandling::Sed),
    (&["make", "gmake"], BuiltinHandling::Make),
    (&["set"], BuiltinHandling::Set),
    (&["cd", "chdir", "pushd", "popd"], BuiltinHandling::ChangesDirectory),
    (
        &[
            "alias",
            "shopt",
            "enable",
            "hash",
            "fc",
            "compgen",
            "complete",
            "compopt",
            "bind",
            "let",
            "jobs",
            "mapfile",
            "readarray",
            "setopt",
            "emulate",
            "autoload",
            "zmodload",
            "repeat",
            "noglob",
            "nocorrect",
            "foreach",
        ],
        BuiltinHandling::Redefines,
    ),
    (
        &["export", "readonly", "declare", "typeset", "local", "unset", "read", "getopts"],
        BuiltinHandling::SetsVariables,
    ),
    (&["test", "[", "printf", "wait"], BuiltinHandling::Evaluates),
];

impl Invocation<'_> {
    pub(super) fn read_builtin(&mut self, builtin: BuiltinHandling, words: &[ShellWord]) {
        match builtin {
            BuiltinHandling::Eval => self.read_eval(words),
            BuiltinHandling::Source => self.read_source(words),
            BuiltinHandling::Trap => self.read_trap(words),
            BuiltinHandling::Su => self.read_su(words),
            BuiltinHandling::Find => self.read_find(words),
            BuiltinHandling::Xargs => self.read_xargs(words),
            BuiltinHandling::Git => self.read_git(words),
            BuiltinHandling::Sed => self.read_sed(words),
            BuiltinHandling::Make => self.read_make(words),
            BuiltinHandling::Set if is_harmless_set(words) => self.add_step(words, None),
            BuiltinHandling::Set => {
                self.add_unsure_step(
                    words,
                    "it changes how the shell reads what follows".to_owned(),
                );
            }
            BuiltinHandling::ChangesDirectory => {
                self.collector.note_directory_change();
                self.add_step(words, None);
            }
            BuiltinHandling::Redefines => {
                let name = lango_text::make_visible_short(&words[0].text);
                self.add_unsure_step(words, format!("{name} can change what later commands mean"));
            }
            BuiltinHandling::SetsVariables => {
                self.check_subscripts(words);
                let reason = "sets a variable that changes what commands do";
                self.add_step(words, Some(reason.to_owned()));
            }
            BuiltinHandling::Evaluates => {
                self.check_subscripts(words);
                let sets = words
                    .get(1)
                    .is_some_and(|word| words[0].text == "printf" && word.text.starts_with("-v"));
                let reason = "sets a variable that changes what commands do";
                self.add_step(words, sets.then(|| reason.to_owned()));
            }
        }
    }

    /// Checks array subscripts: some shells run what is in the index of an array, even if it was
    /// quoted.
    fn check_subscripts(&mut self, words: &[ShellWord]) {
        let runs = |word: &ShellWord| word.text.contains('[') && word.text.contains(['$', '`']);
        if words[1..].iter().any(runs) {
            self.collector.note_incomplete("some shells would run what is in square brackets");
        }
    }

    /// Handles `make`, which runs what is in a file that it finds by itself.
    fn read_make(&mut self, words: &[ShellWord]) {
        let risky = |word: &ShellWord| {
            word.text.contains('=')
                || (word.text.starts_with("--") && word.text.len() > 2)
                || (word.text.starts_with('-') && word.text.contains(['f', 'C', 'I', 'E']))
        };
        if words[1..].iter().any(risky) {
            self.add_files_of_option("-f", words);
            let reason = "can be told by its arguments to run other commands";
            return self.add_step(words, Some(reason.to_owned()));
        }
        for file in ["GNUmakefile", "makefile", "Makefile"] {
            self.collector.add_optional_script(file);
        }
        self.add_step(words, None);
    }
}
