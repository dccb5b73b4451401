//! Reads one step.

use serde_json::Value;

use crate::condition::Condition;
use crate::definition::{Action, FailureRule, Retry, Step};
use crate::duration::parse_duration;
use crate::node::{Key, Node, NodeValue, Position};
use crate::read::Reader;
use crate::template::{Template, ValueTemplate};

/// Limits the attempts of a step.
const MAX_ATTEMPT_COUNT: u32 = 20;

/// The keys of a step.
const KEYS: [&str; 12] = [
    "id",
    "agent",
    "task",
    "tool",
    "arguments",
    "needs",
    "when",
    "for_each",
    "retry",
    "timeout",
    "approve",
    "on_failure",
];

/// Where the parts of a step are, and the names of other steps that are not looked up yet.
pub(crate) struct StepPlaces {
    pub(crate) place: Position,
    pub(crate) needs: Vec<(Position, String)>,
    pub(crate) handler: Option<(Position, String)>,
    /// The places of the parts with templates, by key.
    pub(crate) parts: Vec<(&'static str, Position)>,
}

impl StepPlaces {
    /// Returns the place of a part, or of the step.
    pub(crate) fn of(&self, part: &str) -> Position {
        let found = self.parts.iter().find(|(name, _)| *name == part);
        found.map_or(self.place, |(_, place)| *place)
    }
}

#[derive(Default)]
struct StepParts {
    agent: Option<String>,
    task: Option<Template>,
    tool: Option<String>,
    arguments: Option<ValueTemplate>,
    has_task: bool,
    has_tool: bool,
}

pub(crate) fn read_step(reader: &mut Reader, node: &Node) -> Option<(Step, StepPlaces)> {
    let entries = reader.read_map(node, "a step", &KEYS)?;
    let Some((_, id)) = entries.iter().find(|(key, _)| key.name == "id") else {
        reader.report(node.place, "the step has no id. Write: id: fetch");
        return None;
    };
    let id_place = id.place;
    let id = reader.read_id(id, "the id of a step")?;
    let mut places =
        StepPlaces { place: id_place, needs: Vec::new(), handler: None, parts: Vec::new() };
    let mut parts = StepParts::default();
    let mut step = Step {
        id,
        action: Action::Approval,
        needs: Vec::new(),
        when: None,
        for_each: None,
        retry: Retry::ONCE,
        timeout: None,
        approve: None,
        on_failure: FailureRule::Stop,
        is_handler: false,
        line: node.place.line,
    };
    for (key, value) in entries {
        if let Some(known) = KEYS.into_iter().find(|known| *known == key.name) {
            places.parts.push((known, value.place));
            read_part(reader, known, value, &mut step, &mut parts, &mut places);
        }
    }
    step.action = choose_action(reader, parts, &step, node.place)?;
    Some((step, places))
}

fn read_part(
    reader: &mut Reader,
    key: &str,
    value: &Node,
    step: &mut Step,
    parts: &mut StepParts,
    places: &mut StepPlaces,
) {
    match key {
        "agent" => parts.agent = reader.read_id(value, "the name of an agent"),
        "task" => {
            parts.has_task = true;
            parts.task = reader.read_template(value, "task");
            if parts.task.is_some() && value.as_text().is_some_and(|text| text.trim().is_empty()) {
                reader.report(value.place, "the task is empty. Say what to do");
            }
        }
        "tool" => {
            parts.has_tool = true;
            parts.tool = reader.read_text(value, "tool");
        }
        "arguments" => {
            if !matches!(value.value, NodeValue::Map(_)) {
                let reason = format!("arguments is a mapping of names, not {}", value.kind());
                reader.report(value.place, reason);
            }
            parts.arguments = Some(reader.read_value(value));
        }
        "needs" => places.needs = read_needs(reader, value),
        "when" => step.when = read_condition(reader, value),
        "for_each" => step.for_each = read_items(reader, value),
        "retry" => step.retry = read_retry(reader, value).unwrap_or(Retry::ONCE),
        "timeout" => {
            let text = reader.read_text(value, "timeout");
            step.timeout = text.and_then(|text| {
                parse_duration(&text).map_err(|reason| reader.report(value.place, reason)).ok()
            });
        }
        "approve" => step.approve = reader.read_template(value, "approve"),
        "on_failure" => step.on_failure = read_failure_rule(reader, value, places),
        _ => {}
    }
}

fn choose_action(
    reader: &mut Reader,
    parts: StepParts,
    step: &Step,
    place: Position,
) -> Option<Action> {
    let id = &step.id;
    if parts.has_task && parts.has_tool {
        reader.report(place, format!("the step {id} has both task and tool. Make it two steps"));
        return None;
    }
    if parts.has_tool {
        if parts.agent.is_some() {
            let reason = format!(
                "the step {id} has agent and tool. The agent of a tool is the one that owns it; \
                 leave agent out"
            );
            reader.report(place, reason);
        }
        let empty = ValueTemplate::Map(Vec::new());
        let arguments = parts.arguments.unwrap_or(empty);
        return Some(Action::Call { tool: parts.tool?, arguments });
    }
    if parts.arguments.is_some() {
        reader.report(place, format!("the step {id} has arguments and no tool"));
    }
    if parts.has_task {
        return Some(Action::Task { agent: parts.agent, task: parts.task? });
    }
    if parts.agent.is_some() {
        reader.report(place, format!("the step {id} has an agent and no task"));
        return None;
    }
    if step.approve.is_none() {
        let reason = format!("the step {id} does nothing. Give it task, tool or approve");
        reader.report(place, reason);
        return None;
    }
    Some(Action::Approval)
}

fn read_needs(reader: &mut Reader, node: &Node) -> Vec<(Position, String)> {
    match &node.value {
        NodeValue::Scalar(Value::String(id)) => vec![(node.place, id.clone())],
        NodeValue::List(items) => {
            let id = |item: &Node| {
                let text = reader.read_text(item, "an id in needs")?;
                Some((item.place, text))
            };
            items.iter().filter_map(id).collect()
        }
        _ => {
            let reason = format!("needs is a list of ids of steps, not {}", node.kind());
            reader.report(node.place, reason);
            Vec::new()
        }
    }
}

fn read_condition(reader: &mut Reader, node: &Node) -> Option<Condition> {
    if let NodeValue::Scalar(Value::Bool(value)) = node.value {
        return Some(Condition::constant(value));
    }
    let text = reader.read_text(node, "when")?;
    Condition::parse(&text).map_err(|reason| reader.report(node.place, reason)).ok()
}

fn read_items(reader: &mut Reader, node: &Node) -> Option<ValueTemplate> {
    let is_template = node.as_text().is_some_and(|text| {
        text.starts_with("{{") && text.ends_with("}}") && text.matches("{{").count() == 1
    });
    if !is_template && !matches!(node.value, NodeValue::List(_)) {
        let reason = "for_each is a list, or one template that is a list";
        reader.report(node.place, reason);
        return None;
    }
    Some(reader.read_value(node))
}

fn read_retry(reader: &mut Reader, node: &Node) -> Option<Retry> {
    let mut retry = Retry::ONCE;
    for (key, value) in reader.read_map(node, "retry", &["attempts", "backoff"])? {
        match key.name.as_str() {
            "attempts" => {
                let given = match &value.value {
                    NodeValue::Scalar(value) => value.as_u64(),
                    _ => None,
                };
                let attempts = given.and_then(|given| u32::try_from(given).ok());
                let attempts = attempts.filter(|given| (1..=MAX_ATTEMPT_COUNT).contains(given));
                if let Some(attempts) = attempts {
                    retry.attempts = attempts;
                } else {
                    let reason = format!("attempts is a number from 1 to {MAX_ATTEMPT_COUNT}");
                    reader.report(value.place, reason);
                }
            }
            "backoff" => {
                let text = reader.read_text(value, "backoff")?;
                match parse_duration(&text) {
                    Ok(backoff) => retry.backoff = backoff,
                    Err(reason) => reader.report(value.place, reason),
                }
            }
            _ => {}
        }
    }
    Some(retry)
}

fn read_failure_rule(reader: &mut Reader, node: &Node, places: &mut StepPlaces) -> FailureRule {
    let wrong = "on_failure is stop, continue, or { run: STEP }";
    match &node.value {
        NodeValue::Scalar(Value::String(word)) if word == "stop" => FailureRule::Stop,
        NodeValue::Scalar(Value::String(word)) if word == "continue" => FailureRule::Continue,
        NodeValue::Map(entries) => {
            if let [(Key { name, .. }, step)] = entries.as_slice()
                && name == "run"
                && let Some(id) = reader.read_text(step, "run")
            {
                places.handler = Some((step.place, id));
            } else {
                reader.report(node.place, wrong);
            }
            FailureRule::Stop
        }
        _ => {
            reader.report(node.place, wrong);
            FailureRule::Stop
        }
    }
}
