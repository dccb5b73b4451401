//! Templates: texts and values with `{{ … }}` in them, which are replaced when a step runs.
//!
//! Every name is checked when the definition is read. A template that is all of a value keeps the type
//! of what it names.

mod reference;
mod token;
mod values;

use serde_json::{Map, Value};

pub(crate) use reference::{Operand, Reference};
pub(crate) use token::{Token, tokenize};
pub use values::{StepResult, Values};

use crate::WorkflowError;
use crate::definition::{Action, Step};

/// Limits the bytes of a text that a template makes.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// A text with places in it that are replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Operand(Operand),
}

/// A message made of a template. Words of other steps are kept apart from those of the author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedMessage {
    /// The words of the author.
    pub text: String,
    /// The words of other steps, each under its name.
    pub attachment: Option<String>,
}

impl Template {
    /// Reads a text. The error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, from) = rest.split_at(start);
            let inner = &from[2..];
            let Some(end) = inner.find("}}") else {
                return Err("a template is not closed: write }} after it".to_owned());
            };
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Operand(Operand::parse(&inner[..end])?));
            rest = &inner[end + 2..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.parts.iter().filter_map(|part| match part {
            Part::Operand(operand) => Some(operand),
            Part::Text(_) => None,
        })
    }

    pub(crate) fn list_references(&self) -> Vec<&Reference> {
        self.operands().filter_map(Operand::reference).collect()
    }

    /// Returns the text as it was written.
    pub fn source(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Operand(operand) => format!("{{{{ {operand} }}}}"),
        };
        self.parts.iter().map(part).collect()
    }

    /// Returns the value: that of the one template it consists of, or a text.
    pub fn render_value(&self, values: &Values) -> Result<Value, WorkflowError> {
        if let [Part::Operand(operand)] = self.parts.as_slice() {
            return operand.evaluate(values);
        }
        self.render_text(values).map(Value::String)
    }

    /// Returns the text.
    pub fn render_text(&self, values: &Values) -> Result<String, WorkflowError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(own) => text.push_str(own),
                Part::Operand(operand) => text.push_str(&to_text(operand, values)?),
            }
            check_size(text.len())?;
        }
        Ok(text)
    }

    /// Returns the message of a task. What other steps returned goes into the attachment, so that it
    /// does not pass for the words of the user.
    pub fn render_message(
        &self,
        values: &Values,
        has_foreign_item: bool,
    ) -> Result<RenderedMessage, WorkflowError> {
        let mut message = RenderedMessage::default();
        let mut attached: Vec<(String, String)> = Vec::new();
        for part in &self.parts {
            let operand = match part {
                Part::Text(own) => {
                    message.text.push_str(own);
                    continue;
                }
                Part::Operand(operand) => operand,
            };
            let shown = to_text(operand, values)?;
            let is_foreign = operand.reference().is_some_and(|reference| {
                reference.step().is_some() || (has_foreign_item && reference.is_item())
            });
            let value = operand.evaluate(values)?;
            if !is_foreign || value.is_boolean() || value.is_number() {
                message.text.push_str(&shown);
                continue;
            }
            let name = operand.to_string();
            message.text.push_str(&format!("[see {name:?} in the attachment]"));
            if !attached.iter().any(|(known, _)| *known == name) {
                attached.push((name, shown));
            }
        }
        let size = attached.iter().map(|(_, text)| text.len()).sum::<usize>();
        check_size(message.text.len().saturating_add(size))?;
        if !attached.is_empty() {
            let blocks = attached.into_iter().map(|(name, text)| format!("# {name}\n\n{text}"));
            message.attachment = Some(blocks.collect::<Vec<_>>().join("\n\n"));
        }
        Ok(message)
    }
}

fn check_size(bytes: usize) -> Result<(), WorkflowError> {
    if bytes > MAX_TEXT_BYTES {
        let reason = format!("a text becomes longer than {MAX_TEXT_BYTES} bytes");
        return Err(WorkflowError::Value(reason));
    }
    Ok(())
}

fn to_text(operand: &Operand, values: &Values) -> Result<String, WorkflowError> {
    match operand.evaluate(values)? {
        Value::Null => {
            let reason = format!("{operand} has no value, and is used in a text");
            Err(WorkflowError::Value(reason))
        }
        Value::String(text) => Ok(text),
        other => Ok(other.to_string()),
    }
}

/// A value with templates in it.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueTemplate {
    /// A value without templates.
    Literal(Value),
    /// A text.
    Text(Template),
    /// A list.
    List(Vec<ValueTemplate>),
    /// A mapping.
    Map(Vec<(String, ValueTemplate)>),
}

impl ValueTemplate {
    /// Returns the value.
    pub fn render(&self, values: &Values) -> Result<Value, WorkflowError> {
        Ok(match self {
            Self::Literal(value) => value.clone(),
            Self::Text(template) => template.render_value(values)?,
            Self::List(items) => Value::Array(
                items.iter().map(|item| item.render(values)).collect::<Result<_, _>>()?,
            ),
            Self::Map(entries) => {
                let mut map = Map::new();
                for (name, value) in entries {
                    map.insert(name.clone(), value.render(values)?);
                }
                Value::Object(map)
            }
        })
    }

    pub(crate) fn list_references(&self) -> Vec<&Reference> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Text(template) => template.list_references(),
            Self::List(items) => items.iter().flat_map(Self::list_references).collect(),
            Self::Map(entries) => {
                entries.iter().flat_map(|(_, value)| value.list_references()).collect()
            }
        }
    }

    /// Returns the steps whose results it uses.
    pub fn list_used_steps(&self) -> Vec<&str> {
        self.list_references().into_iter().filter_map(Reference::step).collect()
    }
}

impl Step {
    /// Returns everything that its templates name.
    pub(crate) fn list_references(&self) -> Vec<&Reference> {
        let mut all = match &self.action {
            Action::Task { task, .. } => task.list_references(),
            Action::Call { arguments, .. } => arguments.list_references(),
            Action::Approval => Vec::new(),
        };
        all.extend(self.approve.iter().flat_map(Template::list_references));
        all.extend(self.for_each.iter().flat_map(ValueTemplate::list_references));
        all.extend(self.when.iter().flat_map(|when| when.list_references()));
        all
    }

    /// Returns what is decided before its items are known.
    pub(crate) fn list_item_free_references(&self) -> Vec<&Reference> {
        let mut all: Vec<&Reference> =
            self.approve.iter().flat_map(Template::list_references).collect();
        all.extend(self.for_each.iter().flat_map(ValueTemplate::list_references));
        all.extend(self.when.iter().flat_map(|when| when.list_references()));
        all
    }
}
