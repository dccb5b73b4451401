//! Proposes payments: the text that a person approves is that of the order which is signed.

use lango_payments::{PaymentError, PaymentLimits, PaymentOrder};
use lango_tool::{BoundResource, CarriedText, Proposal, ProposedStep, SafetyLevel};

/// Proposes an order. Every part of it is bound to the decision by its digest.
pub(super) fn propose_order(
    order: &PaymentOrder,
    limits: &PaymentLimits,
) -> Result<Proposal, PaymentError> {
    let (to, amount) = (order.to().to_string(), order.amount().to_string());
    let is_small = limits.approves_alone(order.amount());
    Ok(Proposal {
        steps: vec![ProposedStep::new([order.network(), &to, &amount])],
        bound: vec![BoundResource {
            what: "the payment order".to_owned(),
            digest: order.digest()?,
        }],
        // A rule that allows one payment would allow it again and again.
        always_ask: (!is_small).then(|| "each payment is decided on by itself".to_owned()),
        level: (!is_small).then_some(SafetyLevel::Dangerous),
        // Where the conversation has text of others, even a small payment goes unasked only to an
        // address that the user named.
        carried_text: Some(CarriedText { text: to, to: None }),
        ..Proposal::plain(order.to_string())
    })
}

/// Proposes a call that cannot be made. It is refused when it runs.
pub(super) fn propose_refused(error: &PaymentError) -> Proposal {
    Proposal {
        level: Some(SafetyLevel::Dangerous),
        ..Proposal::plain(format!("Nothing would be paid: {error}"))
    }
}
