//! Tests trees in, lines out.

use serde_json::json;

use super::*;

fn outline(nodes: &Value) -> Vec<String> {
    let tree: AccessibilityTree = serde_json::from_value(json!({ "nodes": nodes })).unwrap();
    let name = |line: &TreeLine| line.number.map(|number| format!("e{number}"));
    build_lines(&tree).iter().map(|line| line.render_line(name(line).as_deref())).collect()
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
fn the_words_of_a_line_are_what_a_person_reads() {
    let line = |role: &str, name: &str| TreeLine {
        depth: 1,
        role: role.to_owned(),
        name: name.to_owned(),
        states: vec!["value \"x\"".to_owned()],
        block: String::new(),
        number: None,
        target: None,
    };
    for role in ["heading", "text", "link"] {
        assert_eq!(line(role, "a \"b\"").words(), Some("a \"b\""));
    }
    assert_eq!(line("text", "").words(), None);
    assert_eq!(line("button", "Buy").words(), None);
}

#[test]
fn a_tree_that_is_too_deep_or_too_large_is_bounded() {
    let nodes: Vec<Value> = (0..20_000)
        .map(|n| json!({"nodeId": n.to_string(), "parentId": if n == 0 { None } else { Some((n - 1).to_string()) },
            "role": {"value": "button"}, "name": {"value": "x"}, "backendDOMNodeId": n, "childIds": [(n + 1).to_string()]}))
        .collect();
    let lines = outline(&Value::Array(nodes));
    assert_eq!(lines.len(), MAX_LINE_COUNT);
    assert!(lines.iter().all(|line| line.len() < 60));
}
