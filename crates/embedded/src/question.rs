//! Makes the texts that the model reads beside a request: the card of a tool, and the question
//! about a parameter. `training/tool_name_words.py` makes the same ones.

use std::ops::Range;

use lango_tool::ToolDeclaration;

use super::schema::{Parameter, ValueKind, read_parameters};

/// Represents a question about a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParameterQuestion {
    pub(crate) text: String,
    /// The ranges of the choices in it, if there are some.
    pub(crate) choices: Vec<Range<usize>>,
    /// The range of the description, with the text that leads to it.
    description: Range<usize>,
}

impl ParameterQuestion {
    pub(crate) fn about(tool: &str, parameter: &Parameter) -> Self {
        let mut text = format!("{}, {}", as_words(tool), as_words(&parameter.name));
        if matches!(parameter.kind, ValueKind::Integer | ValueKind::Number) {
            text.push_str(", number");
        }
        let named = text.len();
        if !parameter.description.is_empty() {
            text.push_str(": ");
            text.push_str(parameter.description.trim_end_matches('.'));
        }
        let description = named..text.len();
        let yes = ["yes".to_owned()];
        let offered = match &parameter.kind {
            ValueKind::Choice(values) => values.as_slice(),
            ValueKind::Boolean => &yes,
            _ => &[],
        };
        if !offered.is_empty() {
            text.push_str(" ?");
        }
        let mut choices = Vec::new();
        for value in offered {
            text.push(' ');
            let start = text.len();
            text.push_str(&as_words(value));
            choices.push(start..text.len());
        }
        Self { text, choices, description }
    }

    /// Returns the question with its names and choices only.
    pub(crate) fn without_description(&self) -> Self {
        let Range { start, end } = self.description;
        let text = format!("{}{}", &self.text[..start], &self.text[end..]);
        let cut = end - start;
        let choices = self.choices.iter().map(|place| place.start - cut..place.end - cut);
        Self { text, choices: choices.collect(), description: start..start }
    }
}

/// Returns the card of a tool: its name and its description.
pub(crate) fn render_tool_card(tool: &ToolDeclaration) -> String {
    let (server, description) = split_note(&tool.description);
    let mut text = format!("{}: {description}", as_words(remove_server_prefix(&tool.name, server)));
    let names: Vec<String> = read_parameters(tool).iter().map(|p| as_words(&p.name)).collect();
    if !names.is_empty() {
        text.push_str(" (");
        text.push_str(&names.join(", "));
        text.push(')');
    }
    text
}

/// Returns a description without the note about its author, and the server in that note.
fn split_note(description: &str) -> (Option<&str>, &str) {
    match description.strip_prefix("[MCP server ").and_then(|rest| rest.split_once("] ")) {
        Some((server, own)) => (Some(server), own),
        None => (None, description),
    }
}

/// Returns the name that a server gave its tool: the prefix before it says nothing about its
/// purpose.
fn remove_server_prefix<'a>(name: &'a str, server: Option<&str>) -> &'a str {
    let own = server.and_then(|server| name.strip_prefix("mcp_")?.strip_prefix(server));
    own.and_then(|own| own.strip_prefix('_')).unwrap_or(name)
}

/// Returns the tool's name as questions have it.
pub(crate) fn question_name(tool: &ToolDeclaration) -> &str {
    remove_server_prefix(&tool.name, split_note(&tool.description).0)
}

/// Returns the words of the tool's own name.
pub(crate) fn tool_name_words(tool: &ToolDeclaration) -> impl Iterator<Item = &str> {
    question_name(tool).split(['_', '-', '.', ' '])
}

/// Returns a name as words.
pub(crate) fn as_words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}
