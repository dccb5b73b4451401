//! Handles shells, and commands that read their arguments as a shell would.

use lango_text::make_visible_short;

use super::invocation::Invocation;
use super::word::ShellWord;

/// Describes a shell.
#[derive(Debug)]
pub(super) struct ShellProgram {
    pub(super) names: &'static [&'static str],
    language: ShellLanguage,
}

/// Tells how much of a shell's language is the one that is read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellLanguage {
    Same,
    /// A text can be read, but may mean more to this shell.
    Similar,
    Other,
}

/// Lists the shells.
pub(super) const SHELLS: &[ShellProgram] = &[
    ShellProgram { names: &["sh", "bash", "dash", "ash"], language: ShellLanguage::Same },
    ShellProgram {
        names: &["zsh", "ksh", "ksh93", "mksh", "lksh", "pdksh", "oksh", "yash", "rbash", "hush"],
        language: ShellLanguage::Similar,
    },
    ShellProgram {
        names: &["fish", "csh", "tcsh", "pwsh", "powershell", "nu", "xonsh", "elvish", "rc", "es"],
        language: ShellLanguage::Other,
    },
];

/// Lists the values of `-o` that do not change the meaning of a text.
const HARMLESS_SETTINGS: [&str; 4] = ["errexit", "nounset", "pipefail", "xtrace"];

impl Invocation<'_> {
    /// Unwraps `sh -c TEXT`; names the script of `sh FILE`.
    pub(super) fn read_shell(&mut self, shell: &ShellProgram, words: &[ShellWord]) {
        let name = make_visible_short(&words[0].text);
        match shell.language {
            ShellLanguage::Same => {}
            ShellLanguage::Similar => {
                self.collector.note_incomplete(format!("{name} has a language of its own"));
            }
            ShellLanguage::Other => {
                return self.add_unsure_step(words, format!("{name} has a language of its own"));
            }
        }
        let (options, start) = match read_shell_options(words) {
            Ok(found) => found,
            Err(reason) => return self.add_unsure_step(words, reason),
        };
        let Some(first) = words.get(start) else {
            let reason = format!("{name} takes its commands from its input");
            return self.add_unsure_step(words, reason);
        };
        if !first.is_static() {
            self.collector.note_incomplete(format!("what {name} runs is known only when it runs"));
        }
        if options.login || !options.command {
            let reason = if options.command {
                "reads the files that a shell starts with".to_owned()
            } else {
                self.collector.add_script(&first.text);
                format!("runs the program in {}", make_visible_short(&first.text))
            };
            self.add_step(words, Some(reason));
        }
        if options.command {
            self.read_text(&first.text);
        }
    }

    /// Unwraps `su -c TEXT`.
    pub(super) fn read_su(&mut self, words: &[ShellWord]) {
        let mut text = None;
        let mut position = 1;
        while let Some(word) = words.get(position) {
            position += 1;
            match word.text.as_str() {
                _ if !word.is_static() => {
                    self.collector.note_incomplete("an argument of su is known only when it runs");
                }
                "-" | "-l" | "--login" | "-m" | "-p" | "--preserve-environment" => {}
                "-c" | "--command" if text.is_none() => {
                    text = words.get(position);
                    position += 1;
                }
                option if option.starts_with('-') => {
                    let option = make_visible_short(option);
                    self.collector
                        .note_incomplete(format!("the option {option} of su is not known"));
                }
                _ => {}
            }
        }
        self.add_step(words, Some("runs with the rights of another user".to_owned()));
        match text {
            Some(text) => self.read_text(&text.text),
            None => self.collector.note_incomplete("su takes its commands from its input"),
        }
        // The shell is the one of that user, and gets the arguments after the user.
        self.collector.note_incomplete("which shell su starts is known only when it runs");
    }

    /// Unwraps `eval`, whose words are one text.
    pub(super) fn read_eval(&mut self, words: &[ShellWord]) {
        let arguments = &words[1..];
        if arguments.iter().any(|word| !word.is_static()) {
            self.collector.note_incomplete("what eval runs is known only when it runs");
        }
        if arguments.first().is_some_and(|word| word.text.starts_with('-')) {
            self.collector.note_incomplete("shells differ on options of eval");
        }
        let text: Vec<_> = arguments.iter().map(|word| word.text.as_str()).collect();
        self.read_text(&text.join(" "));
    }

    /// Names the script of `. FILE`.
    pub(super) fn read_source(&mut self, words: &[ShellWord]) {
        let Some(file) = words.get(1) else { return self.add_step(words, None) };
        if !file.is_static() || file.text.starts_with('-') {
            self.collector.note_incomplete("which file is read is known only when it runs");
        } else if !file.text.contains('/') {
            self.collector
                .note_incomplete("shells differ on where they look for a file without a slash");
        }
        self.collector.add_script(&file.text);
        let reason = format!("runs the program in {}", make_visible_short(&file.text));
        self.add_step(words, Some(reason));
    }

    /// Unwraps `trap TEXT SIGNAL`.
    pub(super) fn read_trap(&mut self, words: &[ShellWord]) {
        let Some((action, signals)) = words[1..].split_first() else {
            return self.add_step(words, None);
        };
        let is_number = action.text.bytes().all(|byte| byte.is_ascii_digit());
        if !action.is_static() {
            self.collector.note_incomplete("what trap runs is known only when it runs");
        } else if action.text != "-" && (action.text.starts_with('-') || is_number) {
            return self.add_unsure_step(words, "shells differ on options of trap".to_owned());
        } else if action.text == "-" || signals.is_empty() {
            return self.add_step(words, None);
        }
        self.read_text(&action.text);
    }
}

#[derive(Debug, Default)]
struct ShellOptions {
    command: bool,
    login: bool,
}

/// Returns the options of a shell, and the position of the first word that is none.
fn read_shell_options(words: &[ShellWord]) -> Result<(ShellOptions, usize), String> {
    let name = words.first().map(|word| make_visible_short(&word.text)).unwrap_or_default();
    let mut options = ShellOptions::default();
    let mut position = 1;
    while let Some(word) = words.get(position) {
        let text = word.text.as_str();
        if !word.is_static() || !text.starts_with(['-', '+']) {
            break;
        }
        position += 1;
        match text {
            "-" | "--" => break,
            "--login" => options.login = true,
            "--norc" | "--noprofile" | "--posix" => {}
            _ => {
                for letter in text.chars().skip(1) {
                    match letter {
                        'c' => options.command = true,
                        'l' => options.login = true,
                        'e' | 'u' | 'x' => {}
                        'o' if words.get(position).is_some_and(is_harmless_setting) => {
                            position += 1;
                        }
                        's' => return Err(format!("{name} takes its commands from its input")),
                        _ => {
                            let option = make_visible_short(text);
                            return Err(format!("the option {option} of {name} is not known"));
                        }
                    }
                }
            }
        }
    }
    Ok((options, position))
}

fn is_harmless_setting(word: &ShellWord) -> bool {
    word.is_static() && HARMLESS_SETTINGS.contains(&word.text.as_str())
}

/// Tells whether the arguments of `set` do not change the meaning of what follows.
pub(super) fn is_harmless_set(words: &[ShellWord]) -> bool {
    read_shell_options(words)
        .is_ok_and(|(options, end)| end == words.len() && !options.command && !options.login)
}
