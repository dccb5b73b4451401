//! Passes secrets to one command, in its environment.
//!
//! A model names a variable and a handle. The value is resolved after the call was approved, goes into
//! the environment of that command, and nowhere else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use lango_keystore::{HandlePlace, HandleUse, SecretHandles};
use lango_text::{make_visible, make_visible_short};
use lango_tool::{Proposal, ToolContext, ToolError};

/// Variables for a command: each name with a handle.
pub(super) type SecretVariables = BTreeMap<String, String>;

/// Adds to a proposal which secrets a command gets. A user is asked about it, whatever rules allow.
pub(super) fn propose_secrets(
    handles: &SecretHandles,
    secrets: &SecretVariables,
    proposal: Proposal,
) -> Proposal {
    if secrets.is_empty() {
        return proposal;
    }
    let mut summary = proposal.summary;
    let mut labels = Vec::new();
    for (variable, handle) in secrets {
        let variable = make_visible(variable);
        let line = match handles.describe(handle) {
            Some(info) => {
                let label = make_visible(&info.label);
                labels.push(label.clone());
                format!("the secret {label} as ${variable}")
            }
            None => format!("${variable} (will be refused: the handle is not valid)"),
        };
        summary.push_str(&format!("\nwith {line}"));
    }
    let reason = format!("it gets the secret {}", labels.join(", "));
    Proposal { summary, always_ask: Some(proposal.always_ask.unwrap_or(reason)), ..proposal }
}

/// Resolves the handles of an approved command.
pub(super) async fn resolve_secrets(
    handles: &SecretHandles,
    secrets: SecretVariables,
    command: &str,
    context: &ToolContext,
) -> Result<Vec<(OsString, OsString)>, ToolError> {
    let mut variables = Vec::with_capacity(secrets.len());
    for (variable, handle) in secrets {
        check_variable(&variable)?;
        let use_ = HandleUse {
            session: &context.session,
            agent: &context.agent,
            place: HandlePlace::Command,
            origin: None,
            what: format!("${variable} of: {}", make_visible_short(command)),
        };
        let value = handles.resolve(&handle, use_).await;
        let value = value.map_err(|error| ToolError::Failed(error.to_string()))?;
        if value.reveal().contains(&0) {
            let reason = format!("the value for {variable} has a NUL byte, which no variable can");
            return Err(ToolError::Failed(reason));
        }
        variables.push((variable.into(), OsString::from_vec(value.reveal().to_vec())));
    }
    Ok(variables)
}

/// Refuses names that shells do not take, and those that decide which code runs.
fn check_variable(name: &str) -> Result<(), ToolError> {
    const DECISIVE: [&str; 6] = ["PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "PROMPT_COMMAND"];
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if !is_name || DECISIVE.contains(&name) || name.starts_with("LD_") || name.starts_with("DYLD_")
    {
        let name = make_visible(name);
        return Err(ToolError::Arguments(format!("{name} is no variable for a secret")));
    }
    Ok(())
}
