//! Understands a request as a whole: which calls it asks for, with the real names of what it is about.
//!
//! The encoder says which tool is meant and which parts of the text are its arguments. What is here
//! checks that against what exists and against the words: names are looked up, a change needs a verb
//! that asks for it, and where something is missing or several things fit, the user is asked.
//!
//! What is said in numbers, lines and steps is read by `lango-phrases`.
//!
//! | file | job |
//! |---|---|
//! | `file_names.rs` | which files a name or a word for a type means |
//! | `sources.rs` | which files a change is about |
//! | `plain_words.rs` | which tool the words say plainly, whatever the encoder says |
//! | `evidence.rs` | which verbs a change needs |
//! | `command_line.rs`, `file_commands.rs` | commands that are typed as they are |
//! | `look.rs`, `find.rs` | calls that only look |
//! | `change.rs`, `relocate.rs`, `edit.rs`, `line_change.rs` | calls that change files |
//! | `last_check.rs` | whether the words of a request speak against the change that was understood |
//! | `system.rs` | questions about the machine |
//! | `web.rs` | addresses of web pages, and what to do there |
//! | `limits.rs` | what needs a model that writes, and other languages |
//! | `follow_up.rs`, `follow_edit.rs`, `follow_search.rs`, `repetition.rs`, `referents.rs` | requests that need what came before |
//! | `several.rs` | several actions in one request |
//! | `turn.rs`, `answers.rs` | the newest message: a request, or the answer to a question |

mod answers;
mod change;
mod command_line;
mod edit;
mod evidence;
mod file_commands;
mod file_names;
mod find;
mod follow_edit;
mod follow_search;
mod follow_up;
mod last_check;
mod limits;
mod line_change;
mod look;
mod plain_words;
mod referents;
mod relocate;
mod repetition;
mod several;
mod sources;
mod system;
mod turn;
mod web;

use std::collections::BTreeMap;

use lango_model::{Colleague, EarlierCall};
use lango_phrases::{arithmetic, kinds_of_files, leads, lines, spelling, verbs, words};
use lango_tool::ToolDeclaration;
use serde::{Deserialize, Serialize};

use self::command_line::{CommandLine, read_command};
use self::evidence::class_of_tool;
pub(crate) use self::evidence::lacks_job_verb;
use self::file_commands::{FileCommand, read_file_command};
pub(crate) use self::file_names::FileNames;
use self::plain_words::{correct_tool, tool_of_single_order};
use self::several::StepReadings;
pub(crate) use self::several::begins_with_verb;
#[cfg(test)]
pub(crate) use self::system::is_fixed_command;
pub(crate) use self::turn::{PlannedStep, TurnMeaning};
use self::verbs::{is_no_order, is_only_talk};
use self::words::RequestWords;
use crate::arguments::{Argument, fill_arguments};
use crate::decision::{RequestMeaning, WeightedMeanings};
use crate::reading::RequestReader;
use crate::reported::is_reported;
use crate::schema::read_parameters;

/// Represents a call that was understood whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedCall {
    pub(crate) tool: String,
    pub(crate) arguments: BTreeMap<String, Argument>,
}

impl PlannedCall {
    fn new(tool: &'static str) -> Self {
        Self { tool: tool.to_owned(), arguments: BTreeMap::new() }
    }

    fn with(mut self, name: &str, value: Argument) -> Self {
        self.arguments.insert(name.to_owned(), value);
        self
    }

    fn text(self, name: &str, value: impl Into<String>) -> Self {
        self.with(name, Argument::Text(value.into()))
    }
}

/// Says what a request means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RequestReading {
    /// These calls, one after the other.
    Calls(Vec<PlannedCall>),
    /// Something has to be asked first.
    Ask(Question),
    /// There is something to say, and nothing to do.
    Say(String),
    /// Nothing here decides it: what the encoder says counts.
    Open,
}

/// Represents a question to the user, and what its answer makes of the request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) text: String,
    completion: Completion,
}

/// Says what an answer makes of a request.
#[derive(Debug, Clone, PartialEq)]
enum Completion {
    /// The answer is read together with the request.
    Together,
    /// The answer is an argument of this call.
    Argument { call: PlannedCall, name: &'static str },
    /// The answer names what was called by another name in the request.
    Name { mention: String },
    /// The answer is the name of a new file.
    NewFile,
    /// The answer names a file: one of these, or any other.
    File { call: PlannedCall, name: &'static str, candidates: Vec<String> },
    /// The answer is the place or the new name.
    Relocate { tool: &'static str, from: Vec<String> },
    /// Yes means these calls.
    Confirm(Vec<PlannedCall>),
}

fn ask(text: impl Into<String>) -> RequestReading {
    ask_for(text, Completion::Together)
}

fn ask_for(text: impl Into<String>, completion: Completion) -> RequestReading {
    RequestReading::Ask(Question { text: text.into(), completion })
}

impl Question {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), completion: Completion::Together }
    }

