//! Draws a workflow: for a terminal, and as SVG.

use lango_text::{make_visible, plural, to_one_line};

use crate::check::order_steps;
use crate::definition::{Action, Definition, FailureRule, Step};

/// Limits the characters of a label.
const MAX_LABEL_CHARACTERS: usize = 44;
/// The size of a step in a drawing, and the distance between two.
const NODE_SIZE: (usize, usize) = (190, 46);
const NODE_DISTANCE: (usize, usize) = (70, 22);
const MARGIN: usize = 16;

/// Returns the steps by level: each step is one level after the last one that it needs.
fn order_levels(definition: &Definition) -> Vec<Vec<usize>> {
    let mut level_of = vec![0; definition.steps.len()];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    // A handler comes after the steps whose failure it handles.
    let (handlers, others): (Vec<usize>, Vec<usize>) =
        order_steps(definition).into_iter().partition(|step| definition.steps[*step].is_handler);
    for step in others.into_iter().chain(handlers) {
        let needs = definition.steps[step].needs.iter();
        let mut level = needs.map(|need| level_of[*need] + 1).max().unwrap_or(0);
        if definition.steps[step].is_handler {
            let failing = definition.steps.iter().enumerate().filter(
                |(_, other)| matches!(other.on_failure, FailureRule::Run(handler) if handler == step),
            );
            level = failing.map(|(other, _)| level_of[other] + 1).max().unwrap_or(0);
        }
        level_of[step] = level;
        while levels.len() <= level {
            levels.push(Vec::new());
        }
        levels[level].push(step);
    }
    for level in &mut levels {
        level.sort_unstable();
    }
    levels
}

/// Describes what a step does in a few words.
fn describe(step: &Step) -> String {
    let action = match &step.action {
        Action::Task { agent: Some(agent), task } => format!("{agent}: {}", task.source()),
        Action::Task { agent: None, task } => task.source(),
        Action::Call { tool, .. } => format!("tool {tool}"),
        Action::Approval => "asks a person".to_owned(),
    };
    make_visible(&to_one_line(&action, MAX_LABEL_CHARACTERS))
}

fn list_marks(step: &Step) -> Vec<&'static str> {
    let marks = [
        (step.for_each.is_some(), "for each"),
        (step.when.is_some(), "when"),
        (step.approve.is_some() && step.action != Action::Approval, "asks first"),
        (step.retry.attempts > 1, "retries"),
        (step.timeout.is_some(), "timeout"),
        (step.is_handler, "on failure"),
    ];
    marks.into_iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| mark).collect()
}

/// Draws a workflow for a terminal: the steps level by level, those of a level beside each other in
/// time.
pub fn draw_text(definition: &Definition) -> String {
    let steps = plural(definition.steps.len(), "step", "steps");
    let mut text = format!("{}: {steps}\n", definition.name);
    let width = definition.steps.iter().map(|step| step.id.len()).max().unwrap_or(0);
    let levels = order_levels(definition);
    for (number, level) in levels.iter().enumerate() {
        text.push_str(if number == 0 { "\n" } else { "  │\n" });
        for (position, step) in level.iter().enumerate() {
            let step = &definition.steps[*step];
            let branch = match (level.len(), position) {
                (1, _) => "──",
                (_, 0) => "┬─",
                (count, position) if position + 1 == count => "└─",
                _ => "├─",
            };
            let trunk = if position == 0 { "  ├" } else { "   " };
            let marks = list_marks(step);
            let marks =
                if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
            let needs: Vec<&str> =
                step.needs.iter().map(|need| definition.steps[*need].id.as_str()).collect();
            let needs = if needs.is_empty() {
                String::new()
            } else {
                format!("  ← {}", needs.join(", "))
            };
            let description = describe(step);
            text.push_str(&format!(
                "{trunk}{branch} {:<width$}  {description}{marks}{needs}\n",
                step.id
            ));
        }
    }
    text
}

/// Draws a workflow as SVG: a column for each level, and a line from each step to those that need it.
pub fn draw_svg(definition: &Definition) -> String {
    let levels = order_levels(definition);
    let rows = levels.iter().map(Vec::len).max().unwrap_or(0);
    let mut places = vec![(0, 0); definition.steps.len()];
    for (column, level) in levels.iter().enumerate() {
        for (row, step) in level.iter().enumerate() {
            places[*step] = (
                MARGIN + column * (NODE_SIZE.0 + NODE_DISTANCE.0),
                MARGIN + row * (NODE_SIZE.1 + NODE_DISTANCE.1),
            );
        }
    }
    let width = 2 * MARGIN + levels.len() * (NODE_SIZE.0 + NODE_DISTANCE.0)
        - NODE_DISTANCE.0.min(levels.len() * NODE_DISTANCE.0);
    let height = 2 * MARGIN + rows * (NODE_SIZE.1 + NODE_DISTANCE.1)
        - NODE_DISTANCE.1.min(rows * NODE_DISTANCE.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        escape(&definition.name)
    );
    for (position, step) in definition.steps.iter().enumerate() {
        for need in &step.needs {
            svg.push_str(&draw_line(places[*need], places[position], "#555", ""));
        }
        if let FailureRule::Run(handler) = step.on_failure {
            let dashes = " stroke-dasharray=\"5 4\"";
            svg.push_str(&draw_line(places[position], places[handler], "#b00", dashes));
        }
    }
    for (step, (x, y)) in definition.steps.iter().zip(&places) {
        let (stroke, fill) = match &step.action {
            Action::Task { .. } => ("#2a6", "#eef9f1"),
            Action::Call { .. } => ("#26a", "#eef4fb"),
            Action::Approval => ("#a62", "#fbf3e8"),
        };
        let (middle, first, second) = (x + NODE_SIZE.0 / 2, y + 19, y + 35);
        let label = escape(&to_one_line(&describe(step), 30));
        let marks = list_marks(step).join(", ");
        svg.push_str(&format!(
            "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"6\" \
             fill=\"{fill}\" stroke=\"{stroke}\"/>\
             <text x=\"{middle}\" y=\"{first}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\
             <text x=\"{middle}\" y=\"{second}\" text-anchor=\"middle\" fill=\"#444\">{label}</text>\
             </g>\n",
            escape(&marks),
            NODE_SIZE.0,
            NODE_SIZE.1,
            escape(&step.id),
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_line(from: (usize, usize), to: (usize, usize), color: &str, more: &str) -> String {
    let (x1, y1) = (from.0 + NODE_SIZE.0, from.1 + NODE_SIZE.1 / 2);
    let (x2, y2) = (to.0, to.1 + NODE_SIZE.1 / 2);
    let middle = usize::midpoint(x1, x2);
    format!(
        "<path d=\"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}\" fill=\"none\" \
         stroke=\"{color}\"{more}/>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
