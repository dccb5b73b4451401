//! From the accessibility tree of a frame to the lines of its outline. Pure.

use std::collections::HashMap;

use serde_json::Value;

use crate::protocol::{AccessibilityNode, AccessibilityTree};

/// Lines made of one frame at most; more are only counted.
const MOST_LINES: usize = 5000;
/// Characters of a name.
const SHOWN: usize = 160;

/// Roles that something can be done with.
const USABLE: [&str; 22] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "checkbox",
    "radio",
    "combobox",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "tab",
    "switch",
    "slider",
    "spinbutton",
    "treeitem",
    "option",
    "DisclosureTriangle",
    "PopUpButton",
    "ColorWell",
    "Date",
    "DateTime",
];
/// Roles that give a page its shape.
const SHAPE: [&str; 19] = [
    "heading",
    "main",
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "form",
    "region",
    "dialog",
    "alertdialog",
    "alert",
    "status",
    "table",
    "grid",
    "list",
    "image",
    "img",
    "tablist",
];
/// Roles whose parts are not shown.
const FIELDS: [&str; 7] =
    ["textbox", "searchbox", "spinbutton", "slider", "Date", "DateTime", "ColorWell"];
/// Roles that hold a run of text.
const BLOCKS: [&str; 9] = [
    "paragraph",
    "listitem",
    "cell",
    "gridcell",
    "columnheader",
    "rowheader",
    "LabelText",
    "blockquote",
    "caption",
];

/// One line of an outline, without the name that it gets when it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) depth: usize,
    pub(super) role: String,
    pub(super) name: String,
    pub(super) states: Vec<String>,
    /// The paragraph, list item or cell that a text is in.
    pub(super) block: String,
    /// Of what can be used.
    pub(super) number: Option<i64>,
}

/// The lines of a frame, from its accessibility tree.
pub(super) fn lines_of(tree: &AccessibilityTree) -> Vec<Line> {
    let by_id: HashMap<&str, &AccessibilityNode> =
        tree.nodes.iter().map(|node| (node.node_id.as_str(), node)).collect();
    let mut lines = Vec::new();
    // Depth first, without recursion: a page may be nested as deeply as it likes.
    let mut open: Vec<Place<'_>> = tree
        .nodes
        .iter()
        .filter(|node| node.parent_id.is_none())
        .map(|node| Place { node, depth: 0, named_by: String::new(), block: String::new() })
        .collect();
    open.reverse();
    while let Some(place) = open.pop() {
        if lines.len() >= MOST_LINES {
            break;
        }
        let node = place.node;
        let line = if node.ignored { None } else { line_of(&place) };
        let Place { depth, mut named_by, mut block, .. } = place;
        let mut below = depth;
        if BLOCKS.contains(&text_of(node.role.as_ref().map(|role| &role.value)).as_str()) {
            block.clone_from(&node.node_id);
        }
        if let Some(line) = line {
            below = (depth + 1).min(8);
            let is_named = line.number.is_some() || line.role == "heading";
            named_by = if is_named { line.name.clone() } else { String::new() };
            add(&mut lines, line);
        }
        let role = text_of(node.role.as_ref().map(|role| &role.value));
        // What is in a field is its value, and shown with it.
        let is_field = FIELDS.contains(&role.as_str());
        for id in node.child_ids.iter().rev().filter(|_| !is_field) {
            if let Some(child) = by_id.get(id.as_str()) {
                let (named_by, block) = (named_by.clone(), block.clone());
                open.push(Place { node: child, depth: below, named_by, block });
            }
        }
    }
    lines
}

/// A node on the way through a tree, and what is above it.
struct Place<'a> {
    node: &'a AccessibilityNode,
    depth: usize,
    /// What the element around it is called.
    named_by: String,
    /// The paragraph, list item or cell around it.
    block: String,
}

/// Adds a line; text that goes on in the same paragraph goes on in the same line.
fn add(lines: &mut Vec<Line>, line: Line) {
    if let Some(last) = lines.last_mut()
        && line.role == "text"
        && last.role == "text"
        && !line.block.is_empty()
        && last.block == line.block
        && last.name.len() < SHOWN
    {
        last.name.push(' ');
        last.name.push_str(&line.name);
        return;
    }
    lines.push(line);
}

fn line_of(place: &Place<'_>) -> Option<Line> {
    let Place { node, depth, named_by, block } = place;
    let role = text_of(node.role.as_ref().map(|role| &role.value));
    let full = text_of(node.name.as_ref().map(|name| &name.value));
    let name: String = squeeze(&full).chars().take(SHOWN).collect();
    let property = |wanted: &str| {
        node.properties.iter().find(|property| property.name == wanted).map(|p| &p.value.value)
    };
    let is_focusable = property("focusable") == Some(&Value::Bool(true));
    let is_usable = USABLE.contains(&role.as_str())
        || (is_focusable && !matches!(role.as_str(), "RootWebArea" | "Iframe" | "none"));
    let is_text = role == "StaticText";
    // Text that the element around it is already called by.
    let is_repeated = is_text && (name.is_empty() || named_by.contains(name.as_str()));
    let is_shape = SHAPE.contains(&role.as_str())
        && (!name.is_empty() || matches!(role.as_str(), "dialog" | "alertdialog" | "form"));
    if is_repeated || !(is_usable || is_shape || is_text) {
        return None;
    }
    let mut states = Vec::new();
    if role == "heading"
        && let Some(level) = property("level").and_then(Value::as_u64)
    {
        states.push(format!("level {level}"));
    }
    for (name, shown) in [
        ("checked", "checked"),
        ("selected", "selected"),
        ("disabled", "disabled"),
        ("expanded", "expanded"),
        ("required", "required"),
        ("pressed", "pressed"),
    ] {
        let value = text_of(property(name));
        if value == "true" || value == "mixed" {
            states.push(shown.to_owned());
        }
    }
    let value: String = squeeze(&text_of(node.value.as_ref().map(|value| &value.value)))
        .chars()
        .take(SHOWN)
        .collect();
    if is_usable && !value.is_empty() && value != name {
        states.push(format!("value {value:?}"));
    }
    let role = match role.as_str() {
        "StaticText" => "text".to_owned(),
        "DisclosureTriangle" => "disclosure".to_owned(),
        _ if is_usable && !USABLE.contains(&role.as_str()) => "clickable".to_owned(),
        _ => role,
    };
    let number = node.backend_node_id.filter(|_| is_usable);
    Some(Line { depth: *depth, role, name, states, block: block.clone(), number })
}

impl Line {
    /// Returns what the line says, where a person would read it as text.
    pub(super) fn words(&self) -> Option<&str> {
        let is_text = matches!(self.role.as_str(), "heading" | "text" | "link");
        Some(self.name.as_str()).filter(|name| is_text && !name.is_empty())
    }

    pub(super) fn shown(&self, reference: Option<&str>) -> String {
        let mut text = format!("{}- {}", "  ".repeat(self.depth), self.role);
        if !self.name.is_empty() {
            text.push_str(&format!(" \"{}\"", self.name));
        }
        for state in &self.states {
            text.push_str(&format!(" ({state})"));
        }
        if let Some(reference) = reference {
            text.push_str(&format!(" [{reference}]"));
        }
        text
    }
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests;
