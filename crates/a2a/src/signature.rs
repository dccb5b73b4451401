//! Signs and verifies agent cards: JSON Web Signatures over the card's canonical form, with the
//! payload detached because it is the card itself.

use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::wire::canonical::{remove_empty, render_canonical};

/// Describes why a card cannot be signed or verified.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// The user: the key cannot be read or written.
    #[error(
        "cannot use the key {path}: {reason}. Name another file, or let a new one be generated"
    )]
    Key {
        /// The file.
        path: String,
        /// The cause.
        reason: String,
    },
    /// The card has no signature.
    #[error("the card has no signature")]
    Missing,
    /// No signature was made with a trusted key.
    #[error("no signature of the card was made with a trusted key")]
    Untrusted,
    /// The card was changed after it was signed.
    #[error("the card is not what was signed: its signature by {0:?} does not fit")]
    Wrong(String),
    /// The text is not a supported public key.
    #[error("not a supported public key: {0}")]
    NotAKey(String),
}

/// The supported algorithms: none with a shared secret, and never `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// A key that cards may be signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// Its id in signatures.
    pub key_id: String,
    algorithm: Algorithm,
    public: Vec<u8>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    crv: String,
    x: String,
    #[serde(default)]
    y: Option<String>,
    #[serde(default)]
    kid: Option<String>,
}

impl TrustedKey {
    /// Reads a JSON Web Key. Without a `kid`, its thumbprint is its id.
    pub fn from_jwk(text: &str) -> Result<Self, SignatureError> {
        let wrong = |reason: &dyn std::fmt::Display| SignatureError::NotAKey(reason.to_string());
        let jwk: Jwk = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let decode = |part: &str| BASE64.decode(part).map_err(|error| wrong(&error));
        let x = decode(&jwk.x)?;
        let (algorithm, public) = match (jwk.kty.as_str(), jwk.crv.as_str(), &jwk.y) {
            ("EC", "P-256", Some(y)) => {
                let public = [vec![4], x, decode(y)?].concat();
                (Algorithm::Es256, public)
            }
            ("OKP", "Ed25519", None) => (Algorithm::EdDsa, x),
            (kind, curve, _) => return Err(wrong(&format!("{kind} {curve}"))),
        };
        let length = if algorithm == Algorithm::Es256 { 65 } else { 32 };
        if public.len() != length {
            return Err(wrong(&"of the wrong length"));
        }
        let mut key = Self { key_id: String::new(), algorithm, public };
        key.key_id = jwk.kid.unwrap_or_else(|| key.thumbprint());
        Ok(key)
    }

    /// Returns the public key as a JSON Web Key that others can trust.
    pub fn to_jwk(&self) -> String {
        let mut jwk = self.public_members();
        jwk["kid"] = json!(self.key_id);
        jwk["alg"] = json!(self.algorithm);
        jwk["use"] = json!("sig");
        jwk.to_string()
    }

    fn public_members(&self) -> Value {
        match self.algorithm {
            Algorithm::Es256 => {
                let (x, y) = self.public[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "x": BASE64.encode(x), "y": BASE64.encode(y) })
            }
            Algorithm::EdDsa => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": BASE64.encode(&self.public) })
            }
        }
    }

    /// Returns the thumbprint of RFC 7638.
    fn thumbprint(&self) -> String {
        BASE64.encode(Sha256::digest(render_canonical(&self.public_members()).as_bytes()))
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match self.algorithm {
            Algorithm::Es256 => &ECDSA_P256_SHA256_FIXED,
            Algorithm::EdDsa => &ED25519,
        };
        UnparsedPublicKey::new(algorithm, &self.public).verify(message, signature).is_ok()
    }
}

/// Signs cards with ES256.
pub struct CardSigner {
    pair: EcdsaKeyPair,
    random: SystemRandom,
    key: TrustedKey,
}

impl CardSigner {
    /// Generates a key and saves it in a file that only its owner can read. Never overwrites a
    /// file.
    pub fn generate(path: &Path) -> Result<Self, SignatureError> {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|error| wrong_key_error(path, &error))?;
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|error| wrong_key_error(path, &error))?;
        file.write_all(document.as_ref())
            .and_then(|()| file.sync_all())
            .map_err(|error| wrong_key_error(path, &error))?;
        Self::from_document(document.as_ref(), path)
    }

    /// Opens a key file in PKCS#8, as [`CardSigner::generate`] writes it.
    pub fn open(path: &Path) -> Result<Self, SignatureError> {
        let document = std::fs::read(path).map_err(|error| wrong_key_error(path, &error))?;
        Self::from_document(&document, path)
    }

    fn from_document(document: &[u8], path: &Path) -> Result<Self, SignatureError> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document, &random)
            .map_err(|error| wrong_key_error(path, &error))?;
        let public = pair.public_key().as_ref().to_vec();
        let mut key = TrustedKey { key_id: String::new(), algorithm: Algorithm::Es256, public };
        key.key_id = key.thumbprint();
        Ok(Self { pair, random, key })
    }

    /// Returns the public key that verifies its signatures.
    pub fn key(&self) -> &TrustedKey {
        &self.key
    }

    /// Returns the entries for the card's `signatures`: one, or two if the card has empty members,
    /// because verifiers do not agree on whether to leave them out.
    pub fn sign_card(&self, card: &Value) -> Result<Vec<Value>, SignatureError> {
        let header =
            json!({ "alg": self.key.algorithm, "kid": self.key.key_id, "typ": "JOSE" }).to_string();
        let protected = BASE64.encode(header);
        let mut payloads: Vec<String> = render_payloads(card).collect();
        payloads.dedup();
        let sign = |payload: String| {
            let message = signing_input(&protected, &payload);
            let signature = self.pair.sign(&self.random, message.as_bytes());
            let signature =
                signature.map_err(|error| SignatureError::NotAKey(error.to_string()))?;
            Ok(json!({ "protected": protected, "signature": BASE64.encode(signature) }))
        };
        payloads.into_iter().map(sign).collect()
    }
}

