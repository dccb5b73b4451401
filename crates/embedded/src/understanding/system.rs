//! Answers questions about the machine with commands of a fixed list.

use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, ask};

/// A question about the machine: all words of one group occur in it.
struct SystemQuestion {
    /// Groups of words; a group fits if all its words occur.
    groups: &'static [&'static [&'static str]],
    command: &'static str,
}

const QUESTIONS: &[SystemQuestion] = &[
    SystemQuestion {
        groups: &[
            &["disk", "space"],
            &["free", "space"],
            &["disk", "full"],
            &["storage", "left"],
            &["space", "left"],
            &["disk", "free"],
            &["disk", "usage"],
            &["room", "disk"],
            &["machine", "full"],
            &["drive", "full"],
            &["computer", "full"],
        ],
        command: "df -h",
    },
    SystemQuestion {
        groups: &[
            &["memory", "free"],
            &["free", "ram"],
            &["much", "ram"],
            &["memory", "left"],
            &["memory", "used"],
            &["ram", "left"],
            &["ram", "used"],
        ],
        command: "free -h",
    },
    SystemQuestion {
        groups: &[
            &["eating", "cpu"],
            &["using", "cpu"],
            &["hogging", "cpu"],
            &["cpu", "usage"],
            &["top", "processes"],
            &["processes", "running"],
            &["cpu", "load"],
            &["slow", "computer"],
            &["running", "processes"],
            &["eats", "cpu"],
        ],
        command: "ps aux --sort=-%cpu | head -n 15",
    },
    SystemQuestion {
        groups: &[
            &["eating", "memory"],
            &["using", "memory"],
            &["hogging", "memory"],
            &["eating", "ram"],
            &["using", "ram"],
        ],
        command: "ps aux --sort=-%mem | head -n 15",
    },
    SystemQuestion {
        groups: &[
            &["date", "today"],
            &["today's", "date"],
            &["todays", "date"],
            &["what", "time"],
            &["what", "hour"],
            &["which", "day"],
            &["what", "day"],
            &["current", "time"],
            &["time", "is"],
            &["current", "date"],
            &["date", "is"],
        ],
        command: "date",
    },
    SystemQuestion {
        groups: &[&["python", "version"], &["version", "python"], &["python", "installed"]],
        command: "python3 --version",
    },
    SystemQuestion { groups: &[&["git", "version"]], command: "git --version" },
    SystemQuestion {
        groups: &[&["node", "version"], &["node", "installed"]],
        command: "node --version",
    },
    SystemQuestion {
        groups: &[&["rust", "version"], &["rustc", "version"], &["cargo", "version"]],
        command: "rustc --version",
    },
    SystemQuestion {
        groups: &[&["git", "status"], &["uncommitted", "changes"]],
        command: "git status",
    },
    SystemQuestion {
        groups: &[&["git", "branch"], &["which", "branch"], &["what", "branch"]],
        command: "git branch --show-current",
    },
    SystemQuestion {
        groups: &[
            &["git", "log"],
            &["last", "commits"],
            &["last", "commit"],
            &["recent", "commits"],
            &["git", "history"],
        ],
        command: "git log --oneline -n 10",
    },
    SystemQuestion { groups: &[&["git", "diff"]], command: "git diff" },
    SystemQuestion {
        groups: &[
            &["operating", "system"],
            &["kernel", "version"],
            &["which", "linux"],
            &["os", "version"],
            &["what", "os"],
        ],
        command: "uname -a",
    },
    SystemQuestion {
        groups: &[&["how", "long", "up"], &["uptime"], &["been", "running", "computer"]],
        command: "uptime",
    },
    SystemQuestion {
        groups: &[&["who", "am", "i"], &["which", "user"], &["what", "user"], &["username"]],
        command: "whoami",
    },
    SystemQuestion { groups: &[&["ip", "address"], &["my", "ip"]], command: "ip addr" },
    SystemQuestion {
        groups: &[&["hostname"], &["name", "computer"], &["name", "machine"]],
        command: "hostname",
    },
    SystemQuestion {
        groups: &[
            &["listening", "port"],
            &["listening", "ports"],
            &["open", "ports"],
            &["listening", "on"],
            &["process", "port"],
            &["program", "port"],
            &["holding", "port"],
            &["using", "port"],
        ],
        command: "ss -ltn",
    },
    SystemQuestion {
        groups: &[&["how", "many", "cores"], &["cpu", "cores"], &["many", "cpus"]],
        command: "nproc",
    },
    SystemQuestion { groups: &[&["environment", "variables"], &["env", "vars"]], command: "env" },
    SystemQuestion {
        groups: &[
            &["where", "am", "i"],
            &["which", "directory"],
            &["current", "directory"],
            &["what", "directory"],
            &["working", "directory"],
        ],
        command: "pwd",
    },
];

impl Understanding<'_> {
    /// Returns the command that a request names, or that answers a question about the machine.
    pub(super) fn system_call(&self, request: &RequestWords<'_>) -> RequestReading {
        if let Some(command) = self.command_in(request) {
            return run(command);
        }
        if let Some(command) = self.project_command(request) {
            return run(command);
        }
        let words: Vec<&str> = request.unquoted().collect();
        let fits = |question: &&SystemQuestion| {
            question.groups.iter().any(|group| are_near(group, &words))
        };
        if let Some(question) = QUESTIONS.iter().find(fits) {
            return run(question.command.to_owned());
        }
        let is_question = request.text.trim_end().ends_with('?')
            || request.words.first().is_some_and(|word| {
                matches!(
                    word.text.as_str(),
                    "what" | "which" | "when" | "who" | "where" | "what's" | "whats" | "how"
                )
            });
        if is_question && self.has_tool("memory_search") {
            return RequestReading::call(
                PlannedCall::new("memory_search").text("query", request.text.trim()),
            );
        }
        ask("Which command should I run?")
    }

