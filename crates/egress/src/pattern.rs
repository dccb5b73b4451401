//! Parses the destinations of rules: a name, an address, a range, each with or without a port.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use url::Host;

use crate::destination::canonical_host;

/// Matches one or several destinations, as a person writes them: `example.org`, `*.example.org`,
/// `127.0.0.1:8080`, `10.0.0.0/8`, `[::1]:443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    target: Target,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Name(String),
    /// The names below this one, and not the name itself.
    Below(String),
    Address(IpAddr),
    Range(IpNet),
}

/// Describes a text that is not a valid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a destination. Write a name (example.org, *.example.org), an address (127.0.0.1) or a \
     range (10.0.0.0/8), with a port after it where only that one is meant (127.0.0.1:8080)"
)]
pub struct PatternError(String);

impl Pattern {
    /// Tells whether it matches this name and port.
    pub(crate) fn matches_name(&self, name: &str, port: u16) -> bool {
        let target = match &self.target {
            Target::Name(own) => own == name,
            Target::Below(own) => {
                name.strip_suffix(own.as_str()).is_some_and(|below| below.ends_with('.'))
            }
            Target::Address(_) | Target::Range(_) => false,
        };
        target && self.has_port(port)
    }

    /// Tells whether it matches this address and port, by number.
    pub(crate) fn matches_address(&self, address: IpAddr, port: u16) -> bool {
        let target = match &self.target {
            Target::Address(own) => *own == address,
            Target::Range(range) => range.contains(&address),
            Target::Name(_) | Target::Below(_) => false,
        };
        target && self.has_port(port)
    }

    /// Tells whether it names exactly one address.
    pub(crate) fn is_one_address(&self) -> bool {
        matches!(self.target, Target::Address(_))
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let wrong = || PatternError(text.to_owned());
        if let Ok(range) = text.parse::<IpNet>() {
            return Ok(Self { target: Target::Range(range.trunc()), port: None });
        }
        // An IPv6 address without brackets has colons, and none of them is before a port.
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self { target: Target::Address(address.to_canonical()), port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| wrong())?))
            }
            _ => (text, None),
        };
        let (host, below) = match host.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (host, false),
        };
        let target = match (canonical_host(host).ok_or_else(wrong)?, below) {
            (Host::Domain(name), false) => Target::Name(name),
            (Host::Domain(name), true) => Target::Below(name),
            (Host::Ipv4(address), false) => Target::Address(address.into()),
            (Host::Ipv6(address), false) => Target::Address(IpAddr::V6(address).to_canonical()),
            (_, true) => return Err(wrong()),
        };
        Ok(Self { target, port })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.target, self.port) {
            (Target::Name(name), _) => f.write_str(name)?,
            (Target::Below(name), _) => write!(f, "*.{name}")?,
            (Target::Address(IpAddr::V6(address)), Some(_)) => write!(f, "[{address}]")?,
            (Target::Address(address), _) => write!(f, "{address}")?,
            (Target::Range(range), _) => write!(f, "{range}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_is_written_as_it_was_read() {
        for text in [
            "example.org",
            "example.org:8080",
            "*.example.org",
            "127.0.0.1",
            "127.0.0.1:8080",
            "10.0.0.0/8",
            "fd00::/8",
            "::1",
            "[::1]:443",
        ] {
            assert_eq!(pattern(text).to_string(), text);
        }
        assert_eq!(pattern("EXAMPLE.org.").to_string(), "example.org");
        assert_eq!(pattern("10.1.2.3/8").to_string(), "10.0.0.0/8");
        assert_eq!(pattern("bücher.example").to_string(), "xn--bcher-kva.example");
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "*", "*.", "a b", "http://a", "a:b", "a:99999", "10.0.0.0/40", "*.1.2.3.4"]
        {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_match_whole_labels_and_ports_only_where_given() {
        assert!(pattern("*.example.org").matches_name("a.example.org", 80));
        assert!(!pattern("*.example.org").matches_name("example.org", 80));
        assert!(!pattern("*.example.org").matches_name("badexample.org", 80));
        assert!(!pattern("example.org").matches_name("a.example.org", 80));
        assert!(pattern("example.org:81").matches_name("example.org", 81));
        assert!(!pattern("example.org:81").matches_name("example.org", 80));
        let address = "10.1.2.3".parse().unwrap();
        assert!(pattern("10.0.0.0/8").matches_address(address, 1));
        assert!(!pattern("10.1.2.3:80").matches_address(address, 81));
    }
}
