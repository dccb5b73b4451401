//! Makes payments: orders, reservations, signatures and the chain, put together.

use std::sync::Arc;
use std::time::Duration;

use lango_store::Database;
use tokio::sync::Mutex;

use crate::chain::{BlockTag, ChainClient, ChainError};
use crate::ledger::Ledger;
use crate::limits::Spending;
use crate::signer::Wallet;
use crate::{
    AccountAddress, Network, OrderParts, PaymentError, PaymentLimits, PaymentList, PaymentMethod,
    PaymentOrder, UsdcAmount, Wei,
};

/// The decimals of USDC on every network.
const TOKEN_DECIMALS: u8 = 6;

/// Says where and how payments are made.
#[derive(Debug, Clone)]
pub struct PaymentSettings {
    /// The network.
    pub network: Network,
    /// The limits.
    pub limits: PaymentLimits,
    /// The most that the network may take for one payment.
    pub max_fee: Wei,
    /// The number of blocks, from its own on, after which a payment is confirmed.
    pub confirmations: u64,
    /// The number of blocks after which a transaction that another one took the place of cannot come
    /// back. Nodes behind one address may be some blocks apart from each other.
    pub replacement_depth: u64,
    /// The number of latest blocks that are looked at again for reorganisations.
    pub finality_depth: u64,
    /// Limits the wait for the chain. After it, the outcome is unknown for the time being.
    pub receipt_timeout: Duration,
    /// The time between two questions to the chain.
    pub poll_interval: Duration,
    /// The age after which a reservation that no process goes on with is given up.
    pub reservation_timeout: Duration,
}

impl PaymentSettings {
    /// Returns the usual settings for a network.
    pub fn of(network: Network) -> Self {
        Self {
            network,
            limits: PaymentLimits::default(),
            // 0.0005 ETH
            max_fee: Wei(500_000_000_000_000),
            confirmations: 2,
            replacement_depth: 30,
            finality_depth: 64,
            receipt_timeout: Duration::from_secs(30),
            poll_interval: Duration::from_secs(1),
            reservation_timeout: Duration::from_mins(5),
        }
    }
}

/// What a wallet holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalletBalance {
    /// The money.
    pub usdc: UsdcAmount,
    /// The ether for fees.
    pub native: Wei,
}

/// Makes payments of one wallet on one network. Clones share everything.
#[derive(Clone)]
pub struct Payments {
    pub(crate) ledger: Ledger,
    pub(crate) chain: ChainClient,
    pub(crate) settings: Arc<PaymentSettings>,
    pub(crate) wallet: Option<Wallet>,
    /// Lets one payment of this process at a time choose its number and sign. Others would choose the
    /// same one, and all but one of their signatures would be thrown away.
    pub(crate) signing: Arc<Mutex<()>>,
}

impl Payments {
    /// Opens the ledger. The chain is not asked yet.
    pub async fn open(
        database: Database,
        settings: PaymentSettings,
        wallet: Option<Wallet>,
    ) -> Result<Self, PaymentError> {
        Ok(Self {
            ledger: Ledger::open(database).await?,
            chain: ChainClient::new(settings.network.clone())?,
            settings: Arc::new(settings),
            wallet,
            signing: Arc::default(),
        })
    }

    /// Returns the same payments with another wallet.
    #[must_use]
    pub fn with_wallet(mut self, wallet: Wallet) -> Self {
        self.wallet = Some(wallet);
        self
    }

    /// Returns the settings.
    pub fn settings(&self) -> &PaymentSettings {
        &self.settings
    }

    /// Returns the ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the wallet.
    pub fn wallet(&self) -> Result<&Wallet, PaymentError> {
        self.wallet.as_ref().ok_or(PaymentError::NoWallet)
    }

    /// Makes the order of a transfer from its words. Nothing is asked and nothing happens.
    pub fn order_transfer(
        &self,
        to: &str,
        amount: &str,
        purpose: &str,
    ) -> Result<PaymentOrder, PaymentError> {
        self.wallet()?;
        self.order_transfer_to(to.parse()?, UsdcAmount::parse_payment(amount)?, purpose)
    }

    /// Makes the order of a transfer. Nothing is asked and nothing happens.
    pub fn order_transfer_to(
        &self,
        to: AccountAddress,
        amount: UsdcAmount,
        purpose: &str,
    ) -> Result<PaymentOrder, PaymentError> {
        let parts = OrderParts {
            method: PaymentMethod::Transfer,
            from: self.wallet()?.address(),
            to,
            amount,
            max_fee: self.settings.max_fee,
            purpose,
        };
        PaymentOrder::new(&self.settings.network, parts)
    }

    /// Returns what the wallet holds.
    pub async fn read_balance(&self) -> Result<WalletBalance, PaymentError> {
        let address = self.wallet()?.address();
        self.check_chain().await?;
        Ok(WalletBalance {
            usdc: self.chain.token_balance(address).await?,
            native: self.chain.native_balance(address).await?,
        })
    }

    /// Returns what counts for the limits now.
    pub async fn read_spending(
        &self,
        recipient: Option<AccountAddress>,
    ) -> Result<Spending, PaymentError> {
        self.ledger.read_spending(self.settings.network.chain_id, recipient).await
    }

    /// Returns the latest payments, the newest first.
    pub async fn list_latest(&self, limit: u32) -> Result<PaymentList, PaymentError> {
        self.ledger.list_latest(limit).await
    }

    /// Checks that the node is of the network, and of the very chain that was used before.
    pub(crate) async fn check_chain(&self) -> Result<(), PaymentError> {
        let network = &self.settings.network;
        let other = |found: String, expected: String| ChainError::OtherChain {
            url: network.rpc_url.clone(),
            found,
            expected,
        };
        let found = self.chain.chain_id().await?;
        if found != network.chain_id {
            let (found, expected) =
                (format!("chain {found}"), format!("chain {}", network.chain_id));
            return Err(other(found, expected).into());
        }
        let genesis = self.chain.block(BlockTag::Number(0)).await?.hash();
        let known = self.ledger.remember_genesis(network.chain_id, genesis).await?;
        let found = format!("{genesis:#x}");
        if found != known {
            return Err(other(format!("the chain {found}"), format!("the chain {known}")).into());
        }
        Ok(())
    }

    /// Checks that the token is one of six decimals, as all amounts are.
    pub(crate) async fn check_token(&self) -> Result<(), PaymentError> {
        let decimals = self.chain.token_decimals().await?;
        if decimals != alloy_primitives::U256::from(TOKEN_DECIMALS) {
            let reason =
                format!("is a token of {decimals} decimals, and USDC has {TOKEN_DECIMALS}");
            return Err(PaymentError::Settings { key: "payment.token", reason });
        }
        Ok(())
    }
}