    /// Returns the command that the encoder finds in the request, if it looks like one.
    fn command_in(&self, request: &RequestWords<'_>) -> Option<String> {
        let span = self.span_text("exec_shell", "command", request)?;
        let command = strip_prose(span.trim().trim_matches('`').trim());
        // "What does uptime report?"
        let command = if request.has_phrase(&["what does", "what do"]) {
            let verbs =
                [" report", " say", " show", " print", " tell", " return", " output", " give"];
            verbs.iter().find_map(|verb| command.strip_suffix(verb)).unwrap_or(command)
        } else {
            command
        };
        let first = command.split_whitespace().next()?;
        let is_program = super::command_line::read_command(command, &self.files).is_some()
            || first.contains('/')
            || command.contains(" -");
        is_program.then(|| command.to_owned())
    }

    /// Returns the command of a project: "run the tests", "build it".
    fn project_command(&self, request: &RequestWords<'_>) -> Option<String> {
        let exists = |path: &str| self.files.kind_of(path).is_some();
        let tests = request.has_any(&["test", "tests", "testsuite", "unittests"])
            || request.has_phrase(&["test suite"]);
        let builds = request.has_any(&["build", "compile", "rebuild"]);
        if !(tests || builds)
            || !request.has_any(&[
                "run", "execute", "start", "build", "compile", "pass", "do", "rebuild", "kick",
                "launch",
            ])
        {
            return None;
        }
        let command = match () {
            () if exists("Cargo.toml") => {
                if tests {
                    "cargo test"
                } else {
                    "cargo build"
                }
            }
            () if exists("package.json") => {
                if tests {
                    "npm test"
                } else {
                    "npm run build"
                }
            }
            () if exists("Makefile") => {
                if tests {
                    "make test"
                } else {
                    "make"
                }
            }
            () if exists("go.mod") => {
                if tests {
                    "go test ./..."
                } else {
                    "go build ./..."
                }
            }
            () if tests && exists("tests") => "python3 -m unittest discover tests",
            () if tests && exists("pyproject.toml") => "python3 -m pytest",
            () => return None,
        };
        Some(command.to_owned())
    }
}

/// Returns a command without a sentence after it, and without a verb before a path: "get ./sync --all".
fn strip_prose(command: &str) -> &str {
    let is_quoted = command.contains(['"', '\'', '`']);
    let command = match command.split_once(". ") {
        Some((before, after)) if !is_quoted && after.starts_with(char::is_alphabetic) => before,
        _ => command,
    };
    let verbs = ["get ", "start ", "run ", "launch ", "kick off ", "execute "];
    let bare = verbs.iter().find_map(|verb| command.strip_prefix(verb));
    bare.filter(|bare| bare.starts_with("./") || bare.starts_with('/')).unwrap_or(command)
}

/// Tells whether all words of a group stand near each other.
fn are_near(group: &[&str], words: &[&str]) -> bool {
    const MAX_WORDS_BETWEEN: usize = 6;
    let Some((first, others)) = group.split_first() else { return false };
    let places = |wanted: &str| {
        let wanted = wanted.to_owned();
        words.iter().enumerate().filter(move |(_, word)| **word == wanted).map(|(at, _)| at)
    };
    places(first).any(|at| {
        others.iter().all(|word| places(word).any(|other| other.abs_diff(at) <= MAX_WORDS_BETWEEN))
    })
}

/// Tells whether a command is one of the fixed list.
#[cfg(test)]
pub(crate) fn is_fixed_command(command: &str) -> bool {
    QUESTIONS.iter().any(|question| question.command == command)
}

fn run(command: String) -> RequestReading {
    RequestReading::call(PlannedCall::new("exec_shell").text("command", command))
}
