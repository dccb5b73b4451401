//! Defines tokens, which are shown once and stored as a hash.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};

/// The reason why there is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// User error: the token can be guessed.
    #[error(
        "the token is too short or has characters that a header cannot carry: use {MIN_TOKEN_BYTES} to \
         {MAX_TOKEN_BYTES} visible characters without spaces, such as the output of: openssl rand -hex 32"
    )]
    Weak,
    /// System error: there are no random numbers.
    #[error("this system gives no random numbers, so no token can be made")]
    NoRandomNumbers,
}

/// Sets the minimum length of a token. Shorter ones could be guessed.
const MIN_TOKEN_BYTES: usize = 16;
/// Limits the length of a token.
const MAX_TOKEN_BYTES: usize = 512;

/// Authenticates a caller. Its `Debug` output hides the value.
#[derive(Clone, PartialEq, Eq)]
pub struct CallerToken(String);

impl CallerToken {
    /// Generates a token of 256 random bits.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bytes = [0_u8; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_| TokenError::NoRandomNumbers)?;
        Ok(Self(format!("lango_{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// Checks a token that the user chose.
    pub fn from_user(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let fits = (MIN_TOKEN_BYTES..=MAX_TOKEN_BYTES).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(TokenError::Weak)
        }
    }

    /// Returns the value, to show it once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn digest(&self) -> TokenDigest {
        TokenDigest::of(&self.0)
    }
}

impl fmt::Debug for CallerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The stored form of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 32]);

impl TokenDigest {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Returns the bytes for the database.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Compares all bytes in constant time.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(other.0.iter());
        std::hint::black_box(pairs.fold(0_u8, |difference, (a, b)| difference | (a ^ b))) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_not_printed_by_accident() {
        let (one, other) = (CallerToken::generate().unwrap(), CallerToken::generate().unwrap());
        assert_ne!(one, other);
        assert!(one.reveal().len() > 40);
        assert!(!format!("{one:?}").contains(one.reveal()));
        assert!(one.digest().matches(&TokenDigest::of(one.reveal())));
        assert!(!one.digest().matches(&other.digest()));
    }

    #[test]
    fn a_token_that_could_be_guessed_is_refused() {
        for bad in ["", "short", "has a space in the middle", "fünfzehn-zeichen-und-mehr"] {
            assert_eq!(CallerToken::from_user(bad), Err(TokenError::Weak), "{bad}");
        }
        assert_eq!(
            CallerToken::from_user(" 0123456789abcdef\n").unwrap().reveal(),
            "0123456789abcdef"
        );
    }
}