    /// Asks about a name for which nothing is found.
    fn about_name(text: String, mention: &str) -> Self {
        Self { text, completion: Completion::Name { mention: mention.to_owned() } }
    }
}

impl RequestReading {
    fn call(call: PlannedCall) -> Self {
        Self::Calls(vec![call])
    }
}

/// Holds everything that a request is understood with.
pub(crate) struct Understanding<'a> {
    pub(crate) reader: &'a RequestReader,
    /// The tools of the agent that is asked.
    pub(crate) own: &'a [ToolDeclaration],
    pub(crate) colleagues: Vec<&'a Colleague>,
    pub(crate) files: FileNames<'a>,
    /// The calls of earlier turns, oldest first.
    pub(crate) earlier: &'a [EarlierCall],
}

impl<'a> Understanding<'a> {
    /// Returns what one request means, by itself or after what came before.
    pub(crate) fn understand(&self, text: &str) -> RequestReading {
        let written = words::write_spoken_names(text);
        let written = spelling::correct_first_verb(&written);
        let request = RequestWords::of(&written);
        if let Some(understood) = self.follow_up(&request) {
            return understood;
        }
        self.understand_alone(&request)
    }

    fn understand_alone(&self, request: &RequestWords<'_>) -> RequestReading {
        let text = request.text;
        if let Some(command) = read_command(text, &self.files) {
            if is_only_talk(request) {
                return RequestReading::Open;
            }
            return self.add_options(self.command_call(command, request), request);
        }
        if let Some(calls) = self.web_calls(request) {
            return RequestReading::Calls(calls);
        }
        if let Some(line) = limits::decline(request, &self.files)
            && !self.is_for_own_words(request)
        {
            return RequestReading::Say(line);
        }
        if let Some(corrected) = leads::corrected_within(text) {
            return self.understand_alone(&RequestWords::of(&corrected));
        }
        if let Some(reading) =
            self.compare_sizes(request).or_else(|| self.compare_contents(request))
        {
            return reading;
        }
        let Some(tool) = self.likeliest_tool(request) else {
            // A tool of an MCP server may be meant for it.
            return match arithmetic::compute(request) {
                Some(sum) if !self.is_for_unknown_tool(request) => RequestReading::Say(sum),
                _ => RequestReading::Open,
            };
        };
        if class_of_tool(tool).is_some() && is_no_order(request) {
            return RequestReading::Say(crate::talk::stray_line().to_owned());
        }
        if class_of_tool(tool).is_some() && (is_only_talk(request) || is_reported(text)) {
            return RequestReading::Open;
        }
        if tool == "exec_shell"
            && let Some(sum) = arithmetic::compute(request)
        {
            return RequestReading::Say(sum);
        }
        self.keep_declared(self.add_options(self.tool_call(tool, request), request))
    }

    /// Adds the options that the encoder finds and that say nothing about names: how deep, how long, where.
    fn add_options(
        &self,
        understood: RequestReading,
        request: &RequestWords<'_>,
    ) -> RequestReading {
        const OPTIONS: [(&str, &str); 5] = [
            ("fs_list", "depth"),
            ("exec_shell", "cwd"),
            ("exec_shell", "timeout_seconds"),
            ("fs_write", "create_only"),
            ("fs_delete", "recursive"),
        ];
        let RequestReading::Calls(mut calls) = understood else { return understood };
        if let [call] = calls.as_mut_slice() {
            let wanted = OPTIONS.iter().filter(|(tool, _)| *tool == call.tool);
            let wanted: Vec<&str> = wanted.map(|(_, option)| *option).collect();
            if !wanted.is_empty() {
                let found = self.spans(&call.tool, request);
                for (name, value) in found.into_iter().filter(|(n, _)| wanted.contains(&n.as_str()))
                {
                    let path = call.arguments.get("path").and_then(Argument::as_text);
                    let is_file = path.is_some_and(|path| {
                        change::has_extension(path) && self.files.kind_of(path) != Some(true)
                    });
                    if name != "recursive" || !is_file {
                        call.arguments.entry(name).or_insert(value);
                    }
                }
            }
        }
        RequestReading::Calls(calls)
    }

