//! Defines the errors of MCP servers, and who can act on them.

use std::path::PathBuf;

use lango_keystore::KeyStoreError;
use lango_store::StoreError;
use lango_text::make_visible_short;

use super::EntryState;
use super::http::scope_in;

/// The reason why a server, or one of its tools, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The configuration of one server. The user can act.
    #[error("mcp server {server}: {reason}")]
    Configuration {
        /// Its name.
        server: String,
        /// The reason.
        reason: String,
    },
    /// A file with servers. The user can act.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// No server has this name.
    #[error("there is no MCP server {0:?}. See: lango mcp list")]
    UnknownServer(String),
    /// No tool has this name.
    #[error(
        "the MCP server {server} has no tool \"{}\". See: lango mcp tools {server}",
        make_visible_short(tool)
    )]
    UnknownTool {
        /// The server.
        server: String,
        /// The requested name.
        tool: String,
    },
    /// The server is disabled.
    #[error(
        "the MCP server {0} is switched off. To switch it on: lango config set mcp_servers.{0}.enabled true"
    )]
    Disabled(String),
    /// No person approved the entry of the project's file as it is.
    #[error("the MCP server {server} of .mcp.json {}", describe_entry_state(server, *state))]
    Unapproved {
        /// The server.
        server: String,
        /// The state of its entry.
        state: EntryState,
    },
    /// The description of the tool differs from the approved one.
    #[error(
        "{what} of the MCP server {server} changed since it was approved, and is frozen. A person can look at it with: lango mcp approve {server}{}",
        argument(tool)
    )]
    Frozen {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// The changed part.
        what: String,
    },
    /// The server could not be started, or did not answer.
    #[error(
        "the MCP server {server} could not be started: {reason}. To see more: lango mcp test {server}"
    )]
    Start {
        /// Its name.
        server: String,
        /// The reason, with the last output.
        reason: String,
    },
    /// The server failed and is not restarted yet. A later retry may help.
    #[error(
        "the MCP server {server} failed {times} times in a row and is started again in {seconds} s: {reason}"
    )]
    Waiting {
        /// Its name.
        server: String,
        /// The number of failures.
        times: u32,
        /// The time until the restart.
        seconds: u64,
        /// The last failure.
        reason: String,
    },
    /// The server failed too often and is not restarted.
    #[error(
        "the MCP server {server} failed {times} times in a row and is left alone: {reason}. A person can try it with: lango mcp test {server}"
    )]
    Isolated {
        /// Its name.
        server: String,
        /// The number of failures.
        times: u32,
        /// The last failure.
        reason: String,
    },
    /// The server ended during a call.
    #[error(
        "the MCP server {server} ended in the middle of the call ({reason}); whether the call had an effect is not known. It is started again with the next call"
    )]
    Gone {
        /// Its name.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The server answered with an error.
    #[error("the MCP server {server} answered: {reason}")]
    Answered {
        /// Its name.
        server: String,
        /// The error message.
        reason: String,
    },
    /// The server did not answer in time.
    #[error("the MCP server {server} did not answer within {seconds} s, and was told to stop. A longer limit: lango config set mcp_servers.{server}.tool_timeout_sec {}", seconds * 4)]
    TooSlow {
        /// Its name.
        server: String,
        /// The limit.
        seconds: u64,
    },
    /// The turn was cancelled.
    #[error("stopped because the turn was cancelled")]
    Cancelled,
    /// The server requires a login, or more scopes.
    #[error("the MCP server {server} asks for a login: lango mcp login {server}{}", scopes(.challenge))]
    LoginNeeded {
        /// Its name.
        server: String,
        /// Its challenge, a header of the protocol.
        challenge: String,
    },
    /// The login failed.
    #[error("signing in to the MCP server {server} failed: {reason}")]
    Login {
        /// Its name.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The tokens of a server are in a vault that is locked, or cannot be used. The user can act.
    #[error("the tokens of the MCP server {server} cannot be used: {source}")]
    Tokens {
        /// Its name.
        server: String,
        /// The reason.
        source: KeyStoreError,
    },
    /// The vault failed.
    #[error(transparent)]
    KeyStore(#[from] KeyStoreError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Says why an entry is not used, and which command approves it.
fn describe_entry_state(server: &str, state: EntryState) -> String {
    let why = match state {
        EntryState::Approved => "is approved",
        EntryState::New => "is new, and is not started before you approve it",
        EntryState::Changed => "changed, and is not started before you approve it as it is now",
        EntryState::Declined => "was declined",
    };
    format!("{why}. To look at it: lango mcp approve {server}")
}

/// Returns the scopes of a challenge as an option of the command.
fn scopes(challenge: &str) -> String {
    let scope = scope_in(challenge).filter(|scope| scope.split(' ').all(is_plain));
    scope.map(|scope| format!(" --scope \"{scope}\"")).unwrap_or_default()
}

/// Returns a tool as an argument of the command.
fn argument(tool: &str) -> String {
    if is_plain(tool) { format!(" {tool}") } else { String::new() }
}

/// Tells whether text of a server is safe in a command that a user pastes into a shell: it must be
/// one word there, and no option.
fn is_plain(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":._/-".contains(&byte);
    !word.is_empty() && !word.starts_with('-') && word.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_to_paste_has_nothing_in_it_that_a_server_made_up() {
        let frozen = |tool: &str| {
            let (server, what) = ("s".to_owned(), "it".to_owned());
            ClientError::Frozen { server, tool: tool.to_owned(), what }.to_string()
        };
        assert!(frozen("get.time").ends_with("lango mcp approve s get.time"));
        for tool in ["", "a; rm -rf ~", "$(x)", "a b", "--yes", "a\nb", "ä"] {
            assert!(frozen(tool).ends_with("lango mcp approve s"), "{tool}");
        }
        let login = |scope: &str| {
            let challenge = format!("Bearer scope=\"{scope}\"");
            ClientError::LoginNeeded { server: "s".to_owned(), challenge }.to_string()
        };
        assert!(login("files:read files:write").ends_with(" --scope \"files:read files:write\""));
        for scope in ["`x`", "$(x)", "a;b", "--all", "a  b"] {
            assert!(login(scope).ends_with("lango mcp login s"), "{scope}");
        }
    }
}
