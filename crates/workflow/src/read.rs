//! Reads a definition from nodes: which keys there are, and what they mean. What concerns several
//! steps is checked afterwards.

use serde_json::Value;

use crate::check::check_definition;
use crate::definition::{Definition, Input, InputType, MAX_DEFINITION_BYTES, MAX_STEP_COUNT, Step};
use crate::error::{Problem, WorkflowError};
use crate::node::{Key, Node, NodeValue, Position, read_document};
use crate::read_step::{StepPlaces, read_step};
use crate::template::{Template, ValueTemplate};

/// Limits the inputs and the outputs of a workflow.
const MAX_NAME_COUNT: usize = 100;
/// Limits the characters of a name or an id.
const MAX_ID_CHARACTERS: usize = 32;
/// Limits the problems that are reported.
const MAX_PROBLEM_COUNT: usize = 50;

impl Definition {
    /// Reads a definition and checks all of it.
    pub fn parse(text: &str) -> Result<Self, WorkflowError> {
        if text.len() > MAX_DEFINITION_BYTES {
            let reason = format!("the workflow has more than {MAX_DEFINITION_BYTES} bytes");
            let problems = vec![Position::default().problem(reason)];
            return Err(WorkflowError::Invalid { problems });
        }
        let document = read_document(text)
            .map_err(|problem| WorkflowError::Invalid { problems: vec![problem] })?;
        let mut reader = Reader::default();
        let definition = reader.read_definition(&document);
        let mut problems = reader.problems;
        problems.sort();
        problems.dedup();
        problems.truncate(MAX_PROBLEM_COUNT);
        match definition {
            Some(definition) if problems.is_empty() => Ok(definition),
            _ => Err(WorkflowError::Invalid { problems }),
        }
    }
}

/// Collects problems while it reads.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) problems: Vec<Problem>,
}

impl Reader {
    pub(crate) fn report(&mut self, place: Position, reason: impl Into<String>) {
        self.problems.push(place.problem(reason));
    }

    fn read_definition(&mut self, document: &Node) -> Option<Definition> {
        let keys = ["name", "description", "inputs", "steps", "outputs"];
        let entries = self.read_map(document, "a workflow", &keys)?;
        let mut name = None;
        let mut description = String::new();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut steps = None;
        for (key, value) in entries {
            match key.name.as_str() {
                "name" => name = self.read_id(value, "the name of a workflow"),
                "description" => description = self.read_text(value, "description")?,
                "inputs" => inputs = self.read_inputs(value),
                "outputs" => outputs = self.read_outputs(value),
                "steps" => steps = Some(self.read_steps(value)),
                _ => {}
            }
        }
        if !entries.iter().any(|(key, _)| key.name == "name") {
            self.report(document.place, "the workflow has no name. Write: name: my-workflow");
        }
        let Some((steps, places)) = steps else {
            self.report(document.place, "the workflow has no steps. Write: steps: [{ id: … }]");
            return None;
        };
        if steps.is_empty() && self.problems.is_empty() {
            self.report(document.place, "the workflow has no steps");
        }
        let (outputs, output_places): (Vec<_>, Vec<_>) =
            outputs.into_iter().map(|(place, name, value)| ((name, value), place)).unzip();
        let name = name.unwrap_or_default();
        let mut definition = Definition { name, description, inputs, steps, outputs };
        check_definition(self, &mut definition, &places, &output_places);
        Some(definition)
    }