    /// Returns what a request means if this tool is the one.
    pub(crate) fn understand_as(&self, tool: &str, text: &str) -> RequestReading {
        let Some(known) = known_tool(tool) else { return RequestReading::Open };
        let request = RequestWords::of(text);
        if class_of_tool(known).is_some() && (is_only_talk(&request) || is_reported(text)) {
            return RequestReading::Open;
        }
        self.keep_declared(self.tool_call(known, &request))
    }

    /// Shows the sizes of two files that a question compares: "is the guide longer than the FAQ?"
    fn compare_sizes(&self, request: &RequestWords<'_>) -> Option<RequestReading> {
        let compares = request.has_any(&["longer", "bigger", "larger", "smaller", "shorter"])
            && request.has_any(&["than", "or"])
            && self.has_tool("fs_stat");
        let files: Vec<String> = self
            .mentioned_files(request)
            .into_iter()
            .filter(|path| self.files.kind_of(path) == Some(false))
            .collect();
        (compares && files.len() == 2 && !asks_for_change(request)).then(|| {
            let call = |path: &String| PlannedCall::new("fs_stat").text("path", path.clone());
            RequestReading::Calls(files.iter().map(call).collect())
        })
    }

    /// Leaves out arguments that a tool does not have.
    fn keep_declared(&self, understood: RequestReading) -> RequestReading {
        let RequestReading::Calls(mut calls) = understood else { return understood };
        for call in &mut calls {
            if let Some(declaration) = self.declaration(&call.tool) {
                let parameters = read_parameters(declaration);
                call.arguments.retain(|name, _| parameters.iter().any(|known| known.name == *name));
            }
        }
        RequestReading::Calls(calls)
    }

    /// Tells whether the encoder is sure that a request is for a tool or a plan that is worded like writing:
    /// reflections, jobs, plans.
    fn is_for_own_words(&self, request: &RequestWords<'_>) -> bool {
        const LEAST: f32 = 0.8;
        let gist = self.reader.read_gist(request.text);
        let colleagues = self.colleagues.iter().copied();
        let readings = WeightedMeanings::of(self.reader, &gist, self.own, colleagues);
        readings.all.first().is_some_and(|first| {
            let is_own = match first.meaning {
                RequestMeaning::Tool { tool, .. } => {
                    ["reflect_", "observe_", "cron_", "bg_", "workflow_"]
                        .iter()
                        .any(|prefix| tool.name.starts_with(prefix))
                }
                RequestMeaning::Plan => true,
                _ => false,
            };
            is_own && first.probability >= LEAST
        })
    }

    /// Tells whether the encoder takes a request for a tool that it was not trained on.
    fn is_for_unknown_tool(&self, request: &RequestWords<'_>) -> bool {
        let gist = self.reader.read_gist(request.text);
        let colleagues = self.colleagues.iter().copied();
        let readings = WeightedMeanings::of(self.reader, &gist, self.own, colleagues);
        readings.all.first().is_some_and(|first| match first.meaning {
            RequestMeaning::Tool { tool, .. } => {
                self.reader.trained_tools.find(&tool.name).is_none()
            }
            RequestMeaning::Remote(_) => true,
            _ => false,
        })
    }

    /// Returns the name of the tool that the encoder takes the request for, where what is here can
    /// do better than it: tools for files and commands.
    fn likeliest_tool(&self, request: &RequestWords<'_>) -> Option<&'static str> {
        // What the user told is not looked for among files: "name of my cat?"
        if self.is_about_what_was_told(request) {
            return None;
        }
        let gist = self.reader.read_gist(request.text);
        let colleagues = self.colleagues.iter().copied();
        let readings = WeightedMeanings::of(self.reader, &gist, self.own, colleagues);
        let first = readings.all.first()?;
        let name = match &first.meaning {
            RequestMeaning::Tool { tool, .. } => &*tool.name,
            RequestMeaning::Absent(known) => &known.name,
            RequestMeaning::Plan => {
                return tool_of_single_order(request).filter(|tool| self.has_tool(tool));
            }
            _ => return None,
        };
        if let Some(tool) = self.tool_by_words(name, request) {
            return Some(tool);
        }
        let known = known_tool(name).filter(|_| self.has_tool(name))?;
        Some(correct_tool(known, request))
    }

    /// Tells whether a question is about what the user told, and names no file.
    fn is_about_what_was_told(&self, request: &RequestWords<'_>) -> bool {
        if !crate::recall::is_open_question(request.text) || !self.named_files(request).is_empty() {
            return false;
        }
        crate::recall::asks_for_detail_of_user(request.text)
            || crate::recall::store_of_subject(request.text, self.earlier).is_some()
                && self.mentioned_files(request).is_empty()
                && request.has_any(&["my", "our", "i", "we"])
    }

    fn tool_call(&self, tool: &'static str, request: &RequestWords<'_>) -> RequestReading {
        match tool {
            "fs_read" => self.read_call(request),
            "fs_list" => self.list_call(request),
            "fs_stat" => self.stat_call(request),
            "fs_search" => self.search_call(request),
            "fs_find" => self.find_call(request),
            "exec_shell" => self.system_call(request),
            _ => self.change_call(tool, request),
        }
    }

    /// Returns the parts of the request that the encoder takes for arguments of a tool.
    fn spans(&self, tool: &str, request: &RequestWords<'_>) -> BTreeMap<String, Argument> {
        match self.declaration(tool) {
            Some(declaration) => {
                fill_arguments(self.reader, declaration, request.text, &[]).arguments
            }
            None => BTreeMap::new(),
        }
    }

    /// Returns a tool of the agent that is asked or of a colleague.
    fn declaration(&self, tool: &str) -> Option<&'a ToolDeclaration> {
        let colleagues = self.colleagues.iter().flat_map(|colleague| &colleague.tools);
        self.own.iter().chain(colleagues).find(|declaration| *declaration.name == *tool)
    }

