//! Opens payments with the settings of the configuration.

use std::sync::Arc;
use std::time::Duration;

use lango_keystore::KeyStore;
use lango_payments::{
    AccountAddress, Network, PaymentDesk, PaymentLimits, PaymentSettings, WalletSource,
};
use lango_store::Database;

use crate::config::{Config, NetworkName, PaymentConfig};
use crate::wallet_keys::VaultKeys;
use crate::{App, AppError};

/// Limits the wait for the chain, whatever is configured: a call of a tool waits for it.
const MAX_WAIT_SECONDS: u64 = 600;

impl App {
    /// Opens payments in a database. `store` has the key of the wallet.
    pub async fn open_payments(
        &self,
        database: Database,
        store: KeyStore,
    ) -> Result<PaymentDesk, AppError> {
        let (settings, source) = payment_settings(self.config())?;
        let keys = Arc::new(VaultKeys::new(store));
        Ok(PaymentDesk::open(database, settings, source, keys).await?)
    }

    /// Opens payments for a command, with the key store of the database.
    pub async fn open_wallet(&self, database: Database) -> Result<PaymentDesk, AppError> {
        let store = self.open_key_store(database.clone()).await?;
        self.open_payments(database, store).await
    }
}

/// Reads the settings of payments.
pub fn payment_settings(config: &Config) -> Result<(PaymentSettings, WalletSource), AppError> {
    let given = &config.payment;
    let mut network = match given.network {
        NetworkName::Base => Network::base(),
        NetworkName::BaseSepolia => Network::base_sepolia(),
        NetworkName::Custom => custom_network(given)?,
    };
    if let Some(url) = &given.rpc_url {
        network.rpc_url.clone_from(url);
    }
    let limits = &given.limits;
    let allowed = limits.allowed_recipients.iter();
    let settings = PaymentSettings {
        limits: PaymentLimits {
            per_payment: parse("payment.limits.perPayment", limits.per_payment.as_str())?,
            per_day: parse("payment.limits.perDay", limits.per_day.as_str())?,
            per_recipient: parse("payment.limits.perRecipient", limits.per_recipient.as_str())?,
            allowed_recipients: allowed
                .map(|text| parse("payment.limits.allowedRecipients", text))
                .collect::<Result<_, _>>()?,
            auto_approve_below: parse(
                "payment.limits.autoApproveBelow",
                limits.auto_approve_below.as_str(),
            )?,
        },
        max_fee: parse("payment.maxFee", given.max_fee.as_str())?,
        confirmations: given.confirmations.max(1),
        receipt_timeout: Duration::from_secs(given.wait_seconds.min(MAX_WAIT_SECONDS)),
        ..PaymentSettings::of(network)
    };
    Ok((settings, wallet_source(given)?))
}

fn custom_network(given: &PaymentConfig) -> Result<Network, AppError> {
    let missing =
        |key: &str| AppError::usage(format!("{key} is not set, and payment.network is custom"));
    let rpc_url = given.rpc_url.as_deref().ok_or_else(|| missing("payment.rpcUrl"))?;
    let chain_id = given.chain_id.ok_or_else(|| missing("payment.chainId"))?;
    let token = given.token.as_deref().ok_or_else(|| missing("payment.token"))?;
    Ok(Network::custom("custom", chain_id, parse("payment.token", token)?, rpc_url))
}

fn wallet_source(given: &PaymentConfig) -> Result<WalletSource, AppError> {
    let wallet: Option<AccountAddress> =
        given.wallet.as_deref().map(|text| parse("payment.wallet", text)).transpose()?;
    match (wallet, &given.signer_url) {
        (None, None) => Ok(WalletSource::KeyStore),
        (Some(address), None) => Ok(WalletSource::WatchOnly(address)),
        (Some(address), Some(url)) => Ok(WalletSource::External { address, url: url.clone() }),
        (None, Some(_)) => {
            let reason =
                "payment.signerUrl is set without payment.wallet, the account that it signs for";
            Err(AppError::usage(reason.to_owned()))
        }
    }
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
    key: &str,
    text: &str,
) -> Result<T, AppError> {
    text.parse().map_err(|error| AppError::usage(format!("{key}: {error}")))
}
