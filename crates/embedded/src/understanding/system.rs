//! Answers questions about the machine with commands of a fixed list.

use lango_phrases::system_questions::find_system_command;
#[cfg(test)]
pub(crate) use lango_phrases::system_questions::is_fixed_command;

use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, ask};

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
        if let Some(command) = find_system_command(&words) {
            return run(command.to_owned());
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
        // A comma after it is prose: "run app.py, stdout to price.txt".
        let first = command.split_whitespace().next().filter(|first| !first.ends_with(','))?;
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

fn run(command: String) -> RequestReading {
    RequestReading::call(PlannedCall::new("exec_shell").text("command", command))
}