    /// Returns the entries of a mapping, after a look at its keys.
    pub(crate) fn read_map<'a>(
        &mut self,
        node: &'a Node,
        what: &str,
        keys: &[&str],
    ) -> Option<&'a [(Key, Node)]> {
        let NodeValue::Map(entries) = &node.value else {
            let reason = format!("{what} is a mapping of {}, not {}", keys.join(", "), node.kind());
            self.report(node.place, reason);
            return None;
        };
        for (key, _) in entries {
            if !keys.contains(&key.name.as_str()) {
                let nearest = nearest(&key.name, keys);
                let reason = format!("{what} has no key {:?}{nearest}", key.name);
                self.report(key.place, reason);
            }
        }
        Some(entries)
    }

    pub(crate) fn read_text(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = node.as_text().map(str::to_owned);
        if text.is_none() {
            self.report(node.place, format!("{what} must be a text, not {}", node.kind()));
        }
        text
    }

    /// Reads a name that is also a part of other names.
    pub(crate) fn read_id(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = self.read_text(node, what)?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let first = text.starts_with(|c: char| c.is_ascii_alphabetic());
        if first && text.len() <= MAX_ID_CHARACTERS && text.chars().all(allowed) {
            return Some(text);
        }
        let reason = format!(
            "{what} has at most {MAX_ID_CHARACTERS} letters, digits, - or _, and begins with a \
             letter; {:?} does not",
            lango_text::truncate_characters(&text, 60)
        );
        self.report(node.place, reason);
        None
    }

    pub(crate) fn read_template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let text = self.read_text(node, what)?;
        Template::parse(&text).map_err(|reason| self.report(node.place, reason)).ok()
    }

    /// Reads a value with templates in it.
    pub(crate) fn read_value(&mut self, node: &Node) -> ValueTemplate {
        match &node.value {
            NodeValue::Scalar(Value::String(text)) if text.contains("{{") => {
                match Template::parse(text) {
                    Ok(template) => ValueTemplate::Text(template),
                    Err(reason) => {
                        self.report(node.place, reason);
                        ValueTemplate::Literal(Value::Null)
                    }
                }
            }
            NodeValue::Scalar(value) => ValueTemplate::Literal(value.clone()),
            NodeValue::List(items) => {
                ValueTemplate::List(items.iter().map(|item| self.read_value(item)).collect())
            }
            NodeValue::Map(entries) => {
                let entry = |(key, node): &(Key, Node)| (key.name.clone(), self.read_value(node));
                ValueTemplate::Map(entries.iter().map(entry).collect())
            }
        }
    }

    fn read_inputs(&mut self, node: &Node) -> Vec<Input> {
        let NodeValue::Map(entries) = &node.value else {
            let reason = format!("inputs is a mapping of names, not {}", node.kind());
            self.report(node.place, reason);
            return Vec::new();
        };
        if entries.len() > MAX_NAME_COUNT {
            self.report(node.place, format!("there are more than {MAX_NAME_COUNT} inputs"));
            return Vec::new();
        }
        entries.iter().filter_map(|(key, value)| self.read_input(key, value)).collect()
    }

    fn read_input(&mut self, key: &Key, node: &Node) -> Option<Input> {
        let name_node =
            Node { place: key.place, value: NodeValue::Scalar(Value::String(key.name.clone())) };
        let name = self.read_id(&name_node, "the name of an input")?;
        let keys = ["type", "description", "default", "required"];
        let (mut kind, mut description, mut default) = (InputType::String, String::new(), None);
        let mut required = None;
        for (key, value) in self.read_map(node, "an input", &keys)? {
            match key.name.as_str() {
                "type" => {
                    let text = self.read_text(value, "type")?;
                    let Some(found) = InputType::ALL.into_iter().find(|t| t.as_str() == text)
                    else {
                        let names = InputType::ALL.map(InputType::as_str).join(", ");
                        self.report(value.place, format!("type is one of {names}, not {text:?}"));
                        return None;
                    };
                    kind = found;
                }
                "description" => description = self.read_text(value, "description")?,
                "default" => default = Some((value.place, self.read_value(value))),
                "required" => match &value.value {
                    NodeValue::Scalar(Value::Bool(is_required)) => required = Some(*is_required),
                    _ => self.report(value.place, "required is true or false"),
                },
                _ => {}
            }
        }
        let default = match default {
            None => None,
            Some((place, value)) => {
                let value = value.render(&crate::Values::default()).ok()?;
                if !kind.fits(&value) {
                    let reason =
                        format!("the default {value} of {name} is not a {}", kind.as_str());
                    self.report(place, reason);
                }
                Some(value)
            }
        };
        let required = required.unwrap_or(default.is_none());
        Some(Input { name, description, kind, default, required })
    }

    fn read_outputs(&mut self, node: &Node) -> Vec<(Position, String, ValueTemplate)> {
        let NodeValue::Map(entries) = &node.value else {
            let reason = format!("outputs is a mapping of names, not {}", node.kind());
            self.report(node.place, reason);
            return Vec::new();
        };
        if entries.len() > MAX_NAME_COUNT {
            self.report(node.place, format!("there are more than {MAX_NAME_COUNT} outputs"));
            return Vec::new();
        }
        let output =
            |(key, value): &(Key, Node)| (value.place, key.name.clone(), self.read_value(value));
        entries.iter().map(output).collect()
    }

    fn read_steps(&mut self, node: &Node) -> (Vec<Step>, Vec<StepPlaces>) {
        let NodeValue::List(items) = &node.value else {
            self.report(node.place, format!("steps is a list, not {}", node.kind()));
            return (Vec::new(), Vec::new());
        };
        if items.len() > MAX_STEP_COUNT {
            let reason = format!(
                "there are {} steps, and at most {MAX_STEP_COUNT} are allowed",
                items.len()
            );
            self.report(node.place, reason);
            return (Vec::new(), Vec::new());
        }
        items.iter().filter_map(|item| read_step(self, item)).unzip()
    }
}

/// Returns a hint at the name that was probably meant.
pub(crate) fn nearest(given: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(given, name), name))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, name)) => format!(". Did you mean {name:?}?"),
        None if known.len() <= 20 => format!(". There are: {}", known.join(", ")),
        None => String::new(),
    }
}
