//! Implements `payment_fetch`, which reads a page that costs money (x402).
//!
//! A page is paid for in two calls. The first one reads the price. The second one is asked about with
//! exactly that price and recipient, and pays nothing else.

use std::collections::BTreeMap;

use lango_egress::{FetchedResponse, Guard};
use lango_payments::{FetchOutcome, Offer, PaidPage, PaymentDesk, PaymentError, PaymentView};
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible_short};
use lango_tool::{Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::AmountArgument;
use super::first_decision::FirstDecision;
use super::proposal::{propose_order, propose_refused};
use super::send::report_payment;
use super::{check_owner, convert_error};

/// Limits the prices that are remembered.
const MAX_OFFER_COUNT: usize = 100;

pub(crate) struct FetchPaid {
    desk: PaymentDesk,
    guard: Guard,
    /// The prices that were read, by the address that was given. A lock, because a proposal is made
    /// without waiting; it is held for a look-up only.
    offers: Mutex<BTreeMap<String, Offer>>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchArguments {
    /// The address of the page.
    url: String,
    /// The most USDC to pay for it. Without it nothing is paid, and the price is told.
    max_amount: Option<AmountArgument>,
    /// The price that was shown; none if there was none, and nothing is paid.
    #[serde(skip)]
    decided: FirstDecision<Option<Offer>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum FetchResult {
    /// A page that costs nothing.
    Page { url: String, status: u16, body: String },
    /// A price; nothing was paid.
    Price { url: String, price: String, to: String, network: String },
    /// A page that was paid for.
    Paid { url: String, status: u16, body: String, payment: PaymentView },
}

impl FetchPaid {
    pub(crate) fn new(desk: PaymentDesk, guard: Guard) -> Self {
        Self { desk, guard, offers: Mutex::default() }
    }

    /// Returns the price that the call was decided on, which stays the same if another call reads
    /// another price meanwhile.
    fn offer(&self, arguments: &FetchArguments) -> Option<(Offer, AmountArgument)> {
        let FetchArguments { url, max_amount, decided } = arguments;
        let known = || max_amount.and_then(|_| self.offers.lock().get(url).cloned());
        decided.get_or_decide(known).zip(*max_amount)
    }

    async fn read_price(&self, url: &str) -> Result<FetchResult, PaymentError> {
        let payments = self.desk.find_wallet().await?;
        match payments.fetch(&self.guard, url).await? {
            FetchOutcome::Page(page) => Ok(FetchResult::Page {
                url: page.url.to_string(),
                status: page.status.as_u16(),
                body: render_body(&page),
            }),
            FetchOutcome::Price(offer) => {
                let order = offer.order();
                let result = FetchResult::Price {
                    url: offer.url().to_string(),
                    price: order.amount().to_string(),
                    to: order.to().to_string(),
                    network: order.network().to_owned(),
                };
                let mut offers = self.offers.lock();
                if offers.len() >= MAX_OFFER_COUNT {
                    offers.clear();
                }
                offers.insert(url.to_owned(), *offer);
                Ok(result)
            }
        }
    }
}

impl Tool for FetchPaid {
    type Arguments = FetchArguments;
    type Output = FetchResult;
    const NAME: &'static str = "payment_fetch";
    const DESCRIPTION: &'static str = "Reads a web page that may cost money (HTTP 402). The first call \
         tells the price; call again with max_amount to pay it and read the page.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: FetchArguments,
        context: ToolContext,
    ) -> Result<FetchResult, ToolError> {
        check_owner(&context)?;
        let Some((offer, max_amount)) = self.offer(&arguments) else {
            return tokio::select! {
                result = self.read_price(&arguments.url) => result.map_err(convert_error),
                () = context.cancel.cancelled() => Err(ToolError::Cancelled),
            };
        };
        // A price is paid once; for another page it is read again.
        self.offers.lock().remove(&arguments.url);
        offer.check_price(max_amount.0).map_err(|error| convert_error(error.into()))?;
        let key = context.call.to_string().parse().map_err(convert_error)?;
        let payments = self.desk.find_wallet().await.map_err(convert_error)?;
        let paid = payments.fetch_paid(&self.guard, &offer, &key, &context.cancel).await;
        let PaidPage { payment, page } = paid.map_err(convert_error)?;
        Ok(FetchResult::Paid {
            url: page.url.to_string(),
            status: page.status.as_u16(),
            body: render_body(&page),
            payment: PaymentView::from(&payment),
        })
    }

    fn render(&self, output: &FetchResult) -> String {
        match output {
            FetchResult::Page { url, status, body } => format!("{url} ({status}), free\n{body}"),
            FetchResult::Price { url, price, to, network } => format!(
                "{url} costs {price}, to {to} on {network}. Nothing was paid. To pay and read it, call \
                 payment_fetch again with max_amount."
            ),
            FetchResult::Paid { url, status, body, payment } => {
                let PaymentView { amount, state, .. } = payment;
                format!("{url} ({status}), paid {amount} ({state})\n{body}")
            }
        }
    }

    fn describe(&self, arguments: &FetchArguments) -> Option<String> {
        Some(format!("Reading {}", code_span(&make_visible_short(&arguments.url))))
    }

    fn report(&self, _: &FetchArguments, output: &FetchResult) -> Option<CallReport> {
        Some(match output {
            FetchResult::Page { url, status, .. } => {
                CallReport::new(format!("Read {} ({status}), which costs nothing.", code_span(url)))
            }
            FetchResult::Price { url, price, to, network } => CallReport::new(format!(
                "{} costs {price}, to {} on {network}. Nothing was paid.",
                code_span(url),
                code_span(to)
            )),
            FetchResult::Paid { payment, .. } => report_payment(payment),
        })
    }

    fn propose(&self, arguments: &FetchArguments) -> Option<Proposal> {
        let FetchArguments { url, .. } = arguments;
        let Some((offer, max_amount)) = self.offer(arguments) else {
            let shown = make_visible_short(url);
            let summary =
                format!("Fetch {shown}, and tell its price if it has one. Nothing is paid");
            return Some(Proposal::outbound(summary, url));
        };
        let limits = &self.desk.payments().settings().limits.clone();
        let proposed = offer
            .check_price(max_amount.0)
            .map_err(PaymentError::from)
            .and_then(|()| propose_order(offer.order(), limits));
        let mut proposal = proposed.unwrap_or_else(|error| propose_refused(&error));
        proposal.steps.push(ProposedStep::new([url.as_str()]));
        Some(proposal)
    }
}

/// Returns the text of a page, or what it is instead.
fn render_body(page: &FetchedResponse) -> String {
    match std::str::from_utf8(&page.body) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("({} bytes that are no text)", page.body.len()),
    }
}
