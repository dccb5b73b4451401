//! Looks at a change once more before it is made: whether the words of the request speak against it.

use lango_phrases::kept::find_kept_clauses;
use lango_phrases::settings::is_of_data;
use lango_phrases::verbs::VerbClass;
use lango_phrases::words::RequestWords;

use super::file_names::{FoundEntry, WantedEntry};
use super::{PlannedCall, RequestReading, Understanding, ask, one_or_several};
use crate::arguments::Argument;

impl Understanding<'_> {
    /// Returns the change, without what is to stay as it is, or the question that it leaves open.
    pub(super) fn check_change(
        &self,
        reading: RequestReading,
        request: &RequestWords<'_>,
    ) -> RequestReading {
        let RequestReading::Calls(calls) = reading else { return reading };
        let mut checked = Vec::with_capacity(calls.len());
        for call in calls {
            let doubt = match call.tool.as_str() {
                "fs_delete" | "fs_move" => match self.leave_out_kept(call, request) {
                    Ok(call) => {
                        checked.push(call);
                        continue;
                    }
                    Err(question) => return question,
                },
                "fs_edit" => find_long_value(&call, request).or_else(|| find_loss(&call, request)),
                "fs_write" => self.find_other_place(&call, request),
                _ => None,
            };
            if let Some(question) = doubt {
                return ask(question);
            }
            checked.push(call);
        }
        RequestReading::Calls(checked)
    }

    /// Leaves out the files of which the request says that they stay.
    fn leave_out_kept(
        &self,
        mut call: PlannedCall,
        request: &RequestWords<'_>,
    ) -> Result<PlannedCall, RequestReading> {
        let clauses = find_kept_clauses(request.text);
        let kept: Vec<String> =
            clauses.flat_map(|clause| self.named_files(&RequestWords::of(clause))).collect();
        let name = if call.tool == "fs_move" { "from" } else { "path" };
        let paths = match call.arguments.get(name) {
            Some(Argument::Text(path)) => vec![path.clone()],
            Some(Argument::List(paths)) => paths.clone(),
            _ => return Ok(call),
        };
        let holds = |path: &String, kept: &String| {
            kept == path || kept.starts_with(&format!("{}/", path.trim_end_matches('/')))
        };
        let is_kept = |path: &&String| kept.iter().any(|kept| holds(path, kept));
        let rest: Vec<String> = paths.iter().filter(|path| !is_kept(path)).cloned().collect();
        if rest.len() == paths.len() {
            return Ok(call);
        }
        if rest.is_empty() {
            return Err(ask(format!("Should {} stay as it is?", kept.join(" and "))));
        }
        call.arguments.insert(name.to_owned(), one_or_several(rest));
        Ok(call)
    }

    /// Asks where a file with the name of a new one lies in another folder, and no new one was asked for.
    fn find_other_place(&self, call: &PlannedCall, request: &RequestWords<'_>) -> Option<String> {
        let path = call.arguments.get("path").and_then(Argument::as_text)?;
        let asks_for_new = request.has_any(&["new", "create", "another", "file", "touch", "empty"]);
        if asks_for_new || path.contains('/') || self.files.kind_of(path).is_some() {
            return None;
        }
        match self.files.find(path, WantedEntry::File) {
            FoundEntry::One(found) if found.ends_with(&format!("/{path}")) => {
                Some(format!("There is {found}. What should be changed in it, and to what?"))
            }
            _ => None,
        }
    }
}

/// Asks for the value of a setting that has one word and would get several without quotation marks: they are
/// more of the request than its value.
fn find_long_value(call: &PlannedCall, request: &RequestWords<'_>) -> Option<String> {
    let text = |name: &str| call.arguments.get(name).and_then(Argument::as_text);
    let (path, old, new) = (text("path")?, text("old_text")?, text("new_text")?);
    let value = |line: &str| {
        let (key, value) = line.split_once([':', '='])?;
        Some((key.trim().trim_matches('"').to_owned(), value.split_whitespace().count()))
    };
    let ((key, before), (_, after)) = (value(old)?, value(new)?);
    (is_of_data(path) && before == 1 && after > 1 && request.quotations.is_empty())
        .then(|| format!("What exactly should {key} in {path} be?"))
}

/// Asks where a request to add something would take something away.
fn find_loss(call: &PlannedCall, request: &RequestWords<'_>) -> Option<String> {
    let text = |name: &str| call.arguments.get(name).and_then(Argument::as_text);
    let (path, new) = (text("path")?, text("new_text")?);
    let adds = request.has_any(&["add", "append", "insert"]);
    (new.is_empty() && adds && !VerbClass::Delete.is_said(request))
        .then(|| format!("What exactly should be added to {path}?"))
}
