//! Reads labelled requests, one JSON object in a line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::arguments::Arguments;
use super::team::{EvaluatedTeam, NO_AGENT};
use crate::EvalError;

/// Limits the bytes of a line.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
/// Limits the requests of a file.
const MAX_REQUEST_COUNT: usize = 100_000;

/// A request and its label.
#[derive(Debug, Clone, Deserialize)]
pub struct LabelledRequest {
    pub(crate) text: String,
    /// An agent of the team, or `none` for small talk.
    pub(crate) agent: String,
    #[serde(default)]
    pub(crate) tool: Option<String>,
    #[serde(default, rename = "args")]
    arguments: Option<Arguments>,
    /// The level of difficulty, in a word.
    #[serde(default)]
    pub(crate) level: Option<String>,
}

impl LabelledRequest {
    pub(crate) fn arguments(&self) -> Arguments {
        self.arguments.clone().unwrap_or_default()
    }

    pub(super) fn is_small_talk(&self) -> bool {
        self.agent == NO_AGENT
    }
}

/// Reads the requests of all files, up to the wanted number.
pub fn read_requests(
    files: &[PathBuf],
    limit: Option<u32>,
    team: &EvaluatedTeam,
) -> Result<Vec<LabelledRequest>, EvalError> {
    let mut requests = Vec::new();
    for file in files {
        requests.extend(read(file, team)?);
    }
    if let Some(limit) = limit {
        requests.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    if requests.is_empty() {
        return Err(EvalError::Requests("there is no request in what was given".to_owned()));
    }
    Ok(requests)
}

/// Returns the tools in labels that the team does not have: such labels cannot be right.
pub fn unknown_tools<'a>(requests: &'a [LabelledRequest], team: &EvaluatedTeam) -> Vec<&'a str> {
    let named = requests.iter().filter_map(|request| request.tool.as_deref());
    named.filter(|tool| team.tool(tool).is_none()).collect()
}

/// Reads a file. An error names the line.
fn read(path: &Path, team: &EvaluatedTeam) -> Result<Vec<LabelledRequest>, EvalError> {
    let name = path.display().to_string();
    let unreadable =
        |error: std::io::Error| EvalError::Requests(format!("cannot read {name}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    let mut requests = Vec::new();
    let mut line = String::new();
    for number in 1_u32.. {
        line.clear();
        let size = (&mut reader)
            .take(MAX_LINE_BYTES)
            .read_line(&mut line)
            .map_err(|error| EvalError::Requests(format!("{name}, line {number}: {error}")))?;
        if size == 0 {
            break;
        }
        requests.extend(parse_line(&name, number, &line, team)?);
        if requests.len() > MAX_REQUEST_COUNT {
            return Err(EvalError::Requests(format!(
                "{name} has more than {MAX_REQUEST_COUNT} requests. Give a part of it"
            )));
        }
    }
    Ok(requests)
}

/// Parses a text that is part of the program in the same way.
pub(crate) fn parse_requests(
    name: &str,
    text: &str,
    team: &EvaluatedTeam,
) -> Result<Vec<LabelledRequest>, EvalError> {
    let numbered = text.lines().zip(1_u32..);
    let requests = numbered.map(|(line, number)| parse_line(name, number, line, team));
    Ok(requests.collect::<Result<Vec<_>, EvalError>>()?.into_iter().flatten().collect())
}

fn parse_line(
    name: &str,
    number: u32,
    line: &str,
    team: &EvaluatedTeam,
) -> Result<Option<LabelledRequest>, EvalError> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    let wrong = |why: String| {
        EvalError::Requests(format!(
            "{name}, line {number}: {why}. A line is such as \
             {{\"text\": \"read a.txt\", \"agent\": \"operator\", \"tool\": \"fs_read\", \
             \"args\": {{\"path\": \"a.txt\"}}, \"level\": \"plain\"}}"
        ))
    };
    let request: LabelledRequest =
        serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
    if request.text.trim().is_empty() {
        return Err(wrong("`text` is empty".to_owned()));
    }
    if !request.is_small_talk() && !team.has(&request.agent) {
        let known: Vec<&str> = team.agents().chain([NO_AGENT]).collect();
        let known = known.join(", ");
        return Err(wrong(format!("there is no agent {:?}; there are {known}", request.agent)));
    }
    if request.is_small_talk() && request.tool.is_some() {
        return Err(wrong("`tool` is given, but `agent` is none".to_owned()));
    }
    Ok(Some(request))
}
