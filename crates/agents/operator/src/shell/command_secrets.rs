//! Passes secrets to one command, in its environment or as open files.
//!
//! A model names a variable and a handle. The value is resolved after the call was approved, goes to
//! that command, and nowhere else. A file is a descriptor that only the command has: other programs see
//! the environment of a process, and what a program prints of its own often has it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use lango_keystore::{HandlePlace, HandleUse, SecretBytes, SecretHandles};
use lango_sandbox::DescriptorFile;
use lango_text::{make_visible, make_visible_short};
use lango_tool::{Proposal, ToolContext, ToolError};

/// Limits a value that a command gets as a file.
const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Variables for a command: each name with a handle.
pub(super) type SecretVariables = BTreeMap<String, String>;

/// The secrets that a call asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandSecrets<'a> {
    /// Those whose values are in variables.
    pub(super) variables: &'a SecretVariables,
    /// Those whose values are in files that variables name.
    pub(super) files: &'a SecretVariables,
}

/// The secrets of a command that was approved.
#[derive(Default)]
pub(super) struct ResolvedSecrets {
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) files: Vec<DescriptorFile>,
}

impl ResolvedSecrets {
    pub(super) fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.files.is_empty()
    }
}

impl CommandSecrets<'_> {
    /// Adds to a proposal which secrets a command gets. A user is asked about it, whatever rules allow.
    pub(super) fn propose(self, handles: &SecretHandles, proposal: Proposal) -> Proposal {
        if self.variables.is_empty() && self.files.is_empty() {
            return proposal;
        }
        let mut summary = proposal.summary;
        let mut labels = Vec::new();
        for (variables, how) in [(self.variables, "as"), (self.files, "as a file named by")] {
            for (variable, handle) in variables {
                let variable = make_visible(variable);
                let line = match handles.describe(handle) {
                    Some(info) => {
                        let label = make_visible(&info.label);
                        labels.push(label.clone());
                        format!("the secret {label} {how} ${variable}")
                    }
                    None => format!("${variable} (will be refused: the handle is not valid)"),
                };
                summary.push_str(&format!("\nwith {line}"));
            }
        }
        let reason = format!("it gets the secret {}", labels.join(", "));
        Proposal { summary, always_ask: Some(proposal.always_ask.unwrap_or(reason)), ..proposal }
    }

    /// Resolves the handles of an approved command.
    pub(super) async fn resolve(
        self,
        handles: &SecretHandles,
        command: &str,
        context: &ToolContext,
    ) -> Result<ResolvedSecrets, ToolError> {
        let mut resolved = ResolvedSecrets::default();
        for (variable, handle) in self.variables {
            let value = resolve_one(handles, variable, handle, command, context).await?;
            if value.reveal().contains(&0) {
                let reason = format!(
                    "the value for {variable} has a NUL byte, which no variable can: pass it in \
                     secret_files"
                );
                return Err(ToolError::Failed(reason));
            }
            let value = OsString::from_vec(value.reveal().to_vec());
            resolved.variables.push((variable.into(), value));
        }
        for (variable, handle) in self.files {
            if self.variables.contains_key(variable) {
                let reason = format!("{variable} is in secrets and in secret_files");
                return Err(ToolError::Arguments(reason));
            }
            let value = resolve_one(handles, variable, handle, command, context).await?;
            if value.len() > MAX_FILE_BYTES {
                let reason = format!("the value for {variable} is larger than 1 MiB");
                return Err(ToolError::Failed(reason));
            }
            resolved.files.push(DescriptorFile::new(variable, value.reveal()));
        }
        Ok(resolved)
    }
}

async fn resolve_one(
    handles: &SecretHandles,
    variable: &str,
    handle: &str,
    command: &str,
    context: &ToolContext,
) -> Result<SecretBytes, ToolError> {
    check_variable(variable)?;
    let use_ = HandleUse {
        session: &context.session,
        agent: &context.agent,
        place: HandlePlace::Command,
        origin: None,
        what: format!("${variable} of: {}", make_visible_short(command)),
    };
    let value = handles.resolve(handle, use_).await;
    value.map_err(|error| ToolError::Failed(error.to_string()))
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
