//! Defines the networks that payments are made on.

use alloy_primitives::address;

use crate::AccountAddress;

/// A network, with the one token that is paid on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its name for users, and for x402: `base`, `base-sepolia`, or a name of their own.
    pub name: String,
    /// Its id, which is part of everything that is signed.
    pub chain_id: u64,
    /// The contract of USDC.
    pub token: AccountAddress,
    /// The name of the token in signed authorizations.
    pub token_name: String,
    /// The version of the token in signed authorizations.
    pub token_version: String,
    /// The address of a node.
    pub rpc_url: String,
    /// Tells whether it is a test network, whose money has no value.
    pub is_test: bool,
    /// Tells whether a further fee is taken for the network below, as on all networks of the OP stack.
    pub has_data_fee: bool,
}

impl Network {
    /// Returns Base.
    pub fn base() -> Self {
        Self {
            name: "base".to_owned(),
            chain_id: 8453,
            token: AccountAddress::new(address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")),
            token_name: "USD Coin".to_owned(),
            token_version: "2".to_owned(),
            rpc_url: "https://mainnet.base.org".to_owned(),
            is_test: false,
            has_data_fee: true,
        }
    }

    /// Returns the test network of Base.
    pub fn base_sepolia() -> Self {
        Self {
            name: "base-sepolia".to_owned(),
            chain_id: 84532,
            token: AccountAddress::new(address!("036CbD53842c5426634e7929541eC2318f3dCF7e")),
            token_name: "USDC".to_owned(),
            token_version: "2".to_owned(),
            rpc_url: "https://sepolia.base.org".to_owned(),
            is_test: true,
            has_data_fee: true,
        }
    }

    /// Returns a network of one's own, such as a node on this machine.
    pub fn custom(name: &str, chain_id: u64, token: AccountAddress, rpc_url: &str) -> Self {
        Self {
            name: name.to_owned(),
            chain_id,
            token,
            rpc_url: rpc_url.to_owned(),
            has_data_fee: false,
            is_test: true,
            ..Self::base()
        }
    }

    /// Returns its name with what users should know about it.
    pub fn title(&self) -> String {
        let kind = if self.is_test { ", a test network" } else { "" };
        format!("{} (chain {}{kind})", self.name, self.chain_id)
    }

    /// Returns its name in the form that x402 uses since version 2.
    pub(crate) fn caip2(&self) -> String {
        format!("eip155:{}", self.chain_id)
    }
}
