//! Tools that nobody here knows: those of MCP servers and of agents to come. Whether they did what
//! they were asked to is not said, because the result alone does not say it.

use lango_model::AnsweredCall;
use serde_json::Value;

use super::answer::{Answer, omitted};
use super::deed::tool;
use super::ending::failed;
use super::json;

/// What a result says, as it is or as lines and tables.
pub(super) fn tell(call: &AnsweredCall) -> Answer {
    let result = call.result.trim();
    if call.name.starts_with("mcp_") && is_trouble(result) {
        return failed(call, result);
    }
    let tool = tool(call);
    let (result, remarks) = without_remarks(result);
    let answer = match serde_json::from_str::<Value>(result) {
        _ if result.is_empty() || result == "(no content)" => {
            Answer::new(format!("{tool} gave no answer in words."))
        }
        Ok(Value::String(text)) => quoted(&tool, &text),
        Ok(Value::Null) => Answer::new(format!("{tool} gave nothing back.")),
        Ok(Value::Number(number)) => Answer::new(format!("{tool} says: {number}")),
        Ok(value) => match json::shown(&value) {
            Some(lines) if !lines.is_empty() => Answer::new(format!("{tool} says:")).lines(lines),
            _ => quoted(&tool, result),
        },
        Err(_) => quoted(&tool, result),
    };
    remarks.into_iter().fold(answer, Answer::note)
}

fn quoted(tool: &str, text: &str) -> Answer {
    match text.trim() {
        "" => Answer::new(format!("{tool} gave no answer in words.")),
        text => Answer::new(format!("{tool} says:")).quoted(text),
    }
}

/// JSON that was too long for the runtime and cannot be read any more. Our own tools say in
/// sentences what went wrong, so this is no failure; more than its beginning cannot be told.
pub(super) fn cut(call: &AnsweredCall) -> Option<Answer> {
    let is_json = call.result.starts_with(['{', '[']);
    let is_cut = call.result.lines().any(|line| omitted(line).is_some());
    let lead = || format!("The result of {} is long. It begins:", tool(call));
    (is_json && is_cut).then(|| Answer::new(lead()).fenced(call.result.as_str()))
}

/// Whether these are our own words about a server that could not be used.
fn is_trouble(result: &str) -> bool {
    let ours = ["the MCP server ", "there is no MCP server ", "signing in to the MCP server "];
    ours.iter().any(|beginning| result.starts_with(beginning))
        || result.starts_with("what the server says about its arguments cannot be read: ")
}

/// The result without our remarks about the server, which come last.
fn without_remarks(mut result: &str) -> (&str, Vec<String>) {
    const ABOUT: &str = "[about the MCP server ";
    let mut remarks = Vec::new();
    while let Some((before, remark)) = result.rsplit_once('\n')
        && remark.starts_with(ABOUT)
        && remark.ends_with(']')
    {
        remarks.push(remark[1..remark.len() - 1].to_owned());
        result = before.trim_end();
    }
    remarks.reverse();
    (result, remarks)
}
