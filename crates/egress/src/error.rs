//! Defines why a destination was not reached, and who can act.

use std::net::IpAddr;

use crate::address::AddressKind;

/// Says why a destination may not be reached. The user can change most of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no address at all.
    #[error(
        "{text:?} is not a web address: {reason}. Write the whole address, as in https://example.org/"
    )]
    NotAnAddress {
        /// As given.
        text: String,
        /// The error in it.
        reason: String,
    },
    /// A scheme other than http and https.
    #[error("{scheme}: addresses are not opened, only http: and https:")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// A user name or password in the address, which hides where it leads.
    #[error("the address has a user name or password before its host. Write it without")]
    Credentials,
    /// A name that always means this machine, or a cloud's credential service.
    #[error(
        "{destination} is a {kind}. To allow it: lango config set egress.allow '[\"{destination}\"]'"
    )]
    Name {
        /// The host and port.
        destination: String,
        /// The kind of address that the name resolves to.
        kind: AddressKind,
    },
    /// An address that is not public.
    #[error("{}. To allow it: lango config set egress.allow '[\"{allow}\"]'", describe(.destination, *.address, *.kind))]
    Address {
        /// The host and port that were asked for.
        destination: String,
        /// The address that it is or resolves to.
        address: IpAddr,
        /// The kind of that address.
        kind: AddressKind,
        /// The pattern that would allow it.
        allow: String,
    },
    /// `egress.deny` has it.
    #[error(
        "{destination} is denied by {pattern:?} in egress.deny. See: lango config get egress.deny"
    )]
    Denied {
        /// The host and port.
        destination: String,
        /// The rule.
        pattern: String,
    },
    /// The agent has a list of hosts, and this is not on it.
    #[error("{destination} is not among the hosts of this agent. See: lango config get agents")]
    NotListed {
        /// The host and port.
        destination: String,
    },
}

fn describe(destination: &str, address: IpAddr, kind: AddressKind) -> String {
    let host = destination.rsplit_once(':').map_or(destination, |(host, _)| host);
    let is_itself = host.trim_matches(['[', ']']).parse() == Ok(address);
    if is_itself {
        format!("{destination} is a {kind}")
    } else {
        format!("{destination} leads to {address}, a {kind}")
    }
}

impl Refusal {
    /// Returns the reason in two words, for lists.
    pub fn short_reason(&self) -> String {
        match self {
            Self::NotAnAddress { .. } => "not a web address".to_owned(),
            Self::Scheme { scheme } => format!("{scheme}: is not opened"),
            Self::Credentials => "credentials in the address".to_owned(),
            Self::Name { kind, .. } | Self::Address { kind, .. } => kind.to_string(),
            Self::Denied { .. } => "denied by egress.deny".to_owned(),
            Self::NotListed { .. } => "not among the agent's hosts".to_owned(),
        }
    }
}

/// Says why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// It is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The name has no address. A retry may help if the network is down.
    #[error("the name {name} cannot be resolved: {reason}")]
    Unresolved {
        /// The host.
        name: String,
        /// The resolver's error.
        reason: String,
    },
    /// No server answers there.
    #[error("cannot connect to {destination}: {reason}")]
    Unreachable {
        /// The host and port.
        destination: String,
        /// The system's error.
        reason: String,
    },
}
