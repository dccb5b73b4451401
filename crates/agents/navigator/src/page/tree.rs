//! Converts the accessibility tree of a frame to the lines of its outline. It is pure.

use std::collections::HashMap;

use lango_text::{to_single_spaced, truncate_characters};
use serde_json::Value;

use crate::protocol::{AccessibilityNode, AccessibilityTree};

/// Limits how many lines are built for one frame; more are only counted.
const MAX_LINE_COUNT: usize = 5000;
/// Limits how many characters of a name are shown.
const MAX_NAME_CHARACTERS: usize = 160;

/// Lists the roles of usable elements.
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
/// Lists the roles that structure a page.
const STRUCTURAL: [&str; 19] = [
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
/// Lists the roles whose parts are not shown.
const FIELDS: [&str; 7] =
    ["textbox", "searchbox", "spinbutton", "slider", "Date", "DateTime", "ColorWell"];
/// Lists the roles that hold a run of text.
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

/// Holds one line of an outline, without the reference that it gets when it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreeLine {
    pub(super) depth: usize,
    pub(super) role: String,
    pub(super) name: String,
    pub(super) states: Vec<String>,
    /// The paragraph, list item or cell that a text is in.
    pub(super) block: String,
    /// The node number of a usable element.
    pub(super) number: Option<i64>,
    /// The address that a link leads to.
    pub(super) target: Option<String>,
}

/// Returns the lines of a frame, from its accessibility tree.
pub(super) fn build_lines(tree: &AccessibilityTree) -> Vec<TreeLine> {
    let by_id: HashMap<&str, &AccessibilityNode> =
        tree.nodes.iter().map(|node| (node.node_id.as_str(), node)).collect();
    let mut lines = Vec::new();
    // It walks depth first, without recursion: a page may be nested to any depth.
    let mut open: Vec<OpenNode<'_>> = tree
        .nodes
        .iter()
        .filter(|node| node.parent_id.is_none())
        .map(|node| OpenNode { node, depth: 0, named_by: String::new(), block: String::new() })
        .collect();
    open.reverse();
    while let Some(open_node) = open.pop() {
        if lines.len() >= MAX_LINE_COUNT {
            break;
        }
        let node = open_node.node;
        let line = if node.ignored { None } else { build_line(&open_node) };
        let OpenNode { depth, mut named_by, mut block, .. } = open_node;
        let mut below = depth;
        if BLOCKS.contains(&text_of(node.role.as_ref().map(|role| &role.value)).as_str()) {
            block.clone_from(&node.node_id);
        }
        if let Some(line) = line {
            below = (depth + 1).min(8);
            let is_named = line.number.is_some() || line.role == "heading";
            named_by = if is_named { line.name.clone() } else { String::new() };
            add_line(&mut lines, line);
        }
        let role = text_of(node.role.as_ref().map(|role| &role.value));
        // The content of a field is its value, which is shown with it.
        let is_field = FIELDS.contains(&role.as_str());
        for id in node.child_ids.iter().rev().filter(|_| !is_field) {
            if let Some(child) = by_id.get(id.as_str()) {
                let (named_by, block) = (named_by.clone(), block.clone());
                open.push(OpenNode { node: child, depth: below, named_by, block });
            }
        }
    }
    lines
}

/// Holds a node during the walk through a tree, and its context.
struct OpenNode<'a> {
    node: &'a AccessibilityNode,
    depth: usize,
    /// The name of the element around it.
    named_by: String,
    /// The paragraph, list item or cell around it.
    block: String,
}

/// Adds a line; text that continues the same paragraph continues the same line.
fn add_line(lines: &mut Vec<TreeLine>, line: TreeLine) {
    if let Some(last) = lines.last_mut()
        && line.role == "text"
        && last.role == "text"
        && !line.block.is_empty()
        && last.block == line.block
        && last.name.len() < MAX_NAME_CHARACTERS
    {
        last.name.push(' ');
        last.name.push_str(&line.name);
        return;
    }
    lines.push(line);
}

fn build_line(open_node: &OpenNode<'_>) -> Option<TreeLine> {
    let OpenNode { node, depth, named_by, block } = open_node;
    let role = text_of(node.role.as_ref().map(|role| &role.value));
    let full = text_of(node.name.as_ref().map(|name| &name.value));
    let name = to_single_spaced(&full);
    let name = truncate_characters(&name, MAX_NAME_CHARACTERS).to_owned();
    let property = |wanted: &str| {
        node.properties.iter().find(|property| property.name == wanted).map(|p| &p.value.value)
    };
    let is_focusable = property("focusable") == Some(&Value::Bool(true));
    let is_usable = USABLE.contains(&role.as_str())
        || (is_focusable && !matches!(role.as_str(), "RootWebArea" | "Iframe" | "none"));
    let is_text = role == "StaticText";
    // The element around it is already named by this text.
    let is_repeated = is_text && (name.is_empty() || named_by.contains(name.as_str()));
    let is_shape = STRUCTURAL.contains(&role.as_str())
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
    let value: String = to_single_spaced(&text_of(node.value.as_ref().map(|value| &value.value)))
        .chars()
        .take(MAX_NAME_CHARACTERS)
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
    let target = Some(text_of(property("url"))).filter(|url| is_usable && !url.is_empty());
    Some(TreeLine { depth: *depth, role, name, states, block: block.clone(), number, target })
}

impl TreeLine {
    /// Returns what the line says, if a user would read it as text.
    pub(super) fn words(&self) -> Option<&str> {
        let is_text = matches!(self.role.as_str(), "heading" | "text" | "link");
        Some(self.name.as_str()).filter(|name| is_text && !name.is_empty())
    }

    pub(super) fn render_line(&self, reference: Option<&str>) -> String {
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

#[cfg(test)]
mod tests;
