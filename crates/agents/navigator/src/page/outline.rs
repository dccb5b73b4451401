//! The outline of a page: what a person who cannot see it would be told, and what can be used.

use std::collections::HashMap;

use lango_protocol::SessionId;
use serde::Deserialize;
use serde_json::Value;

use super::references::{Reference, References};
use super::sensitivity::{Sensitivity, names_a_payment};
use crate::browser::{Browser, FrameReference};
use crate::error::NavigatorError;
use crate::protocol::{AccessibilityNode, AccessibilityTree, CallError, GetFullTree};

/// Lines made of one frame at most; more are only counted.
const MOST_LINES: usize = 5000;
/// Characters of a name.
const SHOWN: usize = 160;
/// Documents larger than this are shown by their usable elements alone: their whole tree would be
/// larger than what is taken from the browser.
const MOST_NODES: u64 = 20_000;
const MOST_TEXT: u64 = 2_000_000;
/// Elements shown of such a document.
const MOST_USABLE: usize = 400;

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
struct Line {
    depth: usize,
    role: String,
    name: String,
    states: Vec<String>,
    /// The paragraph, list item or cell that a text is in.
    block: String,
    /// Of what can be used.
    number: Option<i64>,
}

/// The outline of all frames of a page.
pub(crate) struct Outline {
    lines: Vec<String>,
}

#[derive(Deserialize)]
struct Measure {
    nodes: u64,
    text: u64,
    longest: u64,
}

impl Outline {
    /// Looks at the current page.
    pub(crate) async fn of(
        browser: &Browser,
        references: &References,
        session: &SessionId,
        generation: u64,
    ) -> Result<Self, NavigatorError> {
        let page = browser.tab()?.url;
        let mut lines = Vec::new();
        let frames = browser.frames().await?;
        let mut found = Vec::new();
        let mut card_in_frame = false;
        for frame in frames {
            let looked = look(browser, &frame).await;
            let (frame_lines, sensitive) = match looked {
                // A frame that goes or hangs does not take the page with it.
                Err(_) if !frame.is_main && !browser.is_gone() => {
                    lines.push(format!(
                        "(the frame {} cannot be read)",
                        super::place_of(&frame.url)
                    ));
                    continue;
                }
                other => other?,
            };
            card_in_frame |= !frame.is_main && !sensitive.is_empty();
            found.push((frame, frame_lines, sensitive));
        }
        for (frame, frame_lines, sensitive) in found {
            if !frame.is_main && !frame_lines.is_empty() {
                lines.push(format!("frame {}:", super::place_of(&frame.url)));
            }
            for line in frame_lines {
                let own = line.number.and_then(|number| sensitive.get(&number).cloned());
                let is_button = matches!(line.role.as_str(), "button" | "link" | "PopUpButton");
                let sensitivity = match own {
                    Some(sensitivity) => sensitivity,
                    None if is_button && names_a_payment(&line.name) => {
                        Sensitivity::Form("a payment, going by its name".to_owned())
                    }
                    None if line.role == "button" && card_in_frame => {
                        Sensitivity::Form("a page with a field for secrets in a frame".to_owned())
                    }
                    None => Sensitivity::None,
                };
                let name = line.number.map(|number| {
                    references.name(Reference {
                        session: session.clone(),
                        browser: generation,
                        frame: frame.clone(),
                        number,
                        role: line.role.clone(),
                        name: line.name.clone(),
                        page: page.clone(),
                        sensitivity,
                    })
                });
                lines.push(line.shown(name.as_deref()));
            }
        }
        Ok(Self { lines })
    }

    /// A part of it, and how many lines come after.
    pub(crate) fn part(&self, offset: usize, limit: usize) -> (String, usize) {
        let begin = offset.min(self.lines.len());
        let end = begin.saturating_add(limit).min(self.lines.len());
        (self.lines[begin..end].join("\n"), self.lines.len() - end)
    }
}

