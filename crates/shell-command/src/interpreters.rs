//! Handles programs that run code from a file, from their arguments or from their input.

use lango_text::make_visible_short;

use super::invocation::Invocation;
use super::word::ShellWord;

/// Describes an interpreter whose options are known well enough to tell which word is the file.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) names: &'static [&'static str],
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with a value.
    valued: &'static str,
    /// Letters of options that are followed by code, or by the name of code.
    code: &'static str,
    /// Long options that are followed by code.
    long_code: &'static [&'static str],
    /// Long options without a value.
    long_flags: &'static [&'static str],
    /// Words that only ask for information, if there is no other word.
    questions: &'static [&'static str],
}

const QUESTIONS: &[&str] = &["--version", "--help", "-v", "-h"];

/// Lists the interpreters. Any option that is not listed makes the reading incomplete.
pub(super) const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "python3", "python2"],
        flags: "bBdEIOPqsSuvx",
        valued: "WX",
        code: "cm",
        long_code: &[],
        long_flags: &[],
        // For this one `-v` does not ask for the version.
        questions: &["--version", "--help", "-V", "-h"],
    },
    Interpreter {
        names: &["perl"],
        flags: "acilnpstTwWX01234567",
        valued: "",
        code: "eE",
        long_code: &[],
        long_flags: &[],
        questions: QUESTIONS,
    },
    Interpreter {
        names: &["ruby"],
        flags: "aclnpsw",
        valued: "",
        code: "e",
        long_code: &[],
        long_flags: &[],
        questions: QUESTIONS,
    },
    Interpreter {
        names: &["node", "nodejs"],
        flags: "c",
        valued: "",
        code: "ep",
        long_code: &["--eval", "--print", "--test"],
        long_flags: &["--check", "--no-warnings", "--trace-warnings"],
        questions: QUESTIONS,
    },
    Interpreter {
        names: &["php"],
        flags: "lnq",
        valued: "",
        code: "rR",
        long_code: &["--run"],
        long_flags: &[],
        questions: QUESTIONS,
    },
    Interpreter {
        names: &["lua", "luajit"],
        flags: "E",
        valued: "",
        code: "e",
        long_code: &[],
        long_flags: &[],
        questions: &["-v"],
    },
];

/// Tells what a word of options means.
enum OptionMeaning {
    Nothing,
    /// The next word belongs to it.
    TakesNext,
    /// Code follows, here or in the next word.
    Code,
    Unknown,
}

impl Invocation<'_> {
    /// Names the file that an interpreter runs.
    pub(super) fn read_interpreter(&mut self, interpreter: &Interpreter, words: &[ShellWord]) {
        let name = make_visible_short(&words[0].text);
        if let [_, only] = words
            && interpreter.questions.contains(&only.text.as_str())
        {
            return self.add_step(words, None);
        }
        let mut position = 1;
        while let Some(word) = words.get(position) {
            position += 1;
            if !word.is_static() {
                return self.add_unsure_step(
                    words,
                    format!("what {name} runs is known only when it runs"),
                );
            }
            match interpreter.option_meaning(&word.text) {
                Some(OptionMeaning::Nothing) => {}
                Some(OptionMeaning::TakesNext) => position += 1,
                Some(OptionMeaning::Code) => {
                    return self.add_step(words, Some("runs the code in its arguments".to_owned()));
                }
                Some(OptionMeaning::Unknown) => {
                    let option = make_visible_short(&word.text);
                    let reason = format!("the option {option} of {name} is not known");
                    return self.add_unsure_step(words, reason);
                }
                None if word.text == "-" => break,
                None => {
                    self.collector.add_script(&word.text);
                    let reason = format!("runs the program in {}", make_visible_short(&word.text));
                    return self.add_step(words, Some(reason));
                }
            }
        }
        self.add_unsure_step(words, format!("{name} takes its program from its input"));
    }
}

impl Interpreter {
    /// Returns the meaning of an option; none if the word is no option.
    fn option_meaning(&self, word: &str) -> Option<OptionMeaning> {
        if word.starts_with("--") {
            let option = word.split_once('=').map_or(word, |(option, _)| option);
            return Some(if self.long_code.contains(&option) {
                OptionMeaning::Code
            } else if self.long_flags.contains(&word) {
                OptionMeaning::Nothing
            } else {
                OptionMeaning::Unknown
            });
        }
        let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty())?;
        for (position, letter) in letters.char_indices() {
            if self.code.contains(letter) {
                return Some(OptionMeaning::Code);
            }
            if self.valued.contains(letter) {
                let is_last = position + letter.len_utf8() == letters.len();
                return Some(if is_last {
                    OptionMeaning::TakesNext
                } else {
                    OptionMeaning::Nothing
                });
            }
            if !self.flags.contains(letter) {
                return Some(OptionMeaning::Unknown);
            }
        }
        Some(OptionMeaning::Nothing)
    }
}
