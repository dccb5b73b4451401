//! Authenticates the clients of a proxy by its password.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::HeaderMap;
use hyper::header::PROXY_AUTHORIZATION;

/// Holds a user name and a password that cannot be guessed.
#[derive(Clone)]
pub struct ProxyCredentials {
    user: &'static str,
    password: String,
}

impl ProxyCredentials {
    pub(super) fn generate() -> Self {
        let password =
            format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        Self { user: "lango", password }
    }

    /// Returns the user name.
    pub fn user(&self) -> &str {
        self.user
    }

    /// Returns the password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Tells whether a request carries these credentials.
    pub(super) fn are_in(&self, headers: &HeaderMap) -> bool {
        let expected = BASE64_STANDARD.encode(format!("{}:{}", self.user, self.password));
        let given = headers.get(PROXY_AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Basic ")).unwrap_or_default();
        // Takes the same time wherever the first difference is.
        given.len() == expected.len()
            && given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for ProxyCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProxyCredentials(…)")
    }
}
