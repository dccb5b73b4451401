//! Builds the transaction of an order, and checks that one is of an order.

use alloy_consensus::transaction::SignerRecoverable as _;
use alloy_consensus::{SignableTransaction as _, TxEip1559, TxEnvelope};
use alloy_eips::eip2718::{Decodable2718 as _, Encodable2718 as _};
use alloy_eips::eip2930::AccessList;
use alloy_primitives::{Bytes, Signature, TxKind, U256};

use super::{FeeQuote, token};
use crate::{PaymentError, PaymentOrder, SignedPayment};

/// Returns the transaction that pays an order.
pub(crate) fn build_transfer(order: &PaymentOrder, nonce: u64, fee: &FeeQuote) -> TxEip1559 {
    TxEip1559 {
        chain_id: order.chain_id(),
        nonce,
        gas_limit: fee.gas_limit,
        max_fee_per_gas: fee.max_fee_per_gas,
        max_priority_fee_per_gas: fee.priority_fee_per_gas.min(fee.max_fee_per_gas),
        to: TxKind::Call(order.token().get()),
        value: U256::ZERO,
        access_list: AccessList::default(),
        input: Bytes::from(token::transfer(order)),
    }
}

/// Puts a transaction and its signature together, and checks the bytes that came out.
pub(crate) fn seal_transfer(
    order: &PaymentOrder,
    transaction: TxEip1559,
    signature: Signature,
) -> Result<SignedPayment, PaymentError> {
    let nonce = transaction.nonce;
    let envelope = TxEnvelope::Eip1559(transaction.into_signed(signature));
    let (hash, raw) = (*envelope.tx_hash(), envelope.encoded_2718());
    check_transfer(order, nonce, &raw)?;
    Ok(SignedPayment::Transfer { nonce, hash, raw })
}

/// Checks that the bytes of a transaction pay exactly this order, and are signed by its wallet.
pub(crate) fn check_transfer(
    order: &PaymentOrder,
    nonce: u64,
    raw: &[u8],
) -> Result<(), PaymentError> {
    let defect = |what: &str| PaymentError::Defect(format!("the signed transaction {what}"));
    let mut rest = raw;
    let envelope = TxEnvelope::decode_2718(&mut rest).map_err(|_| defect("cannot be read back"))?;
    let TxEnvelope::Eip1559(inner) = &envelope else {
        return Err(defect("is of another kind"));
    };
    let signer = envelope.recover_signer().map_err(|_| defect("has no valid signature"))?;
    let transaction = inner.tx();
    let fee = u128::from(transaction.gas_limit).saturating_mul(transaction.max_fee_per_gas);
    let is_order = rest.is_empty()
        && signer == order.from().get()
        && transaction.chain_id == order.chain_id()
        && transaction.nonce == nonce
        && transaction.to == TxKind::Call(order.token().get())
        && transaction.value.is_zero()
        && transaction.access_list.is_empty()
        && transaction.input.as_ref() == token::transfer(order)
        && fee <= order.max_fee().0;
    if is_order { Ok(()) } else { Err(defect("is not of the order that was approved")) }
}