#[derive(Deserialize)]
struct JwsHeader {
    alg: Value,
    #[serde(default)]
    kid: Option<String>,
}

/// Verifies the signatures of a card as it was received. Returns the id of the key that made one of
/// them.
pub fn verify_card(card: &Value, keys: &[TrustedKey]) -> Result<String, SignatureError> {
    let signatures = card.get("signatures").and_then(Value::as_array);
    let signatures = signatures.filter(|all| !all.is_empty()).ok_or(SignatureError::Missing)?;
    let mut wrong = None;
    for entry in signatures.iter().take(16) {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let (Some(protected), Some(signature)) = (text("protected"), text("signature")) else {
            continue;
        };
        // A signature that cannot be read is not one by a trusted key.
        let header = BASE64.decode(protected).ok();
        let header = header.and_then(|bytes| serde_json::from_slice::<JwsHeader>(&bytes).ok());
        let (Some(header), Ok(signature)) = (header, BASE64.decode(signature)) else { continue };
        // The key determines the algorithm; the header has to agree.
        let trusted = keys.iter().find(|key| {
            header.kid.as_ref() == Some(&key.key_id) && header.alg == json!(key.algorithm)
        });
        let Some(key) = trusted else { continue };
        let fits = signed_payloads(card)
            .any(|payload| key.verifies(signing_input(protected, &payload).as_bytes(), &signature));
        if fits {
            return Ok(key.key_id.clone());
        }
        wrong = Some(key.key_id.clone());
    }
    Err(wrong.map_or(SignatureError::Untrusted, SignatureError::Wrong))
}

/// Returns the forms in which a card may have been signed: as received, and reduced to the members
/// of this version, which is what a program sees that parsed it into types.
fn signed_payloads(card: &Value) -> impl Iterator<Item = String> {
    // A card that does not fit the types can only have been signed as received.
    let typed = serde_json::from_value::<a2a::AgentCard>(card.clone()).ok();
    let typed = typed.and_then(|card| serde_json::to_value(card).ok());
    let typed = typed.map(|card| render_payloads(&card).collect::<Vec<_>>()).unwrap_or_default();
    render_payloads(card).collect::<Vec<_>>().into_iter().chain(typed)
}

/// Returns the card without its signatures: first without empty members, then with them.
fn render_payloads(card: &Value) -> impl Iterator<Item = String> {
    let mut card = card.clone();
    if let Value::Object(members) = &mut card {
        members.remove("signatures");
    }
    let cleaned = remove_empty(&card).unwrap_or_else(|| json!({}));
    [render_canonical(&cleaned), render_canonical(&card)].into_iter()
}

fn signing_input(protected: &str, payload: &str) -> String {
    format!("{protected}.{}", BASE64.encode(payload))
}

fn wrong_key_error(path: &Path, reason: &dyn std::fmt::Display) -> SignatureError {
    SignatureError::Key { path: path.display().to_string(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Value {
        json!({ "name": "a", "description": "ä€", "version": "1", "capabilities": { "streaming": true },
                "supportedInterfaces": [], "skills": [], "defaultInputModes": [], "defaultOutputModes": [] })
    }

    fn signed(signer: &CardSigner) -> Value {
        let mut card = card();
        card["signatures"] = json!(signer.sign_card(&card).unwrap());
        card
    }

    #[test]
    fn a_signed_card_is_recognised_and_a_changed_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("card.key");
        let signer = CardSigner::generate(&path).unwrap();
        let trusted = TrustedKey::from_jwk(&signer.key().to_jwk()).unwrap();
        assert_eq!(trusted, *signer.key());
        let card = signed(&CardSigner::open(&path).unwrap());
        assert_eq!(verify_card(&card, std::slice::from_ref(&trusted)).unwrap(), trusted.key_id);
        let mut changed = card.clone();
        changed["description"] = json!("b");
        let error = verify_card(&changed, std::slice::from_ref(&trusted)).unwrap_err();
        assert!(matches!(error, SignatureError::Wrong(_)), "{error}");
        assert!(matches!(verify_card(&card, &[]).unwrap_err(), SignatureError::Untrusted));
        let error = verify_card(&self::card(), &[trusted]).unwrap_err();
        assert!(matches!(error, SignatureError::Missing));
        assert!(CardSigner::generate(&path).is_err(), "an existing key is not overwritten");
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("card.key");
        CardSigner::generate(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_algorithm_that_the_key_is_not_for_does_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let signer = CardSigner::generate(&directory.path().join("card.key")).unwrap();
        let mut card = signed(&signer);
        for algorithm in ["none", "HS256", "EdDSA"] {
            let header = json!({ "alg": algorithm, "kid": signer.key().key_id });
            for signature in card["signatures"].as_array_mut().unwrap() {
                signature["protected"] = json!(BASE64.encode(header.to_string()));
            }
            let error = verify_card(&card, &[signer.key().clone()]).unwrap_err();
            assert!(matches!(error, SignatureError::Untrusted), "{algorithm}: {error}");
        }
    }

    /// Uses RFC 8037, appendix A: a signature of Ed25519 and the thumbprint of its key.
    #[test]
    fn ed25519_is_understood() {
        let jwk =
            r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let key = TrustedKey::from_jwk(jwk).unwrap();
        assert_eq!(key.key_id, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let message = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        let signature = BASE64.decode(signature).unwrap();
        assert!(key.verifies(message.as_bytes(), &signature));
        assert!(!key.verifies(b"another", &signature));
    }
}
