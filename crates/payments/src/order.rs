//! Defines payment orders: the one value that is shown for approval, reserved and signed.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{AccountAddress, Network, PaymentError, UsdcAmount, Wei};

/// Limits the text that says what a payment is for.
const MAX_PURPOSE_CHARACTERS: usize = 200;

/// Says how the money moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaymentMethod {
    /// By a transaction of our own, which costs a fee.
    Transfer,
    /// By an authorization that the recipient redeems (EIP-3009, x402).
    Authorization,
}

/// Says everything that a person approves: who pays whom how much, where, what for, at which fee.
///
/// Its canonical bytes are in the approval, in the ledger and compared again before it is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentOrder {
    method: PaymentMethod,
    network: String,
    chain_id: u64,
    token: AccountAddress,
    from: AccountAddress,
    to: AccountAddress,
    amount: UsdcAmount,
    max_fee: Wei,
    purpose: String,
}

/// Holds the parts of an order that its caller decides.
#[derive(Debug, Clone, Copy)]
pub struct OrderParts<'a> {
    /// How the money moves.
    pub method: PaymentMethod,
    /// The account that pays.
    pub from: AccountAddress,
    /// The account that is paid.
    pub to: AccountAddress,
    /// The amount, which is not zero.
    pub amount: UsdcAmount,
    /// The most that the network may take for it.
    pub max_fee: Wei,
    /// What it is for.
    pub purpose: &'a str,
}

impl PaymentOrder {
    /// Makes an order on a network.
    pub fn new(network: &Network, parts: OrderParts<'_>) -> Result<Self, PaymentError> {
        let OrderParts { method, from, to, amount, max_fee, purpose } = parts;
        if amount == UsdcAmount::ZERO {
            return Err(crate::AmountError::Zero.into());
        }
        if to == network.token {
            return Err(PaymentError::PaysToken);
        }
        if to == from {
            return Err(PaymentError::PaysSelf);
        }
        let purpose = purpose.trim();
        let length = purpose.chars().count();
        if length == 0 || length > MAX_PURPOSE_CHARACTERS {
            let max_characters = MAX_PURPOSE_CHARACTERS;
            return Err(PaymentError::Purpose { length, max_characters });
        }
        Ok(Self {
            method,
            network: network.name.clone(),
            chain_id: network.chain_id,
            token: network.token,
            from,
            to,
            amount,
            max_fee,
            // The approval shows what is stored, and hides nothing.
            purpose: lango_text::make_visible(purpose),
        })
    }

    /// Returns how the money moves.
    pub fn method(&self) -> PaymentMethod {
        self.method
    }

    /// Returns the name of the network.
    pub fn network(&self) -> &str {
        &self.network
    }

    /// Returns the id of the network.
    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// Returns the contract of the token.
    pub fn token(&self) -> AccountAddress {
        self.token
    }

    /// Returns the account that pays.
    pub fn from(&self) -> AccountAddress {
        self.from
    }

    /// Returns the account that is paid.
    pub fn to(&self) -> AccountAddress {
        self.to
    }

    /// Returns the amount.
    pub fn amount(&self) -> UsdcAmount {
        self.amount
    }

    /// Returns the most that the network may take for it.
    pub fn max_fee(&self) -> Wei {
        self.max_fee
    }

    /// Returns what it is for.
    pub fn purpose(&self) -> &str {
        &self.purpose
    }

    /// Returns the order as one text that is the same for the same order (RFC 8785).
    pub fn to_canonical(&self) -> Result<String, PaymentError> {
        serde_json_canonicalizer::to_string(self)
            .map_err(|error| PaymentError::Defect(error.to_string()))
    }

    /// Returns the SHA-256 of the canonical text, in hexadecimal digits.
    pub fn digest(&self) -> Result<String, PaymentError> {
        Ok(lango_text::hex(Sha256::digest(self.to_canonical()?)))
    }

    /// Reads an order from its canonical text.
    pub(crate) fn from_canonical(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Shows the whole order on lines of their own, for a person who decides about it.
impl fmt::Display for PaymentOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Pay {} to {}", self.amount, self.to)?;
        writeln!(f, "on {} (chain {}, token {})", self.network, self.chain_id, self.token)?;
        writeln!(f, "from {}", self.from)?;
        writeln!(f, "for: {}", self.purpose)?;
        match self.method {
            PaymentMethod::Transfer => write!(f, "network fee: at most {}", self.max_fee),
            PaymentMethod::Authorization => write!(f, "network fee: paid by the recipient"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(purpose: &str) -> OrderParts<'_> {
        OrderParts {
            method: PaymentMethod::Transfer,
            from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".parse().unwrap(),
            to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC".parse().unwrap(),
            amount: UsdcAmount::from_whole(2),
            max_fee: "0.0005".parse().unwrap(),
            purpose,
        }
    }

    #[test]
    fn a_person_sees_every_part_of_an_order() {
        let order = PaymentOrder::new(&Network::base(), parts("the dataset")).unwrap();
        assert_eq!(
            order.to_string(),
            "Pay 2 USDC to 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC\n\
             on base (chain 8453, token 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913)\n\
             from 0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n\
             for: the dataset\n\
             network fee: at most 0.0005 ETH"
        );
    }

    #[test]
    fn every_part_changes_the_digest() {
        let order = |change: fn(&mut OrderParts<'_>)| {
            let mut parts = parts("the dataset");
            change(&mut parts);
            PaymentOrder::new(&Network::base(), parts).unwrap().digest().unwrap()
        };
        let other = |network: Network| {
            PaymentOrder::new(&network, parts("the dataset")).unwrap().digest().unwrap()
        };
        let mut digests = vec![
            order(|_| ()),
            order(|parts| parts.amount = UsdcAmount::from_units(2_000_001).unwrap()),
            order(|parts| parts.max_fee = Wei(1)),
            order(|parts| parts.purpose = "another dataset"),
            order(|parts| parts.method = PaymentMethod::Authorization),
            order(|parts| parts.to = AccountAddress::new([7; 20].into())),
            order(|parts| parts.from = AccountAddress::new([7; 20].into())),
            other(Network::base_sepolia()),
        ];
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 8);
        assert_eq!(order(|_| ()), order(|_| ()));
    }

    #[test]
    fn an_order_is_read_back_from_its_canonical_text() {
        let order = PaymentOrder::new(&Network::base(), parts("the \"data\"\nset")).unwrap();
        let text = order.to_canonical().unwrap();
        assert_eq!(PaymentOrder::from_canonical(&text).unwrap(), order);
    }

    #[test]
    fn orders_that_make_no_sense_are_refused() {
        let network = Network::base();
        let refused = |parts: OrderParts<'_>| PaymentOrder::new(&network, parts).unwrap_err();
        let from = parts("x").from;
        assert!(matches!(refused(parts(" ")), PaymentError::Purpose { length: 0, .. }));
        assert!(matches!(refused(parts(&"x".repeat(201))), PaymentError::Purpose { .. }));
        assert!(matches!(refused(OrderParts { to: from, ..parts("x") }), PaymentError::PaysSelf));
        let to = network.token;
        assert!(matches!(refused(OrderParts { to, ..parts("x") }), PaymentError::PaysToken));
        let amount = UsdcAmount::ZERO;
        assert!(matches!(refused(OrderParts { amount, ..parts("x") }), PaymentError::Amount(_)));
    }
}
