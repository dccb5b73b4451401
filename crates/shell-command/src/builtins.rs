//! Handles builtins of the shell, and programs that need more than a line in a table.

use super::invocation::Invocation;
use super::shells::is_harmless_set;
use super::word::Word;

/// Tells how a builtin has to be handled.
#[derive(Debug, Clone, Copy)]
pub(super) enum Builtin {
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
pub(super) const BUILTINS: &[(&[&str], Builtin)] = &[
    (&["eval"], Builtin::Eval),
    (&[".", "source"], Builtin::Source),
    (&["trap"], Builtin::Trap),
    (&["su", "runuser"], Builtin::Su),
    (&["find", "gfind"], Builtin::Find),
    (&["xargs", "gxargs"], Builtin::Xargs),
    (&["git"], Builtin::Git),
    (&["sed", "gsed"], Builtin::Sed),
    (&["make", "gmake"], Builtin::Make),
    (&["set"], Builtin::Set),
    (&["cd", "chdir", "pushd", "popd"], Builtin::ChangesDirectory),
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
        Builtin::Redefines,
    ),
    (
        &["export", "readonly", "declare", "typeset", "local", "unset", "read", "getopts"],
        Builtin::SetsVariables,
    ),
    (&["test", "[", "printf", "wait"], Builtin::Evaluates),
];

impl Invocation<'_> {
    pub(super) fn builtin(&mut self, builtin: Builtin, words: &[Word]) {
        match builtin {
            Builtin::Eval => self.eval(words),
            Builtin::Source => self.source(words),
            Builtin::Trap => self.trap(words),
            Builtin::Su => self.su(words),
            Builtin::Find => self.find(words),
            Builtin::Xargs => self.xargs(words),
            Builtin::Git => self.git(words),
            Builtin::Sed => self.sed(words),
            Builtin::Make => self.make(words),
            Builtin::Set if is_harmless_set(words) => self.step(words, None),
            Builtin::Set => {
                self.unsure(words, "it changes how the shell reads what follows".to_owned());
            }
            Builtin::ChangesDirectory => {
                self.collector.note_directory_change();
                self.step(words, None);
            }
            Builtin::Redefines => {
                let name = lango_text::visible_short(&words[0].text);
                self.unsure(words, format!("{name} can change what later commands mean"));
            }
            Builtin::SetsVariables => {
                self.check_subscripts(words);
                let reason = "sets a variable that changes what commands do";
                self.step(words, Some(reason.to_owned()));
            }
            Builtin::Evaluates => {
                self.check_subscripts(words);
                let sets = words
                    .get(1)
                    .is_some_and(|word| words[0].text == "printf" && word.text.starts_with("-v"));
                let reason = "sets a variable that changes what commands do";
                self.step(words, sets.then(|| reason.to_owned()));
            }
        }
    }

    /// Checks array subscripts: some shells run what is in the index of an array, even if it was
    /// quoted.
    fn check_subscripts(&mut self, words: &[Word]) {
        let runs = |word: &Word| word.text.contains('[') && word.text.contains(['$', '`']);
        if words[1..].iter().any(runs) {
            self.collector.note("some shells would run what is in square brackets");
        }
    }

    /// Handles `make`, which runs what is in a file that it finds by itself.
    fn make(&mut self, words: &[Word]) {
        let risky = |word: &Word| {
            word.text.contains('=')
                || (word.text.starts_with("--") && word.text.len() > 2)
                || (word.text.starts_with('-') && word.text.contains(['f', 'C', 'I', 'E']))
        };
        if words[1..].iter().any(risky) {
            self.file_of_option("-f", words);
            let reason = "can be told by its arguments to run other commands";
            return self.step(words, Some(reason.to_owned()));
        }
        for file in ["GNUmakefile", "makefile", "Makefile"] {
            self.collector.add_optional_script(file);
        }
        self.step(words, None);
    }
}
