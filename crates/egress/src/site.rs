//! What people take for one place on the web, for questions and rules that are about it.

use url::Url;

/// Identifies a site: a host with its port, whether encrypted or not, with or without `www`. A
/// question about an address is about its site: what another one gets, was not asked about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    host: String,
    /// `None` for the usual ports of HTTP and HTTPS.
    port: Option<u16>,
}

impl Site {
    /// Returns the site of an address, if it is one of HTTP.
    pub fn of_url(url: &Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let host = url.host_str()?.trim_end_matches('.').to_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        Some(Self { host, port: url.port() })
    }

    /// Returns the site of an address in text, if it is one of HTTP.
    pub fn of(url: &str) -> Option<Self> {
        Self::of_url(&Url::parse(url).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_site_has_several_spellings_and_no_other_site_is_one_of_them() {
        let site = Site::of("http://Example.org/a?b");
        assert!(site.is_some());
        for same in [
            "https://example.org/",
            "https://www.example.org/c",
            "http://example.org./",
            "http://example.org:80/",
            "http://user@EXAMPLE.org/",
        ] {
            assert_eq!(Site::of(same), site, "{same}");
        }
        for other in [
            "https://example.org.evil.example/",
            "https://evil-example.org/",
            "https://sub.example.org/",
            "http://example.org:8080/",
            "https://example.com/?example.org",
            "http://example.org@evil.example/",
            "about:blank",
            "ftp://example.org/",
        ] {
            assert_ne!(Site::of(other), site, "{other}");
        }
    }
}
