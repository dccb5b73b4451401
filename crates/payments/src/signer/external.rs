//! Lets an external signer sign, over JSON-RPC (`eth_signTransaction`, `eth_signTypedData_v4`), such as
//! one with a hardware key. What it returns is taken only if it is what was asked for.

use alloy_consensus::{SignableTransaction as _, TxEip1559, TxEnvelope};
use alloy_eips::eip2718::Decodable2718 as _;
use alloy_primitives::{Address, Bytes, Signature, U64, U128, U256};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{PaymentSigner, SignFuture, SignerError, TransferAuthorization};
use crate::chain::{ChainError, RpcClient};
use crate::{AccountAddress, PaymentError};

/// Signs at another address.
pub struct ExternalSigner {
    address: AccountAddress,
    rpc: RpcClient,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TransactionRequest {
    from: Address,
    to: Option<Address>,
    gas: U64,
    max_fee_per_gas: U128,
    max_priority_fee_per_gas: U128,
    value: U256,
    nonce: U64,
    data: Bytes,
    chain_id: U64,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// The two forms in which signers return a transaction.
#[derive(Deserialize)]
#[serde(untagged)]
enum SignedTransaction {
    Plain(Bytes),
    WithDetails { raw: Bytes },
}

impl ExternalSigner {
    /// Makes a signer for an account whose key the server at `url` has.
    pub fn new(address: AccountAddress, url: &str) -> Result<Self, PaymentError> {
        Ok(Self { address, rpc: RpcClient::new("the external signer", url)? })
    }

    async fn sign_transaction(&self, transaction: &TxEip1559) -> Result<Signature, SignerError> {
        let request = TransactionRequest {
            from: self.address.get(),
            to: transaction.to.to().copied(),
            gas: U64::from(transaction.gas_limit),
            max_fee_per_gas: U128::from(transaction.max_fee_per_gas),
            max_priority_fee_per_gas: U128::from(transaction.max_priority_fee_per_gas),
            value: transaction.value,
            nonce: U64::from(transaction.nonce),
            data: transaction.input.clone(),
            chain_id: U64::from(transaction.chain_id),
            kind: "0x2",
        };
        let signed = self.rpc.call("eth_signTransaction", (request,)).await;
        let raw = match signed.map_err(external_error)? {
            SignedTransaction::Plain(raw) | SignedTransaction::WithDetails { raw } => raw,
        };
        let other = || SignerError::External("it signed another transaction".to_owned());
        let envelope = TxEnvelope::decode_2718(&mut raw.as_ref()).map_err(|_| other())?;
        let TxEnvelope::Eip1559(signed) = envelope else { return Err(other()) };
        if signed.tx() != transaction {
            return Err(other());
        }
        self.check(*signed.signature(), transaction.signature_hash())
    }

    async fn sign_typed_data(
        &self,
        authorization: &TransferAuthorization,
    ) -> Result<Signature, SignerError> {
        let params = (self.address.get(), typed_data(authorization));
        let signed: Bytes =
            self.rpc.call("eth_signTypedData_v4", params).await.map_err(external_error)?;
        let signature = Signature::from_raw(&signed)
            .map_err(|error| SignerError::External(error.to_string()))?;
        self.check(signature, authorization.signing_hash())
    }

    /// Takes a signature only if it is of the wallet and of what was asked for.
    fn check(
        &self,
        signature: Signature,
        hash: alloy_primitives::B256,
    ) -> Result<Signature, SignerError> {
        let found = signature
            .recover_address_from_prehash(&hash)
            .map_err(|error| SignerError::External(error.to_string()))?;
        let (found, expected) = (AccountAddress::new(found), self.address);
        if found == expected {
            Ok(signature)
        } else {
            Err(SignerError::OtherKey { found, expected })
        }
    }
}

impl PaymentSigner for ExternalSigner {
    fn address(&self) -> AccountAddress {
        self.address
    }

    fn sign_transfer<'a>(&'a self, transaction: &'a TxEip1559) -> SignFuture<'a> {
        Box::pin(self.sign_transaction(transaction))
    }

    fn sign_authorization<'a>(
        &'a self,
        authorization: &'a TransferAuthorization,
    ) -> SignFuture<'a> {
        Box::pin(self.sign_typed_data(authorization))
    }
}

fn external_error(error: ChainError) -> SignerError {
    SignerError::External(match error {
        ChainError::Unreachable { reason, .. } | ChainError::Unreadable { reason, .. } => reason,
        ChainError::Refused { message, .. } => message,
        ChainError::OtherChain { found, .. } => found,
    })
}

/// Writes an authorization as wallets show it (EIP-712).
fn typed_data(authorization: &TransferAuthorization) -> serde_json::Value {
    let field = |name: &str, kind: &str| json!({"name": name, "type": kind});
    json!({
        "types": {
            "EIP712Domain": [
                field("name", "string"),
                field("version", "string"),
                field("chainId", "uint256"),
                field("verifyingContract", "address"),
            ],
            "TransferWithAuthorization": [
                field("from", "address"),
                field("to", "address"),
                field("value", "uint256"),
                field("validAfter", "uint256"),
                field("validBefore", "uint256"),
                field("nonce", "bytes32"),
            ],
        },
        "primaryType": "TransferWithAuthorization",
        "domain": {
            "name": authorization.token_name,
            "version": authorization.token_version,
            "chainId": authorization.chain_id,
            "verifyingContract": authorization.token,
        },
        "message": {
            "from": authorization.from,
            "to": authorization.to,
            "value": authorization.amount.units().to_string(),
            "validAfter": authorization.valid_after.to_string(),
            "validBefore": authorization.valid_before.to_string(),
            "nonce": authorization.nonce,
        },
    })
}