async fn look(
    browser: &Browser,
    frame: &FrameReference,
) -> Result<(Vec<Line>, HashMap<i64, Sensitivity>), NavigatorError> {
    let measure: Measure = browser.ask_frame(frame, "measure", Vec::new()).await?;
    let is_large =
        measure.nodes > MOST_NODES || measure.text > MOST_TEXT || measure.longest > MOST_TEXT;
    let lines = if is_large {
        usable(browser, frame).await?
    } else {
        let command = GetFullTree { frame_id: frame.frame.clone() };
        match browser.tell_within(&frame.session, command, browser.timeout()).await {
            Ok(tree) => lines_of(&tree),
            Err(NavigatorError::Call(CallError::TooLong)) => usable(browser, frame).await?,
            Err(error) => return Err(error),
        }
    };
    let sensitive = browser.find_elements(frame, "sensitive", Vec::new()).await?;
    let sensitive = sensitive.into_iter().map(|(n, words)| (n, Sensitivity::read(&words)));
    Ok((lines, sensitive.collect()))
}

/// The outline of a document whose tree is too large.
async fn usable(browser: &Browser, frame: &FrameReference) -> Result<Vec<Line>, NavigatorError> {
    let limit = Value::from(MOST_USABLE);
    let elements = browser.find_elements(frame, "usable", vec![limit]).await?;
    let line = |(number, words): (i64, String)| {
        let (role, name) = words.split_once(':').unwrap_or(("button", ""));
        let is_heading = role == "heading";
        Line {
            depth: 0,
            role: role.to_owned(),
            name: name.to_owned(),
            states: Vec::new(),
            block: String::new(),
            number: (!is_heading).then_some(number),
        }
    };
    Ok(elements.into_iter().map(line).collect())
}

/// The lines of a frame, from its accessibility tree.
fn lines_of(tree: &AccessibilityTree) -> Vec<Line> {
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
    fn shown(&self, reference: Option<&str>) -> String {
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
mod tests {
    use serde_json::json;

    use super::*;

    fn outline(nodes: &Value) -> Vec<String> {
        let tree: AccessibilityTree = serde_json::from_value(json!({ "nodes": nodes })).unwrap();
        let name = |line: &Line| line.number.map(|number| format!("e{number}"));
        lines_of(&tree).iter().map(|line| line.shown(name(line).as_deref())).collect()
    }

    #[test]
    fn a_tree_becomes_lines_with_what_can_be_used() {
        let role = |role: &str| json!({"type": "role", "value": role});
        let name = |name: &str| json!({"type": "computedString", "value": name});
        let lines = outline(&json!([
            {"nodeId": "1", "role": role("RootWebArea"), "name": name("Shop"), "childIds": ["2", "3", "5", "6"]},
            {"nodeId": "2", "parentId": "1", "role": role("heading"), "name": name("Offers"), "childIds": ["21"],
             "properties": [{"name": "level", "value": {"value": 1}}]},
            {"nodeId": "21", "parentId": "2", "role": role("StaticText"), "name": name("Offers")},
            {"nodeId": "3", "parentId": "1", "role": role("generic"), "ignored": true, "childIds": ["4"]},
            {"nodeId": "4", "parentId": "3", "role": role("button"), "name": name("Add  to\n cart"), "backendDOMNodeId": 44},
            {"nodeId": "5", "parentId": "1", "role": role("textbox"), "name": name("Mail"), "value": name("a@b"), "backendDOMNodeId": 55,
             "properties": [{"name": "required", "value": {"value": true}}]},
            {"nodeId": "6", "parentId": "1", "role": role("StaticText"), "name": name("Price: 5 €")},
        ]));
        assert_eq!(
            lines,
            [
                "- heading \"Offers\" (level 1)",
                "- button \"Add to cart\" [e44]",
                "- textbox \"Mail\" (required) (value \"a@b\") [e55]",
                "- text \"Price: 5 €\"",
            ]
        );
    }

    #[test]
    fn a_tree_that_is_too_deep_or_too_large_is_bounded() {
        let nodes: Vec<Value> = (0..20_000)
            .map(|n| json!({"nodeId": n.to_string(), "parentId": if n == 0 { None } else { Some((n - 1).to_string()) },
                "role": {"value": "button"}, "name": {"value": "x"}, "backendDOMNodeId": n, "childIds": [(n + 1).to_string()]}))
            .collect();
        let lines = outline(&Value::Array(nodes));
        assert_eq!(lines.len(), MOST_LINES);
        assert!(lines.iter().all(|line| line.len() < 60));
    }
}
