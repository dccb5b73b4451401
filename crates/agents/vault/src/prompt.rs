//! Asks the person for a value. It never passes a model, the journal or an event.

use std::future::Future;
use std::pin::Pin;

use lango_keystore::SecretBytes;
use lango_protocol::CallId;

/// Resolves to the answer.
pub type PromptFuture = Pin<Box<dyn Future<Output = ValueAnswer> + Send>>;

/// Asks the person for a value, in the client that is used. Implemented by the user interfaces.
pub trait ValuePrompt: Send + Sync {
    /// Asks for a value. What is typed is not shown.
    fn ask(&self, question: ValueQuestion) -> PromptFuture;
}

/// Describes the value that is asked for.
#[derive(Debug, Clone)]
pub struct ValueQuestion {
    /// The call that waits for it.
    pub call: CallId,
    /// The name that it gets.
    pub name: String,
}

/// The answer of a person.
#[derive(Debug)]
pub enum ValueAnswer {
    /// The value.
    Given(SecretBytes),
    /// The person does not want to give one.
    Declined,
    /// No person can be asked here.
    NoPerson,
}

/// Asks no one, because no person is present.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPrompt;

impl ValuePrompt for NoPrompt {
    fn ask(&self, _: ValueQuestion) -> PromptFuture {
        Box::pin(async { ValueAnswer::NoPerson })
    }
}
