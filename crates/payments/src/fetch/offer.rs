//! Chooses one way of paying that a site offers, and makes an order of it.

use std::time::Duration;

use lango_egress::{FetchedResponse, Url};
use serde_json::value::RawValue;

use super::wire::{Requirement, Requirements, Version};
use crate::{
    AccountAddress, Network, OrderParts, PaymentError, PaymentMethod, PaymentOrder, Payments,
    UsdcAmount, Wei,
};

/// Limits how long an authorization can be redeemed, whatever a site asks for.
const MAX_VALIDITY: Duration = Duration::from_mins(10);
const MIN_VALIDITY: Duration = Duration::from_mins(1);

/// Limits the address in the purpose of an order.
const MAX_SHOWN_URL_CHARACTERS: usize = 180;

/// Says why a site's request for money is not acceptable. Nothing was signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// It cannot be read.
    #[error("the site asks for a payment in a form that cannot be read: {0}")]
    Unreadable(String),
    /// It takes no money that can be paid.
    #[error("the site takes no USDC on {network}: it offers {offered}")]
    NoMatch {
        /// The network that is set up.
        network: String,
        /// What it offers instead.
        offered: String,
    },
    /// It asks for more than its caller is willing to pay.
    #[error("the site asks for {price}, and at most {limit} may be paid for it")]
    TooExpensive {
        /// The price.
        price: UsdcAmount,
        /// The most that the caller pays.
        limit: UsdcAmount,
    },
    /// It asks for something else than what was approved.
    #[error("the site changed its price: it asks for {found}, and {approved} was approved")]
    Changed {
        /// The order that was approved.
        approved: String,
        /// What it asks for now.
        found: String,
    },
    /// It was paid, and asks again.
    #[error(
        "the site was paid and asks for money again ({0}). Nothing more is paid. \
         See what became of the payment: lango wallet history"
    )]
    AsksAgain(String),
    /// The site cannot be fetched.
    #[error("{0}")]
    Fetch(String),
}

/// The price of one address, as its site named it.
#[derive(Debug, Clone)]
pub struct Offer {
    url: Url,
    order: PaymentOrder,
    pub(super) version: Version,
    pub(super) requirement: Requirement,
    pub(super) resource: Option<Box<RawValue>>,
}

impl Offer {
    /// Reads a response of status 402, and chooses the way of paying that is set up here.
    pub(super) fn read(
        payments: &Payments,
        response: &FetchedResponse,
    ) -> Result<Self, PaymentError> {
        let requirements = Requirements::read(response)?;
        let network = &payments.settings().network;
        let fits = |requirement: &&Requirement| is_payable(requirement, network);
        let Some(requirement) = requirements.accepted.iter().find(fits).cloned() else {
            let offered: Vec<String> = requirements.accepted.iter().take(4).map(describe).collect();
            let offered =
                if offered.is_empty() { "nothing".to_owned() } else { offered.join("; ") };
            return Err(OfferError::NoMatch { network: network.title(), offered }.into());
        };
        let purpose = format!("reading {}", shown_url(&response.url));
        let order = PaymentOrder::new(
            network,
            OrderParts {
                method: PaymentMethod::Authorization,
                from: payments.wallet()?.address(),
                to: requirement.pay_to.parse()?,
                amount: parse_units(&requirement)?,
                max_fee: Wei::ZERO,
                purpose: &purpose,
            },
        )?;
        Ok(Self {
            url: response.url.clone(),
            order,
            version: requirements.version,
            requirement,
            resource: requirements.resource,
        })
    }

    /// Returns the address that it is the price of.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the order that would be paid.
    pub fn order(&self) -> &PaymentOrder {
        &self.order
    }

    /// Checks the price against the most that a caller pays.
    pub fn check_price(&self, limit: UsdcAmount) -> Result<(), OfferError> {
        let price = self.order.amount();
        if price > limit { Err(OfferError::TooExpensive { price, limit }) } else { Ok(()) }
    }

    /// Returns for how long the authorization can be redeemed.
    pub(super) fn validity(&self) -> Duration {
        let asked = self.requirement.max_timeout_seconds.map(Duration::from_secs);
        asked.unwrap_or(MIN_VALIDITY).clamp(MIN_VALIDITY, MAX_VALIDITY)
    }
}

fn is_payable(requirement: &Requirement, network: &Network) -> bool {
    let is_network = requirement.network == network.name || requirement.network == network.caip2();
    let asset: Result<AccountAddress, _> = requirement.asset.parse();
    // Another name in the signature would make it worthless, and the site knows that.
    let names = requirement.extra.as_ref();
    let is_named = names.is_none_or(|names| {
        names.name.as_ref().is_none_or(|name| *name == network.token_name)
            && names.version.as_ref().is_none_or(|version| *version == network.token_version)
    });
    requirement.scheme == "exact" && is_network && asset == Ok(network.token) && is_named
}

fn parse_units(requirement: &Requirement) -> Result<UsdcAmount, OfferError> {
    let text = requirement.units().unwrap_or_default();
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let units = is_plain.then(|| text.parse().ok()).flatten().and_then(UsdcAmount::from_units);
    units.ok_or_else(|| OfferError::Unreadable(format!("the amount {text:?}")))
}

pub(super) fn describe(requirement: &Requirement) -> String {
    let Requirement { scheme, network, asset, pay_to, .. } = requirement;
    let units = requirement.units().unwrap_or("?");
    let text = format!("{units} units of {asset} on {network} to {pay_to} ({scheme})");
    lango_text::make_visible_short(&text)
}

/// Returns an address for people, without what may be secret in it.
fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // An address of HTTP always takes these.
    let _ = shown.set_password(None);
    let _ = shown.set_username("");
    lango_text::truncate_characters(shown.as_str(), MAX_SHOWN_URL_CHARACTERS).to_owned()
}
