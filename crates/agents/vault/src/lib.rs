//! Holds the vault's tools: secrets that no model sees, keys, and what is done with them.
//!
//! A secret's value comes from the person ([`ValuePrompt`]) and goes to where a call was approved for
//! (`lango_keystore::SecretHandles`). Models get names, digests, signatures and handles. How values
//! are kept belongs to `lango-keystore`.

mod agent;
mod crypto;
mod files;
mod payment;
mod prompt;
mod secrets;

pub use agent::{VaultAgent, VaultResources, VaultSettings};
pub use crypto::{KeyKind, create_key};
pub use payment::{PaymentResources, payment_tools};
pub use prompt::{NoPrompt, PromptFuture, ValueAnswer, ValuePrompt, ValueQuestion};
