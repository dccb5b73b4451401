//! Encodes calls of the token, and what it signs and logs.

use std::borrow::Cow;

use alloy_primitives::{B256, U256};
use alloy_sol_types::{Eip712Domain, SolCall as _, SolEvent as _, SolStruct as _, sol};

use crate::{AccountAddress, Network, PaymentOrder, UsdcAmount};

sol! {
    function transfer(address to, uint256 value) external returns (bool);
    function balanceOf(address account) external view returns (uint256);
    function decimals() external view returns (uint8);
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
    event Transfer(address indexed from, address indexed to, uint256 value);

    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }
}

/// An authorization that is to be signed (EIP-3009).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferAuthorization {
    /// The account that pays.
    pub from: AccountAddress,
    /// The account that is paid.
    pub to: AccountAddress,
    /// The amount.
    pub amount: UsdcAmount,
    /// The time from which it holds, in seconds since the epoch.
    pub valid_after: u64,
    /// The time until which it can be redeemed, in seconds since the epoch.
    pub valid_before: u64,
    /// Its number.
    pub nonce: B256,
    /// The name of the token.
    pub token_name: String,
    /// The version of the token.
    pub token_version: String,
    /// The id of the network.
    pub chain_id: u64,
    /// The contract of the token.
    pub token: AccountAddress,
}

impl TransferAuthorization {
    /// Makes the authorization that pays an order.
    pub(crate) fn of(
        order: &PaymentOrder,
        network: &Network,
        nonce: B256,
        (valid_after, valid_before): (u64, u64),
    ) -> Self {
        Self {
            from: order.from(),
            to: order.to(),
            amount: order.amount(),
            valid_after,
            valid_before,
            nonce,
            token_name: network.token_name.clone(),
            token_version: network.token_version.clone(),
            chain_id: order.chain_id(),
            token: order.token(),
        }
    }

    /// Returns the hash that is signed (EIP-712).
    pub fn signing_hash(&self) -> B256 {
        let message = TransferWithAuthorization {
            from: self.from.get(),
            to: self.to.get(),
            value: U256::from(self.amount.units()),
            validAfter: U256::from(self.valid_after),
            validBefore: U256::from(self.valid_before),
            nonce: self.nonce,
        };
        let domain = Eip712Domain::new(
            Some(Cow::Owned(self.token_name.clone())),
            Some(Cow::Owned(self.token_version.clone())),
            Some(U256::from(self.chain_id)),
            Some(self.token.get()),
            None,
        );
        message.eip712_signing_hash(&domain)
    }
}

/// Returns the call that pays an order.
pub(crate) fn transfer(order: &PaymentOrder) -> Vec<u8> {
    let value = U256::from(order.amount().units());
    transferCall { to: order.to().get(), value }.abi_encode()
}

pub(crate) fn balance_of(account: AccountAddress) -> Vec<u8> {
    balanceOfCall { account: account.get() }.abi_encode()
}

pub(crate) fn decimals() -> Vec<u8> {
    decimalsCall {}.abi_encode()
}

pub(crate) fn authorization_state(authorizer: AccountAddress, nonce: B256) -> Vec<u8> {
    authorizationStateCall { authorizer: authorizer.get(), nonce }.abi_encode()
}

/// Returns the topics and the data that the token logs when an order is paid.
pub(crate) fn transfer_log(order: &PaymentOrder) -> (Vec<B256>, [u8; 32]) {
    let topics = vec![
        Transfer::SIGNATURE_HASH,
        order.from().get().into_word(),
        order.to().get().into_word(),
    ];
    (topics, U256::from(order.amount().units()).to_be_bytes())
}
