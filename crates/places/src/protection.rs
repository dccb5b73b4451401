//! Says why a place is hidden, and what a protected place decides.

use std::fmt;

/// The reason why a place is hidden. It is displayed as a sentence without its end, such as "it
/// holds keys or passwords".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HiddenReason {
    /// Keys, passwords and tokens.
    Credentials,
    /// The sessions of a browser or a mail program.
    Browser,
    /// The sockets of a service that runs programs or gives out keys.
    Sockets,
    /// Configuration, database, keys and profiles of Lango.
    OwnFile,
    /// `sandbox.hidden`.
    Configured,
}

impl fmt::Display for HiddenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Credentials => "it holds keys or passwords",
            Self::Browser => "it holds the sign-ins of a browser",
            Self::Sockets => "it holds the sockets of a service",
            Self::OwnFile => "it is one of Lango's own files",
            Self::Configured => "sandbox.hidden names it",
        })
    }
}

/// What a protected place decides. It is displayed as a sentence without its end, such as "it
/// decides which programs your shell starts".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protection {
    /// The hooks and settings of a repository or of git itself.
    Git,
    /// Programs that run before a commit.
    CommitHooks,
    /// Instructions and settings of agents.
    Agents,
    /// Programs that are started as tool servers.
    ToolServers,
    /// Tasks and settings of an editor.
    Editor,
    /// The pipelines of continuous integration.
    ContinuousIntegration,
    /// Start-up files of a shell.
    Shell,
    /// Programs and variables of a session of the user.
    Session,
    /// Code that every Python program runs at its start.
    Python,
    /// Programs and libraries that others load by name.
    Programs,
    /// A hidden place: what is written there is trusted later.
    Hidden(HiddenReason),
    /// `sandbox.protected`.
    Configured,
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Git => "it decides which programs git starts",
            Self::CommitHooks => "it decides which programs run before a commit",
            Self::Agents => "it decides what agents are told to do",
            Self::ToolServers => "it decides which programs are started as tool servers",
            Self::Editor => "it decides which programs your editor starts",
            Self::ContinuousIntegration => "it decides what continuous integration runs",
            Self::Shell => "it decides which programs your shell starts",
            Self::Session => "it decides which programs your session starts",
            Self::Python => "it decides what every Python program runs at its start",
            Self::Programs => "it decides which programs and libraries are loaded by name",
            Self::Hidden(HiddenReason::OwnFile) => "it decides what Lango does",
            Self::Hidden(reason) => return reason.fmt(f),
            Self::Configured => "sandbox.protected names it",
        })
    }
}

/// The kind of the empty placeholder that reserves a missing name while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceholderKind {
    /// An empty directory, which git does not list.
    Directory,
    /// An empty file.
    File,
    /// A file with the one line `.`, where git expects the path of a directory and would fail on an
    /// empty file.
    OwnDirectory,
}
