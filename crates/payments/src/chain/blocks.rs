//! Reads blocks and receipts.

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use serde::Deserialize;

use super::{BlockTag, ChainClient, ChainError, token};
use crate::{PaymentOrder, Wei};

/// A block, as far as it matters here.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Block {
    number: U64,
    hash: B256,
    timestamp: U64,
    #[serde(default)]
    base_fee_per_gas: U256,
}

impl Block {
    pub(crate) fn number(&self) -> u64 {
        self.number.to()
    }

    pub(crate) fn hash(&self) -> B256 {
        self.hash
    }

    /// Returns its time in seconds since the epoch.
    pub(crate) fn timestamp(&self) -> u64 {
        self.timestamp.to()
    }

    pub(crate) fn base_fee(&self) -> u128 {
        u128::try_from(self.base_fee_per_gas).unwrap_or(u128::MAX)
    }
}

/// Says what became of a transaction that is in a block.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receipt {
    status: U64,
    block_number: U64,
    #[serde(default)]
    gas_used: U256,
    #[serde(default)]
    effective_gas_price: U256,
    /// The fee for the network below.
    #[serde(default)]
    l1_fee: Option<U256>,
    #[serde(default)]
    logs: Vec<Log>,
}

#[derive(Debug, Clone, Deserialize)]
struct Log {
    address: Address,
    topics: Vec<B256>,
    data: Bytes,
}

impl Receipt {
    pub(crate) fn block(&self) -> u64 {
        self.block_number.to()
    }

    /// Returns the fee that was taken, whether or not money moved.
    pub(crate) fn fee(&self) -> Wei {
        let execution = self.gas_used.saturating_mul(self.effective_gas_price);
        let fee = execution.saturating_add(self.l1_fee.unwrap_or_default());
        Wei(u128::try_from(fee).unwrap_or(u128::MAX))
    }

    /// Tells whether the money of an order moved: the token itself says so.
    pub(crate) fn pays(&self, order: &PaymentOrder) -> bool {
        let (topics, amount) = token::transfer_log(order);
        !self.status.is_zero()
            && self.logs.iter().any(|log| {
                log.address == order.token().get()
                    && log.topics == topics
                    && log.data.as_ref() == amount
            })
    }
}

impl ChainClient {
    /// Returns the newest block.
    pub(crate) async fn latest_block(&self) -> Result<Block, ChainError> {
        self.block(BlockTag::Latest).await
    }

    /// Returns a block.
    pub(crate) async fn block(&self, tag: BlockTag) -> Result<Block, ChainError> {
        let method = "eth_getBlockByNumber";
        let block: Option<Block> = self.rpc.call(method, (tag, false)).await?;
        block.ok_or_else(|| self.rpc.unreadable(method, "no block".to_owned()))
    }

    /// Returns the receipt of a transaction; none if no block has it.
    pub(crate) async fn receipt(&self, hash: B256) -> Result<Option<Receipt>, ChainError> {
        self.rpc.call("eth_getTransactionReceipt", (hash,)).await
    }
}
