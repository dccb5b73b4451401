//! Speaks to a node of the network: what it knows, and transactions that it passes on.
//!
//! A node is asked, and not trusted: what decides about money is compared with what was signed, and
//! with the id and the first block of the network.

mod blocks;
mod fee;
mod rpc;
pub(crate) mod token;
pub(crate) mod transfer;

pub(crate) use fee::{FeeFinding, FeeQuote};
pub(crate) use rpc::RpcClient;

use alloy_primitives::{Address, B256, Bytes, U64, U256, hex};
use serde::Serialize;

use crate::{AccountAddress, Network, UsdcAmount, Wei};

/// Says why a node did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// It cannot be reached, or broke off. What was sent to it may have arrived.
    #[error(
        "the node of {network} cannot be reached: {reason}. \
         Check the connection, or set another node: lango config set payment.rpcUrl URL"
    )]
    Unreachable {
        /// The network.
        network: String,
        /// The cause.
        reason: String,
    },
    /// It refused.
    #[error("the node of {network} refused {method}: {message}")]
    Refused {
        /// The network.
        network: String,
        /// The request.
        method: &'static str,
        /// Its words.
        message: String,
    },
    /// Its answer has no meaning.
    #[error("the node of {network} answered {method} with something else: {reason}")]
    Unreadable {
        /// The network.
        network: String,
        /// The request.
        method: &'static str,
        /// The difference.
        reason: String,
    },
    /// It is of another network.
    #[error(
        "the node at {url} is of {found}, not of {expected}. Nothing is sent to it. \
         Set another node: lango config set payment.rpcUrl URL"
    )]
    OtherChain {
        /// The address of the node.
        url: String,
        /// The network that it is of.
        found: String,
        /// The network that is set up.
        expected: String,
    },
}

impl ChainError {
    /// Tells whether a node refuses a transaction because it has it already.
    pub(crate) fn is_known_already(&self) -> bool {
        let Self::Refused { message, .. } = self else { return false };
        let message = message.to_ascii_lowercase();
        ["already known", "already imported", "already exists", "known transaction"]
            .iter()
            .any(|words| message.contains(words))
    }
}

/// A node of the network.
#[derive(Clone)]
pub(crate) struct ChainClient {
    pub(crate) network: Network,
    rpc: RpcClient,
}

/// A call of a contract, as nodes take it.
#[derive(Serialize)]
struct ContractCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Address>,
    to: Address,
    data: Bytes,
}

/// Names a block for a question about the state after it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BlockTag {
    /// With all transactions that the node knows and no block has.
    Pending,
    /// The newest block.
    Latest,
    /// A block by its number.
    Number(u64),
}

impl Serialize for BlockTag {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Pending => serializer.serialize_str("pending"),
            Self::Latest => serializer.serialize_str("latest"),
            Self::Number(number) => serializer.collect_str(&format_args!("{number:#x}")),
        }
    }
}

impl ChainClient {
    pub(crate) fn new(network: Network) -> Result<Self, ChainError> {
        let rpc = RpcClient::new(&network.name, &network.rpc_url)?;
        Ok(Self { network, rpc })
    }

    /// Returns the id that the node says it has.
    pub(crate) async fn chain_id(&self) -> Result<u64, ChainError> {
        let id: U64 = self.rpc.call("eth_chainId", ()).await?;
        Ok(id.to())
    }

    /// Returns the number of transactions of an account, which is the number of its next one.
    pub(crate) async fn transaction_count(
        &self,
        account: AccountAddress,
        block: BlockTag,
    ) -> Result<u64, ChainError> {
        let count: U64 = self.rpc.call("eth_getTransactionCount", (account.get(), block)).await?;
        Ok(count.to())
    }

    /// Returns the ether of an account.
    pub(crate) async fn native_balance(&self, account: AccountAddress) -> Result<Wei, ChainError> {
        let method = "eth_getBalance";
        let balance: U256 = self.rpc.call(method, (account.get(), BlockTag::Pending)).await?;
        // More than 2^128 wei do not exist.
        Ok(Wei(u128::try_from(balance).unwrap_or(u128::MAX)))
    }

    /// Returns the USDC of an account.
    pub(crate) async fn token_balance(
        &self,
        account: AccountAddress,
    ) -> Result<UsdcAmount, ChainError> {
        let word = self.read_token(token::balance_of(account), BlockTag::Pending).await?;
        let units = u64::try_from(word).ok().and_then(UsdcAmount::from_units);
        units.ok_or_else(|| self.rpc.unreadable("eth_call", format!("a balance of {word}")))
    }

    /// Returns the number of decimals of the token.
    pub(crate) async fn token_decimals(&self) -> Result<U256, ChainError> {
        self.read_token(token::decimals(), BlockTag::Latest).await
    }

    /// Tells whether an authorization was redeemed.
    pub(crate) async fn is_redeemed(
        &self,
        authorizer: AccountAddress,
        nonce: B256,
        block: BlockTag,
    ) -> Result<bool, ChainError> {
        let word = self.read_token(token::authorization_state(authorizer, nonce), block).await?;
        Ok(!word.is_zero())
    }

    async fn read_token(&self, data: Vec<u8>, block: BlockTag) -> Result<U256, ChainError> {
        let call =
            ContractCall { from: None, to: self.network.token.get(), data: Bytes::from(data) };
        let answer: Bytes = self.rpc.call("eth_call", (call, block)).await?;
        // Contracts answer in words of 32 bytes; without a contract the answer is empty.
        let word: Option<[u8; 32]> = answer.as_ref().try_into().ok();
        word.map(U256::from_be_bytes).ok_or_else(|| {
            let length = answer.len();
            let reason = format!("{length} bytes; there is no USDC at {}", self.network.token);
            self.rpc.unreadable("eth_call", reason)
        })
    }

    /// Sends a signed transaction. The node may have it even if this fails.
    pub(crate) async fn send_raw(&self, raw: &[u8]) -> Result<(), ChainError> {
        let raw = hex::encode_prefixed(raw);
        let _: B256 = self.rpc.call("eth_sendRawTransaction", (raw,)).await?;
        Ok(())
    }
}
