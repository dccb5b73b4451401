//! Handles programs that run the command after their own options, and reads their options.
//!
//! An option that is not listed makes the reading incomplete: how many words belong to it is never
//! guessed.

use lango_text::make_visible_short;

use super::invocation::Invocation;
use super::word::ShellWord;

/// Describes a program that runs another one.
#[derive(Debug)]
pub(super) struct WrapperProgram {
    pub(super) names: &'static [&'static str],
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options with a value.
    valued: &'static [&'static str],
    operands: WrapperOperands,
    step: StepPolicy,
}

/// Tells what comes between the options and the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrapperOperands {
    Nothing,
    /// `NAME=value`, any number of them.
    Assignments,
    /// One word that starts with a digit.
    Number,
}

/// Tells whether the wrapper is a step in addition to the command that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepPolicy {
    Never,
    WithOptions(&'static str),
    Always(&'static str),
}

const fn plain(names: &'static [&'static str], flags: &'static [&'static str]) -> WrapperProgram {
    WrapperProgram {
        names,
        flags,
        valued: &[],
        operands: WrapperOperands::Nothing,
        step: StepPolicy::Never,
    }
}

/// Lists every wrapper that is unwrapped.
pub(super) const WRAPPERS: &[WrapperProgram] = &[
    plain(&["nohup"], &[]),
    plain(&["builtin"], &[]),
    plain(&["exec"], &[]),
    plain(&["command"], &["-p"]),
    plain(&["time"], &["-p"]),
    plain(&["setsid"], &["-c", "-f", "-w", "--ctty", "--fork", "--wait"]),
    plain(&["busybox", "toybox"], &[]),
    WrapperProgram {
        valued: &["-n", "--adjustment"],
        ..plain(&["nice"], &["-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "-0"])
    },
    WrapperProgram {
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        ..plain(&["stdbuf"], &[])
    },
    WrapperProgram {
        valued: &["-c", "-n", "--class", "--classdata"],
        ..plain(&["ionice"], &["-t", "--ignore"])
    },
    WrapperProgram {
        valued: &["-s", "-k", "--signal", "--kill-after"],
        operands: WrapperOperands::Number,
        ..plain(&["timeout", "gtimeout"], &["-v", "--verbose", "--foreground", "--preserve-status"])
    },
    WrapperProgram {
        operands: WrapperOperands::Number,
        ..plain(
            &["chrt"],
            &["-b", "-f", "-i", "-o", "-r", "--batch", "--fifo", "--idle", "--other", "--rr"],
        )
    },
    WrapperProgram {
        operands: WrapperOperands::Number,
        ..plain(&["taskset"], &["-a", "-c", "--all-tasks", "--cpu-list"])
    },
    WrapperProgram {
        valued: &["-u", "--unset", "-C", "--chdir"],
        operands: WrapperOperands::Assignments,
        step: StepPolicy::WithOptions("changes the environment or the directory of what it runs"),
        ..plain(&["env"], &["-", "-i", "--ignore-environment", "-v", "--debug"])
    },
    WrapperProgram {
        valued: &["-u", "--user", "-g", "--group", "-p", "--prompt", "-C", "--close-from"],
        operands: WrapperOperands::Assignments,
        step: StepPolicy::Always("runs with the rights of another user"),
        ..plain(&["sudo"], &["-n", "-E", "-H", "-S", "-A", "-b", "-k", "-P", "--non-interactive"])
    },
    WrapperProgram {
        valued: &["-u"],
        step: StepPolicy::Always("runs with the rights of another user"),
        ..plain(&["doas"], &["-n"])
    },
];

/// Lists programs that run others in ways that are not read here. What they run is not known, so no rule
/// with words is passed by wrapping a command into one of them.
const RUNNERS: &[&str] = &[
    "aa-exec",
    "at",
    "batch",
    "bwrap",
    "capsh",
    "catchsegv",
    "cgexec",
    "choom",
    "chroot",
    "chrootuid",
    "daemonize",
    "dbus-launch",
    "dbus-run-session",
    "distrobox",
    "eatmydata",
    "entr",
    "faketime",
    "fakechroot",
    "fakeroot",
    "firejail",
    "flatpak-spawn",
    "flock",
    "i386",
    "inotifywait",
    "linux32",
    "linux64",
    "ltrace",
    "newgrp",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "rr",
    "runcon",
    "runuser",
    "screen",
    "script",
    "scriptreplay",
    "setarch",
    "setpriv",
    "setuidgid",
    "sg",
    "softlimit",
    "ssh-agent",
    "start-stop-daemon",
    "strace",
    "systemd-inhibit",
    "systemd-run",
    "tini",
    "tmux",
    "torify",
    "torsocks",
    "toolbox",
    "unbuffer",
    "uname26",
    "unshare",
    "valgrind",
    "watch",
    "watchexec",
    "x86_64",
    "xvfb-run",
];

/// Tells whether a program runs others in a way that is not read.
pub(super) fn is_runner(name: &str) -> bool {
    // The loader runs the program that it is given.
    let is_loader = ["ld-linux", "ld-musl", "ld.so", "ld64.so", "ld-uClibc"]
        .iter()
        .any(|beginning| name.starts_with(beginning));
    is_loader || RUNNERS.contains(&name)
}

impl Invocation<'_> {
    /// Unwraps a wrapper.
    pub(super) fn read_wrapper(&mut self, wrapper: &WrapperProgram, words: &[ShellWord]) {
        let name = wrapper.names.first().copied().unwrap_or_default();
        // `command -v` and `command -V` tell what a name refers to.
        let asks = words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"));
        if name == "command" && asks {
            return self.add_step(words, None);
        }
        let mut start = match skip_options(words, wrapper.flags, wrapper.valued) {
            Ok(start) => start,
            Err(reason) => return self.add_unsure_step(words, reason),
        };
        let has_options = words[1..start].iter().any(|word| word.text != "--");
        let mut context = self.context.clone();
        match wrapper.operands {
            WrapperOperands::Nothing => {}
            WrapperOperands::Assignments => {
                while let Some(word) = words.get(start).filter(|word| word.text.contains('=')) {
                    if !word.unknown && !word.is_static() {
                        self.collector
                            .note_incomplete(format!("an argument of {name} is filled in"));
                    }
                    Self::check_assignment(self.collector, &word.text);
                    context.assign(&word.text);
                    start += 1;
                }
            }
            WrapperOperands::Number => {
                let number = words.get(start);
                let is_number = number.is_some_and(|word| {
                    word.is_static() && word.text.starts_with(|first: char| first.is_ascii_digit())
                });
                if !is_number {
                    return self
                        .add_unsure_step(words, format!("the arguments of {name} are not known"));
                }
                start += 1;
            }
        }
        let command = &words[start..];
        if command.is_empty() {
            return self.add_step(words, None);
        }
        if name == "time" && super::keywords::is_keyword(&command[0].text) {
            self.collector.note_incomplete("shells differ on what time measures");
        }
        match wrapper.step {
            StepPolicy::Always(reason) => self.add_step(words, Some(reason.to_owned())),
            StepPolicy::WithOptions(reason) if has_options => {
                if words[1..start].iter().any(|word| is_change_of_directory(&word.text)) {
                    self.collector.note_directory_change();
                }
                self.add_step(words, Some(reason.to_owned()));
            }
            StepPolicy::WithOptions(_) | StepPolicy::Never => {}
        }
        self.read_wrapped(command, &context);
    }
}

/// Tells whether an option of `env` changes the directory.
fn is_change_of_directory(option: &str) -> bool {
    option.starts_with("--chdir") || (!option.starts_with("--") && option.contains('C'))
}

/// Returns the position of the first word that is no option, read as `getopt` reads them, or the
/// reason why that is not sure.
pub(super) fn skip_options(
    words: &[ShellWord],
    flags: &[&str],
    valued: &[&str],
) -> Result<usize, String> {
    let name = words.first().map(|word| make_visible_short(&word.text)).unwrap_or_default();
    let unknown = |word: &ShellWord| {
        format!("the option {} of {name} is not known", make_visible_short(&word.text))
    };
    let mut position = 1;
    while let Some(word) = words.get(position) {
        let text = word.text.as_str();
        if !word.is_static() {
            // What is filled in may start with a dash.
            return Err(format!("an argument of {name} is known only when it runs"));
        }
        if text == "--" {
            return Ok(position + 1);
        }
        if !text.starts_with('-') || (text == "-" && !flags.contains(&"-")) {
            return Ok(position);
        }
        let takes_next = if flags.contains(&text) {
            false
        } else if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some((option, _)) if valued.contains(&format!("--{option}").as_str()) => false,
                None if valued.contains(&text) => true,
                _ => return Err(unknown(word)),
            }
        } else {
            takes_next_word(text, flags, valued).ok_or_else(|| unknown(word))?
        };
        position += 1;
        if takes_next {
            match words.get(position) {
                Some(value) if value.is_static() => position += 1,
                Some(_) => return Err(format!("an argument of {name} is known only when it runs")),
                None => return Err(unknown(word)),
            }
        }
    }
    Ok(position)
}

/// Tells whether a word of short options takes the next word for a value; none if one is unknown.
fn takes_next_word(text: &str, flags: &[&str], valued: &[&str]) -> Option<bool> {
    let letters = text.get(1..)?;
    for (position, letter) in letters.char_indices() {
        let option = format!("-{letter}");
        if valued.contains(&option.as_str()) {
            return Some(position + letter.len_utf8() == letters.len());
        }
        if !flags.contains(&option.as_str()) {
            return None;
        }
    }
    Some(false)
}
