//! Renders any JSON for users: an object by its lines, a list of objects as a table.

use serde_json::{Map, Value};

use crate::to_one_line;

/// Limits how many rows of a table, items of a list or lines of an object are shown.
const MAX_ROW_COUNT: usize = 30;
/// Limits how many columns of a table are shown.
const MAX_COLUMN_COUNT: usize = 6;
/// Limits how many characters of a cell are shown.
const MAX_CELL_CHARACTERS: usize = 120;
/// Limits how many characters of a value on its own line are shown.
const MAX_VALUE_CHARACTERS: usize = 1_000;
/// Limits how deep objects within objects are written out.
const MAX_DEPTH: usize = 3;

/// Renders a JSON value as Markdown: an object by its lines, a list of objects as a table. None for
/// a plain text, which can be shown as it is.
pub fn render_json_markdown(value: &Value) -> Option<String> {
    match value {
        Value::String(_) => None,
        Value::Object(object) => Some(render_object(object, 0)),
        Value::Array(items) => Some(render_list(items, 0)),
        scalar => Some(scalar.to_string()),
    }
}

fn render_object(object: &Map<String, Value>, depth: usize) -> String {
    if object.is_empty() {
        return "(nothing)".to_owned();
    }
    let mut text = String::new();
    for (key, value) in object.iter().take(MAX_ROW_COUNT) {
        let key = to_one_line(key, MAX_CELL_CHARACTERS);
        let line = match value {
            Value::Array(items) if !items.is_empty() && depth < MAX_DEPTH => {
                format!("{key}:\n\n{}\n", render_list(items, depth + 1))
            }
            Value::Object(inner) if !inner.is_empty() && depth < MAX_DEPTH => {
                format!("{key}:\n{}", indent_lines(&render_object(inner, depth + 1)))
            }
            value => format!("{key}: {}", render_plain(value, MAX_VALUE_CHARACTERS)),
        };
        text.push_str(&line);
        text.push('\n');
    }
    append_omitted_count(&mut text, object.len());
    text.trim_end().to_owned()
}

fn render_list(items: &[Value], depth: usize) -> String {
    if items.is_empty() {
        return "(nothing)".to_owned();
    }
    let objects: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    if objects.len() == items.len()
        && let Some(table) = render_table(&objects)
    {
        return table;
    }
    let mut text = String::new();
    for item in items.iter().take(MAX_ROW_COUNT) {
        let line = match item {
            Value::Object(inner) if depth < MAX_DEPTH => {
                indent_lines(&render_object(inner, depth + 1)).trim_start().to_owned()
            }
            item => render_plain(item, MAX_VALUE_CHARACTERS),
        };
        text.push_str(&format!("- {line}\n"));
    }
    append_omitted_count(&mut text, items.len());
    text.trim_end().to_owned()
}

/// Renders a table with the keys of the first objects as columns; none if there are no columns.
fn render_table(rows: &[&Map<String, Value>]) -> Option<String> {
    let mut columns: Vec<&str> = Vec::new();
    let mut left_out = 0_usize;
    for key in rows.iter().take(MAX_ROW_COUNT).flat_map(|row| row.keys()) {
        if columns.contains(&key.as_str()) {
            continue;
        }
        if columns.len() < MAX_COLUMN_COUNT {
            columns.push(key);
        } else {
            left_out += 1;
        }
    }
    if columns.is_empty() {
        return None;
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = row(columns.iter().map(|column| escape_cell(column)).collect());
    text.push_str(&row(vec!["---".to_owned(); columns.len()]));
    for one in rows.iter().take(MAX_ROW_COUNT) {
        let cells = columns.iter().map(|column| match one.get(*column) {
            Some(value) => escape_cell(&render_plain(value, MAX_CELL_CHARACTERS)),
            None => String::new(),
        });
        text.push_str(&row(cells.collect()));
    }
    append_omitted_count(&mut text, rows.len());
    if left_out > 0 {
        text.push_str("(some columns are not shown)\n");
    }
    Some(text.trim_end().to_owned())
}

/// Escapes a text so that it cannot end its cell.
fn escape_cell(text: &str) -> String {
    to_one_line(text, MAX_CELL_CHARACTERS).replace('|', "\\|")
}

/// Renders a value on one line: texts without their quotes, numbers as they are.
fn render_plain(value: &Value, max_characters: usize) -> String {
    match value {
        Value::String(text) => to_one_line(text, max_characters),
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) if items.iter().all(|item| !item.is_array() && !item.is_object()) => {
            let items: Vec<String> =
                items.iter().map(|item| render_plain(item, max_characters)).collect();
            to_one_line(&items.join(", "), max_characters)
        }
        other => to_one_line(&other.to_string(), max_characters),
    }
}

fn indent_lines(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| format!("  {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

fn append_omitted_count(text: &mut String, total: usize) {
    if total > MAX_ROW_COUNT {
        text.push_str(&format!("\n(… {} more)\n", total - MAX_ROW_COUNT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> String {
        render_json_markdown(&serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn an_object_is_told_by_its_lines() {
        let told =
            of(r#"{"timezone":"Europe/Berlin","is_dst":false,"offset":1.5,"near":["a","b"]}"#);
        assert_eq!(told, "is_dst: no\nnear:\n\n- a\n- b\n\noffset: 1.5\ntimezone: Europe/Berlin");
        assert_eq!(of("{}"), "(nothing)");
        assert_eq!(of("42"), "42");
    }

    #[test]
    fn a_list_of_objects_is_a_table_that_its_cells_cannot_break() {
        let told = of(r#"[{"name":"a|b","size":3},{"name":"c\nd","new":null}]"#);
        assert_eq!(
            told,
            "| name | size | new |\n| --- | --- | --- |\n| a\\|b | 3 |  |\n| c d |  | none |"
        );
        let many: Vec<String> = (0..50).map(|number| format!(r#"{{"n":{number}}}"#)).collect();
        assert!(of(&format!("[{}]", many.join(","))).ends_with("(… 20 more)"));
        assert_eq!(of("[1,\"two\",[3]]"), "- 1\n- two\n- 3");
    }

    #[test]
    fn what_is_nested_deeply_stays_on_one_line() {
        let told = of(r#"{"a":{"b":{"c":{"d":{"e":1}}}}}"#);
        assert_eq!(told, "a:\n  b:\n    c:\n      d: {\"e\":1}");
    }
}
