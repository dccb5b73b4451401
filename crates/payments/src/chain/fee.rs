//! Finds out what a transaction costs, and bounds it by what was approved.

use alloy_primitives::{Bytes, U256, address};
use alloy_sol_types::{SolCall as _, sol};

use super::{BlockTag, ChainClient, ChainError, ContractCall, token};
use crate::{AccountAddress, PaymentOrder, Wei};

sol! {
    function getL1FeeUpperBound(uint256 unsignedTxSize) external view returns (uint256);
}

/// Tells the fee for the network below, on every network of the OP stack.
const GAS_PRICE_ORACLE: AccountAddress =
    AccountAddress::new(address!("420000000000000000000000000000000000000F"));

/// More than the bytes of a transaction that moves a token.
const TRANSFER_BYTES: u64 = 200;

/// Is offered to the producer of blocks if the node has no opinion.
const DEFAULT_PRIORITY_FEE: u128 = 1_000_000;

/// Says what a transaction may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeeQuote {
    /// The most steps of computation.
    pub gas_limit: u64,
    /// The most for one step.
    pub max_fee_per_gas: u128,
    /// The part of it for the producer of the block.
    pub priority_fee_per_gas: u128,
    /// The fee for the network below.
    pub data_fee: Wei,
}

impl FeeQuote {
    /// Returns the most that the transaction can cost.
    pub(crate) fn total(&self) -> Wei {
        let execution = u128::from(self.gas_limit).saturating_mul(self.max_fee_per_gas);
        Wei(execution.saturating_add(self.data_fee.0))
    }

    /// Lowers the offer for a step until all of it fits into `limit`. Returns none if then no block
    /// would take it.
    fn within(mut self, limit: Wei, base_fee: u128) -> Option<Self> {
        if self.total() > limit {
            let available = limit.0.checked_sub(self.data_fee.0)?;
            self.max_fee_per_gas = available / u128::from(self.gas_limit.max(1));
        }
        let least = base_fee.saturating_add(self.priority_fee_per_gas);
        (self.max_fee_per_gas >= least).then_some(self)
    }
}

/// Says why a payment cannot be made now, found before anything was signed.
#[derive(Debug)]
pub(crate) enum FeeFinding {
    Affordable(FeeQuote),
    TooHigh(FeeQuote),
}

impl ChainClient {
    /// Finds out what the transaction of an order costs now.
    pub(crate) async fn quote_fee(&self, order: &PaymentOrder) -> Result<FeeFinding, ChainError> {
        let block = self.latest_block().await?;
        let call = ContractCall {
            from: Some(order.from().get()),
            to: order.token().get(),
            data: Bytes::from(token::transfer(order)),
        };
        let gas: U256 = self.rpc.call("eth_estimateGas", (call,)).await?;
        let gas = u64::try_from(gas).unwrap_or(u64::MAX);
        let priority = self.rpc.call::<U256>("eth_maxPriorityFeePerGas", ()).await;
        let priority_fee_per_gas = match priority {
            Ok(fee) => u128::try_from(fee).unwrap_or(u128::MAX),
            Err(ChainError::Refused { .. }) => DEFAULT_PRIORITY_FEE,
            Err(error) => return Err(error),
        };
        // Twice the price of now: it may rise by an eighth with each block.
        let max_fee_per_gas =
            block.base_fee().saturating_mul(2).saturating_add(priority_fee_per_gas);
        let quote = FeeQuote {
            // A quarter more: the balance of the recipient may be empty by then.
            gas_limit: gas.saturating_add(gas / 4),
            max_fee_per_gas,
            priority_fee_per_gas,
            data_fee: self.quote_data_fee().await?,
        };
        Ok(match quote.within(order.max_fee(), block.base_fee()) {
            Some(quote) => FeeFinding::Affordable(quote),
            None => FeeFinding::TooHigh(quote),
        })
    }

    async fn quote_data_fee(&self) -> Result<Wei, ChainError> {
        if !self.network.has_data_fee {
            return Ok(Wei::ZERO);
        }
        let data = getL1FeeUpperBoundCall { unsignedTxSize: U256::from(TRANSFER_BYTES) };
        let (from, to) = (None, GAS_PRICE_ORACLE.get());
        let call = ContractCall { from, to, data: Bytes::from(data.abi_encode()) };
        let answer: Bytes = self.rpc.call("eth_call", (call, BlockTag::Latest)).await?;
        let word: Option<[u8; 32]> = answer.as_ref().try_into().ok();
        let fee = word.map(U256::from_be_bytes).ok_or_else(|| {
            self.rpc.unreadable("eth_call", "no fee of the network below".to_owned())
        })?;
        Ok(Wei(u128::try_from(fee).unwrap_or(u128::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_lowered_to_the_limit_or_refused() {
        let quote = FeeQuote {
            gas_limit: 100,
            max_fee_per_gas: 21,
            priority_fee_per_gas: 1,
            data_fee: Wei(50),
        };
        assert_eq!(quote.total(), Wei(2150));
        assert_eq!(quote.within(Wei(2150), 10), Some(quote));
        let lowered = quote.within(Wei(1350), 10).unwrap();
        assert_eq!((lowered.max_fee_per_gas, lowered.total()), (13, Wei(1350)));
        assert_eq!(quote.within(Wei(1049), 10), None, "less than a block takes");
        assert_eq!(quote.within(Wei(10), 10), None, "less than the network below takes");
    }
}
