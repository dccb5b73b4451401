//! Pays for what a site offers with HTTP 402 (x402, scheme `exact`).
//!
//! A site names a price in an [`Offer`]. A person approves the order of that offer, and it is paid
//! once: the authorization is reserved and stored like a transfer, and sent to the very address that
//! offered. A site that then asks for more, or for another recipient or network, gets nothing.

mod offer;
mod paid_request;
mod wire;

pub use offer::{Offer, OfferError};
pub use paid_request::{FetchOutcome, PaidPage};