    fn has_tool(&self, tool: &str) -> bool {
        self.declaration(tool).is_some()
    }

    fn command_call(&self, command: CommandLine, request: &RequestWords<'_>) -> RequestReading {
        match command {
            CommandLine::Background(command) => {
                RequestReading::call(PlannedCall::new("exec_background").text("command", command))
            }
            CommandLine::Run(command) => match read_file_command(&command, &self.files) {
                Some(file_command) => self.file_command_call(file_command),
                None if request.has_any(&["rm"]) && command.trim() == "rm" => {
                    ask("What should be deleted?")
                }
                None => {
                    RequestReading::call(PlannedCall::new("exec_shell").text("command", command))
                }
            },
        }
    }

    fn file_command_call(&self, command: FileCommand) -> RequestReading {
        let call = match command {
            FileCommand::List(path) => {
                PlannedCall::new("fs_list").text("path", path.unwrap_or_else(|| ".".to_owned()))
            }
            FileCommand::Read(path) => PlannedCall::new("fs_read").text("path", path),
            FileCommand::First(path, count) => PlannedCall::new("fs_read")
                .text("path", path)
                .with("limit", Argument::Integer(count)),
            FileCommand::Last(path, count) => PlannedCall::new("fs_read")
                .text("path", path)
                .with("last", Argument::Integer(count)),
            FileCommand::Move(from, to) => return self.relocate("fs_move", &from, &to, true),
            FileCommand::Copy(from, to) => return self.relocate("fs_copy", &from, &to, true),
            FileCommand::Delete { paths, recursive } => {
                let call = PlannedCall::new("fs_delete").with("path", one_or_several(paths));
                if recursive { call.with("recursive", Argument::Boolean(true)) } else { call }
            }
            FileCommand::MakeDirectory(paths) => {
                let make = |path: String| PlannedCall::new("fs_mkdir").text("path", path);
                return RequestReading::Calls(paths.into_iter().map(make).collect());
            }
            FileCommand::Touch(path) => {
                PlannedCall::new("fs_write").text("path", path).text("content", "")
            }
        };
        RequestReading::call(call)
    }
}

/// Returns the tools that are understood here.
fn known_tool(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 13] = [
        "fs_read",
        "fs_list",
        "fs_stat",
        "fs_search",
        "fs_find",
        "fs_copy",
        "fs_move",
        "fs_delete",
        "fs_append",
        "fs_write",
        "fs_edit",
        "fs_mkdir",
        "exec_shell",
    ];
    KNOWN.into_iter().find(|known| *known == name)
}

/// Tells whether a verb of a change is said.
fn asks_for_change(request: &RequestWords<'_>) -> bool {
    request.has_any(&[
        "delete", "remove", "move", "copy", "rename", "add", "append", "write", "create", "make",
        "set", "change", "replace", "remind", "send", "pay", "store", "save", "encrypt", "sign",
    ])
}

/// Returns one text, or a list of several.
fn one_or_several(mut paths: Vec<String>) -> Argument {
    if paths.len() == 1 { Argument::Text(paths.remove(0)) } else { Argument::List(paths) }
}

/// Lists names for a question.
fn list_names(names: &[String]) -> String {
    let lines: Vec<String> = names.iter().map(|name| format!("- {name}")).collect();
    lines.join("\n")
}
