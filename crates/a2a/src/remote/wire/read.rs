//! Parses JSON into the types of this module. Unknown fields are ignored, wrong types are refused.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Artifact, FileSource, Part, State, Status, Task, TaskIds, Update, Version};
use crate::remote::error::ExchangeError;

/// Limits the nesting of an answer.
const MAX_JSON_DEPTH: usize = 64;

/// Limits the parts and artifacts of one update.
const MAX_PART_COUNT: usize = 1000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePart {
    text: Option<String>,
    raw: Option<String>,
    url: Option<String>,
    data: Option<Value>,
    filename: Option<String>,
    media_type: Option<String>,
    /// The file of 0.3.
    file: Option<WireFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFile {
    bytes: Option<String>,
    uri: Option<String>,
    name: Option<String>,
    mime_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMessage {
    role: Option<String>,
    #[serde(default)]
    parts: Vec<WirePart>,
    task_id: Option<String>,
    context_id: Option<String>,
}

#[derive(Deserialize)]
struct WireStatus {
    #[serde(default)]
    state: String,
    message: Option<WireMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireArtifact {
    #[serde(default)]
    artifact_id: String,
    #[serde(default)]
    parts: Vec<WirePart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTask {
    id: String,
    context_id: Option<String>,
    status: Option<WireStatus>,
    #[serde(default)]
    artifacts: Vec<WireArtifact>,
    #[serde(default)]
    history: Vec<WireMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireStatusUpdate {
    task_id: Option<String>,
    context_id: Option<String>,
    status: WireStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireArtifactUpdate {
    task_id: Option<String>,
    context_id: Option<String>,
    artifact: WireArtifact,
    #[serde(default)]
    append: bool,
}

/// The update of 1.0; one of these is set.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireUpdate {
    task: Option<WireTask>,
    message: Option<WireMessage>,
    status_update: Option<WireStatusUpdate>,
    artifact_update: Option<WireArtifactUpdate>,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

#[derive(Deserialize)]
struct RpcResponse<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    #[serde(default)]
    message: String,
}

/// Refuses excessive nesting before anything is built from it.
pub(crate) fn check_depth(json: &[u8]) -> Result<(), ExchangeError> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_JSON_DEPTH {
            return Err(ExchangeError::TooMuch(format!(
                "an answer with more than {MAX_JSON_DEPTH} levels"
            )));
        }
    }
    Ok(())
}

/// Returns the result of the JSON-RPC response with this id.
pub(crate) fn read_rpc<'a>(json: &'a [u8], id: &str) -> Result<&'a [u8], ExchangeError> {
    check_depth(json)?;
    let response: RpcResponse<'_> = read(json)?;
    match response {
        RpcResponse { error: Some(error), .. } => {
            Err(ExchangeError::Refused { code: error.code, message: short(&error.message) })
        }
        RpcResponse { result: Some(_), id: other, .. } if other != *id => {
            Err(ExchangeError::Malformed("an answer to another request".to_owned()))
        }
        RpcResponse { result: Some(result), .. } => Ok(result.get().as_bytes()),
        _ => Err(ExchangeError::Malformed(
            "a response with neither a result nor an error".to_owned(),
        )),
    }
}

/// Returns the error that an HTTP error response describes.
pub(crate) fn refusal_in(status: u16, body: &[u8]) -> ExchangeError {
    #[derive(Deserialize)]
    struct Envelope {
        error: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        #[serde(default)]
        message: String,
    }
    // The codes of JSON-RPC are negative; HTTP+JSON repeats the status there.
    if let Err(ExchangeError::Refused { code: code @ ..0, message }) = read_rpc(body, "") {
        return ExchangeError::Refused { code, message };
    }
    let message = serde_json::from_slice::<Envelope>(body)
        .map_or_else(|_| String::new(), |envelope| short(&envelope.error.message));
    ExchangeError::Status { status, message }
}

/// Parses a task.
pub(crate) fn read_task(json: &[u8]) -> Result<Task, ExchangeError> {
    check_depth(json)?;
    task(read(json)?)
}

/// Parses an update from a response or an event.
pub(crate) fn read_update(version: Version, json: &[u8]) -> Result<Update, ExchangeError> {
    check_depth(json)?;
    let nothing =
        || ExchangeError::Malformed("an answer that is neither a task nor a message".to_owned());
    let wire = match version {
        Version::One => read(json)?,
        Version::ZeroThree => {
            let mut wire = WireUpdate {
                task: None,
                message: None,
                status_update: None,
                artifact_update: None,
            };
            match read::<Kind>(json)?.kind.as_str() {
                "task" => wire.task = Some(read(json)?),
                "message" => wire.message = Some(read(json)?),
                "status-update" => wire.status_update = Some(read(json)?),
                "artifact-update" => wire.artifact_update = Some(read(json)?),
                _ => return Err(nothing()),
            }
            wire
        }
    };
    match wire {
        WireUpdate { task: Some(wire), .. } => Ok(Update::Task(task(wire)?)),
        WireUpdate { status_update: Some(update), .. } => Ok(Update::Status {
            ids: ids(update.task_id, update.context_id)?,
            status: status(update.status)?,
        }),
        WireUpdate { artifact_update: Some(update), .. } => Ok(Update::Artifact {
            ids: ids(update.task_id, update.context_id)?,
            artifact: artifact(update.artifact)?,
            append: update.append,
        }),
        WireUpdate { message: Some(message), .. } => Ok(Update::Message {
            ids: ids(message.task_id, message.context_id)?,
            parts: parts(message.parts)?,
        }),
        _ => Err(nothing()),
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, ExchangeError> {
    serde_json::from_slice(json)
        .map_err(|error| ExchangeError::Malformed(short(&error.to_string())))
}

fn task(wire: WireTask) -> Result<Task, ExchangeError> {
    let ids = ids(Some(wire.id), wire.context_id)?;
    if ids.task.is_none() {
        return Err(ExchangeError::Malformed("a task without an id".to_owned()));
    }
    let is_agent =
        |message: &WireMessage| matches!(message.role.as_deref(), Some("ROLE_AGENT" | "agent"));
    let last_message = wire.history.into_iter().rev().find(is_agent);
    Ok(Task {
        ids,
        status: wire
            .status
            .map_or_else(|| Ok(Status { state: State::Unknown, message: Vec::new() }), status)?,
        artifacts: wire
            .artifacts
            .into_iter()
            .take(MAX_PART_COUNT)
            .map(artifact)
            .collect::<Result<_, _>>()?,
        last_message: last_message
            .map_or_else(|| Ok(Vec::new()), |message| parts(message.parts))?,
    })
}

/// Checks ids, which go into addresses, headers and the database: an unusual id is refused, an
/// empty one counts as none.
fn ids(task: Option<String>, context: Option<String>) -> Result<TaskIds, ExchangeError> {
    let sound = |id: Option<String>| match id {
        None => Ok(None),
        Some(id) if id.is_empty() => Ok(None),
        Some(id)
            if id.len() <= 256 && id.chars().all(|c| c.is_ascii_graphic()) && !is_dots(&id) =>
        {
            Ok(Some(id))
        }
        Some(_) => {
            Err(ExchangeError::Malformed("an id of unusual characters or length".to_owned()))
        }
    };
    Ok(TaskIds { task: sound(task)?, context: sound(context)? })
}

/// Tells whether an id consists of dots, which mean another path in an address.
fn is_dots(id: &str) -> bool {
    id.chars().all(|c| c == '.')
}

fn status(wire: WireStatus) -> Result<Status, ExchangeError> {
    let spelt = wire.state.strip_prefix("TASK_STATE_").unwrap_or(&wire.state);
    let state = match spelt.to_ascii_lowercase().replace('-', "_").as_str() {
        "submitted" => State::Submitted,
        "working" => State::Working,
        "completed" => State::Completed,
        "failed" => State::Failed,
        "canceled" | "cancelled" => State::Canceled,
        "input_required" => State::InputRequired,
        "auth_required" => State::AuthRequired,
        "rejected" => State::Rejected,
        _ => State::Unknown,
    };
    let message = wire.message.map_or_else(|| Ok(Vec::new()), |message| parts(message.parts))?;
    Ok(Status { state, message })
}

fn artifact(wire: WireArtifact) -> Result<Artifact, ExchangeError> {
    Ok(Artifact { id: wire.artifact_id, parts: parts(wire.parts)? })
}

fn parts(wire: Vec<WirePart>) -> Result<Vec<Part>, ExchangeError> {
    wire.into_iter().take(MAX_PART_COUNT).filter_map(|wire| part(wire).transpose()).collect()
}

/// Converts a part. Parts of an unknown kind are left out.
fn part(wire: WirePart) -> Result<Option<Part>, ExchangeError> {
    let name = wire.filename.unwrap_or_default();
    let media_type = wire.media_type.unwrap_or_default();
    Ok(match wire {
        WirePart { text: Some(text), .. } => Some(Part::Text(text)),
        WirePart { raw: Some(raw), .. } => {
            Some(Part::File { name, media_type, source: FileSource::Bytes(decode(&raw)?) })
        }
        WirePart { url: Some(url), .. } => {
            Some(Part::File { name, media_type, source: FileSource::Url(url) })
        }
        WirePart { file: Some(file), .. } => {
            let (name, media_type) =
                (file.name.unwrap_or_default(), file.mime_type.unwrap_or_default());
            let source = match (file.bytes, file.uri) {
                (Some(bytes), _) => FileSource::Bytes(decode(&bytes)?),
                (None, uri) => FileSource::Url(uri.unwrap_or_default()),
            };
            Some(Part::File { name, media_type, source })
        }
        WirePart { data: Some(data), .. } => Some(Part::Data(data)),
        _ => None,
    })
}

fn decode(text: &str) -> Result<Vec<u8>, ExchangeError> {
    STANDARD
        .decode(text)
        .or_else(|_| URL_SAFE.decode(text))
        .map_err(|_| ExchangeError::Malformed("a file that is not base64".to_owned()))
}

/// Shortens an untrusted text for an error.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_mean_the_same() {
        let one = br#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",
            "message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Which?"}]}}}}"#;
        let three = br#"{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"input-required",
            "message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"Which?"}]}}}"#;
        let one = read_update(Version::One, one).unwrap();
        assert_eq!(one, read_update(Version::ZeroThree, three).unwrap());
        let Update::Status { ids, status } = one else { panic!("{one:?}") };
        assert_eq!(ids, TaskIds { task: Some("t".into()), context: Some("c".into()) });
        assert!(status.state == State::InputRequired && status.state.is_settled());
        let one = br#"{"artifactUpdate":{"taskId":"t","append":true,"artifact":{"artifactId":"a",
            "parts":[{"raw":"aGk=","filename":"f","mediaType":"text/plain"},{"new":1},{"data":[1]}]}}}"#;
        let three = br#"{"kind":"artifact-update","taskId":"t","append":true,"artifact":{"artifactId":"a",
            "parts":[{"kind":"file","file":{"bytes":"aGk=","name":"f","mimeType":"text/plain"}},{"kind":"data","data":[1]}]}}"#;
        let update = read_update(Version::One, one).unwrap();
        assert_eq!(update, read_update(Version::ZeroThree, three).unwrap());
        assert!(
            matches!(&update, Update::Artifact { append: true, artifact, .. } if artifact.parts.len() == 2)
        );
    }

    #[test]
    fn a_new_state_is_not_an_end_and_a_wrong_kind_is_garbage() {
        let new = br#"{"task":{"id":"t","status":{"state":"TASK_STATE_DREAMING"}}}"#;
        let update = read_update(Version::One, new).unwrap();
        assert!(matches!(update, Update::Task(task) if task.status.state == State::Unknown));
        for json in [
            r#"{"task":{"id":5}}"#,
            r#"{"task":{"id":""}}"#,
            r#"{"task":{"id":".."}}"#,
            r#"{"task":{"id":"a\u0000b"}}"#,
            r#"{"message":{"parts":[{"text":["x"]}]}}"#,
            r#"{"message":{"parts":[{"raw":"not base64!"}]}}"#,
            "{}",
            "[]",
            "no",
        ] {
            let error = read_update(Version::One, json.as_bytes()).unwrap_err();
            assert!(matches!(error, ExchangeError::Malformed(_)), "{json}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_before_it_is_built() {
        let deep = format!("{{\"task\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let error = read_update(Version::One, deep.as_bytes()).unwrap_err();
        assert!(matches!(error, ExchangeError::TooMuch(_)), "{error}");
        let brackets = format!("{{\"x\":\"{}\"}}", "[".repeat(1000));
        assert!(check_depth(brackets.as_bytes()).is_ok());
    }

    #[test]
    fn an_error_is_an_error_wherever_it_is() {
        let error =
            br#"{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"no task\u001b[2J"}}"#;
        let error = read_rpc(error, "1").unwrap_err();
        assert_eq!(error, ExchangeError::Refused { code: -32001, message: "no task[2J".into() });
        let result = br#"{"jsonrpc":"2.0","id":"1","result":{"a":1}}"#;
        assert_eq!(read_rpc(result, "1").unwrap(), br#"{"a":1}"#);
        assert!(matches!(read_rpc(result, "2").unwrap_err(), ExchangeError::Malformed(_)));
        let status = refusal_in(404, br#"{"error":{"code":404,"message":"gone"}}"#);
        assert_eq!(status, ExchangeError::Status { status: 404, message: "gone".into() });
        assert_eq!(
            refusal_in(500, b"oh"),
            ExchangeError::Status { status: 500, message: String::new() }
        );
    }
}
