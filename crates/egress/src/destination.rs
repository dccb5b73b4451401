//! Parses a destination: scheme, host and port, as browsers read them.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use crate::error::Refusal;

/// Lists the schemes that use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http:`
    Http,
    /// `https:`
    Https,
    /// `ws:`
    WebSocket,
    /// `wss:`
    SecureWebSocket,
}

impl Scheme {
    fn of(text: &str) -> Option<Self> {
        match text {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            "ws" => Some(Self::WebSocket),
            "wss" => Some(Self::SecureWebSocket),
            _ => None,
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Http | Self::WebSocket => 80,
            Self::Https | Self::SecureWebSocket => 443,
        }
    }
}

/// A host and a port to connect to. The host has its one canonical spelling: an address that was
/// written as a decimal, octal, hexadecimal or short number is an address here, and a name is in
/// lower case, in ASCII and without a dot at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    host: Host<String>,
    port: u16,
}

impl Destination {
    /// Returns the destination of a URL, with the URL as it will be requested.
    pub fn of_url(text: &str) -> Result<(Url, Self), Refusal> {
        let wrong = |reason: String| Refusal::NotAnAddress { text: text.to_owned(), reason };
        let mut url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))?;
        let destination = Self::of_parsed(&url)?;
        // A dot at the end of a name changes nothing but its spelling, which rules are about.
        if let Host::Domain(name) = &destination.host
            && url.host_str() != Some(name)
        {
            url.set_host(Some(name)).map_err(|error| wrong(error.to_string()))?;
        }
        Ok((url, destination))
    }

    /// Returns the destination of a parsed URL.
    pub fn of_parsed(url: &Url) -> Result<Self, Refusal> {
        let scheme = Scheme::of(url.scheme())
            .ok_or_else(|| Refusal::Scheme { scheme: url.scheme().to_owned() })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let host = url.host_str().and_then(canonical_host).ok_or_else(|| {
            Refusal::NotAnAddress { text: url.to_string(), reason: "it has no host".to_owned() }
        })?;
        Ok(Self { host, port: url.port().unwrap_or(scheme.default_port()) })
    }

    /// Returns the destination of `host:port`, as a proxy is asked for it.
    pub fn of_authority(text: &str) -> Result<Self, Refusal> {
        let wrong = |reason: &str| Refusal::NotAnAddress {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(|| wrong("it has no port"))?;
        let port = port.parse().map_err(|_| wrong("its port is no number"))?;
        let host = canonical_host(host).ok_or_else(|| wrong("its host is none"))?;
        Ok(Self { host, port })
    }

    /// Returns the address, where the host is not a name.
    pub fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(IpAddr::V6(address).to_canonical()),
            Host::Domain(_) => None,
        }
    }

    /// Returns the name, where the host is not an address.
    pub fn name(&self) -> Option<&str> {
        match &self.host {
            Host::Domain(name) => Some(name),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        }
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.address(), &self.host) {
            (Some(IpAddr::V4(address)), _) => write!(f, "{address}:{}", self.port),
            (_, host) => write!(f, "{host}:{}", self.port),
        }
    }
}

/// Returns a host in its canonical spelling; `None` where the text is no host.
pub(crate) fn canonical_host(text: &str) -> Option<Host<String>> {
    let Host::Domain(name) = Host::parse(text).ok()? else { return Host::parse(text).ok() };
    let name = name.strip_suffix('.').unwrap_or(&name);
    // Resolvers disagree about empty labels; nothing public has one.
    let is_sound = !name.is_empty() && name.len() <= 253 && name.split('.').all(is_label);
    is_sound.then(|| Host::Domain(name.to_owned()))
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        for spelling in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "0x7F.0x0.0x0.0x1",
            "127.0.0.1.",
            "127.000.000.001",
            "１２７.0.0.1",
            "127。0。0。1",
            "%31%32%37.0.0.1",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:7f00:0001]",
        ] {
            let (_, destination) = Destination::of_url(&format!("http://{spelling}/")).unwrap();
            let loopback: IpAddr = "127.0.0.1".parse().unwrap();
            assert_eq!(destination.address(), Some(loopback), "{spelling}");
        }
    }

    #[test]
    fn names_have_one_spelling() {
        for (spelling, name) in [
            ("LOCALHOST.", "localhost"),
            ("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhost"),
            ("loc%61lhost", "localhost"),
            ("Bücher.Example", "xn--bcher-kva.example"),
        ] {
            let (_, destination) = Destination::of_url(&format!("http://{spelling}/")).unwrap();
            assert_eq!(destination.name(), Some(name), "{spelling}");
        }
    }

    #[test]
    fn the_host_is_what_comes_after_the_last_sign() {
        for text in ["http://good.example@127.0.0.1/", "http://a:b@good.example/"] {
            assert_eq!(Destination::of_url(text).unwrap_err(), Refusal::Credentials, "{text}");
        }
        let (_, destination) = Destination::of_url("http://127.0.0.1\\@good.example/").unwrap();
        assert_eq!(destination.to_string(), "127.0.0.1:80");
        let (_, destination) = Destination::of_url("http://127.0.0.1#@good.example/").unwrap();
        assert_eq!(destination.to_string(), "127.0.0.1:80");
    }

    #[test]
    fn other_schemes_are_refused_whatever_is_in_them() {
        for text in [
            "file:///etc/passwd",
            "FILE:/etc/passwd",
            "gopher://example.org/",
            "ftp://example.org/",
            "data:text/html,x",
            "javascript:alert(1)",
            "java\nscript:alert(1)",
            "chrome://version",
            "view-source:http://example.org/",
            "about:blank",
            "blob:http://example.org/1",
            "filesystem:http://example.org/x",
            " \tfile:///x",
            "dict://127.0.0.1:11211/",
        ] {
            let refusal = Destination::of_url(text).unwrap_err();
            assert!(matches!(refusal, Refusal::Scheme { .. }), "{text}: {refusal}");
        }
    }

    #[test]
    fn what_has_no_sound_host_is_refused() {
        for text in [
            "",
            "example.org",
            "//example.org",
            "http://",
            "http://a..b/",
            "http://localhost../",
            "http://a b/",
            "http://[::1",
            "http://1.2.3.4.5/",
            "http://256.1.1.1/",
            "http:///",
            "http://*/",
            "http://a_b.-./%00",
        ] {
            let result = Destination::of_url(text);
            let is_wrong = matches!(result, Err(Refusal::NotAnAddress { .. }));
            assert!(is_wrong || text.starts_with("http://a_b"), "{text}: {result:?}");
        }
        for text in ["example.org", "example.org:x", ":80", "a/b:80", "a:1:80", "user@a:80"] {
            assert!(Destination::of_authority(text).is_err(), "{text}");
        }
    }
}
