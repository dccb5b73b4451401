//! Fetches an address, and pays for it once if that was approved.

use alloy_primitives::{B256, hex};
use lango_egress::{
    ClientLimits, FetchedResponse, Guard, GuardedClient, HeaderMap, HeaderValue, Method,
    RedirectScope, StatusCode,
};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio_util::sync::CancellationToken;

use super::offer::{Offer, OfferError, describe};
use super::wire::{self, AuthorizationBody, ExactPayload};
use crate::ledger::Change;
use crate::settle::now_in_seconds;
use crate::{
    IdempotencyKey, Payment, PaymentError, PaymentState, Payments, SignedPayment, SignerError,
    TransferAuthorization,
};

/// Allows for clocks of servers that are behind.
const CLOCK_TOLERANCE_SECONDS: u64 = 60;

/// What is at an address.
#[derive(Debug)]
pub enum FetchOutcome {
    /// A page that costs nothing.
    Page(Box<FetchedResponse>),
    /// A price. Nothing was paid.
    Price(Box<Offer>),
}

/// What came back for a payment.
#[derive(Debug)]
pub struct PaidPage {
    /// The payment.
    pub payment: Payment,
    /// The page.
    pub page: FetchedResponse,
}

impl Payments {
    /// Fetches an address, and reads its price if it has one. Nothing is paid.
    pub async fn fetch(&self, guard: &Guard, url: &str) -> Result<FetchOutcome, PaymentError> {
        let client = GuardedClient::new(guard.clone(), ClientLimits::default())
            .with_redirects(RedirectScope::SameSite);
        let page = client.get(url).await.map_err(|error| OfferError::Fetch(error.to_string()))?;
        if page.status != StatusCode::PAYMENT_REQUIRED {
            return Ok(FetchOutcome::Page(Box::new(page)));
        }
        Ok(FetchOutcome::Price(Box::new(Offer::read(self, &page)?)))
    }

    /// Pays an offer that was approved, and fetches what it is the price of. The site is asked for its
    /// price again first: it must still be exactly the approved order.
    ///
    /// The authorization goes to the address of the offer and to no other: redirects are not followed.
    pub async fn fetch_paid(
        &self,
        guard: &Guard,
        approved: &Offer,
        key: &IdempotencyKey,
        cancel: &CancellationToken,
    ) -> Result<PaidPage, PaymentError> {
        self.check_setup(approved.order())?;
        let offer = match self.fetch(guard, approved.url().as_str()).await? {
            FetchOutcome::Price(offer) => *offer,
            FetchOutcome::Page(_) => {
                let found = "nothing; fetch it without a payment".to_owned();
                let approved = describe_order(approved);
                return Err(OfferError::Changed { approved, found }.into());
            }
        };
        if offer.order() != approved.order() || offer.url() != approved.url() {
            let (approved, found) = (describe_order(approved), describe_order(&offer));
            return Err(OfferError::Changed { approved, found }.into());
        }
        self.check_chain().await?;
        let balance = self.chain.token_balance(offer.order().from()).await?;
        let limits = &self.settings.limits;
        let payment = self.ledger.reserve(offer.order(), key, limits).await?;
        if payment.state != PaymentState::Reserved {
            let state = payment.state;
            return Err(OfferError::AsksAgain(format!("this payment is {state}")).into());
        }
        if balance < offer.order().amount() {
            let reason = format!("the wallet has {balance}");
            self.fail_unsent(payment, reason.clone()).await?;
            return Err(OfferError::Fetch(reason).into());
        }
        let payment = self.authorize(payment, &offer).await?;
        let header = write_header(&payment, &offer)?;
        // From here on the site may redeem it, whatever it answers.
        let payment = self.advance(payment, PaymentState::Submitted, Change::default()).await?;
        let answer = self.request_paid(guard, &offer, header).await;
        let payment =
            self.settle_authorization(payment, &offer, answer.as_ref().ok(), cancel).await?;
        match answer {
            Ok(page) if page.status == StatusCode::PAYMENT_REQUIRED => {
                let again = Offer::read(self, &page);
                let found = again
                    .map_or_else(|error| error.to_string(), |offer| describe(&offer.requirement));
                Err(OfferError::AsksAgain(found).into())
            }
            Ok(page) => Ok(PaidPage { payment, page }),
            Err(error) => Err(error),
        }
    }

    /// Signs the authorization of a reserved payment, and stores it.
    async fn authorize(&self, payment: Payment, offer: &Offer) -> Result<Payment, PaymentError> {
        let mut nonce = B256::ZERO;
        let filled = SystemRandom::new().fill(nonce.as_mut_slice());
        filled.map_err(|_| SignerError::Key("the system has no random numbers".to_owned()))?;
        let now = now_in_seconds();
        let valid_after = now.saturating_sub(CLOCK_TOLERANCE_SECONDS);
        let valid_before = now + offer.validity().as_secs();
        let authorization = TransferAuthorization::of(
            &payment.order,
            &self.settings.network,
            nonce,
            (valid_after, valid_before),
        );
        let signature = match self.wallet()?.signer()?.sign_authorization(&authorization).await {
            Ok(signature) => signature,
            Err(error) => {
                self.fail_unsent(payment, error.to_string()).await?;
                return Err(error.into());
            }
        };
        let recovered = signature.recover_address_from_prehash(&authorization.signing_hash());
        if recovered.ok() != Some(payment.order.from().get()) {
            let reason = "the authorization is not signed by the wallet".to_owned();
            self.fail_unsent(payment, reason.clone()).await?;
            return Err(PaymentError::Defect(reason));
        }
        let signature = signature.as_bytes().to_vec();
        let signed = SignedPayment::Authorization { nonce, valid_after, valid_before, signature };
        let recorded = self.ledger.record_signed(&payment, signed).await?;
        recorded.ok_or_else(|| {
            OfferError::AsksAgain("another process goes on with this payment".to_owned()).into()
        })
    }

    async fn request_paid(
        &self,
        guard: &Guard,
        offer: &Offer,
        header: HeaderValue,
    ) -> Result<FetchedResponse, PaymentError> {
        let limits = ClientLimits { redirects: 0, ..ClientLimits::default() };
        let client = GuardedClient::new(guard.clone(), limits);
        let mut headers = HeaderMap::new();
        headers.insert(offer.version.payment_header(), header);
        let answer = client.send(Method::GET, offer.url().as_str(), headers, Vec::new()).await;
        answer.map_err(|error| {
            let words = "What becomes of the payment: lango wallet history";
            OfferError::Fetch(format!("{error}. {words}")).into()
        })
    }

    /// Notes the transaction that the site names, and looks at the chain within the limit of time.
    async fn settle_authorization(
        &self,
        payment: Payment,
        offer: &Offer,
        answer: Option<&FetchedResponse>,
        cancel: &CancellationToken,
    ) -> Result<Payment, PaymentError> {
        let settlement =
            answer.and_then(|answer| wire::read_settlement(offer.version, &answer.headers));
        let claimed = settlement.and_then(|settlement| settlement.transaction?.parse().ok());
        if !answer.is_some_and(|answer| answer.status.is_success()) {
            // It is not waited for a site that did not deliver; it may redeem what it has all the same.
            let reason = "the site did not deliver; it can redeem the payment until it expires";
            let change = Change::default().because(reason);
            return self.advance(payment, PaymentState::Unknown, change).await;
        }
        let payment = self.wait(payment, cancel).await?;
        if let (PaymentState::Confirmed, Some(hash)) = (payment.state, claimed) {
            return self.note_transaction(payment, hash).await;
        }
        Ok(payment)
    }

    /// Records the transaction that a site named, if the chain has it and it paid the order.
    async fn note_transaction(
        &self,
        payment: Payment,
        hash: B256,
    ) -> Result<Payment, PaymentError> {
        let receipt = self.chain.receipt(hash).await.ok().flatten();
        let place = receipt.filter(|receipt| receipt.pays(&payment.order)).map(|receipt| {
            // The site paid the fee.
            let (block, fee) = (receipt.block(), crate::Wei::ZERO);
            crate::ChainPlace { block, transaction: Some(hash), fee }
        });
        match place {
            Some(place) => {
                let change = Change::default().at(Some(place));
                self.advance(payment, PaymentState::Confirmed, change).await
            }
            None => Ok(payment),
        }
    }
}

fn describe_order(offer: &Offer) -> String {
    let order = offer.order();
    format!("{} to {} on {}", order.amount(), order.to(), order.network())
}

fn write_header(payment: &Payment, offer: &Offer) -> Result<HeaderValue, PaymentError> {
    let defect = |what: &str| PaymentError::Defect(format!("the authorization {what}"));
    let Some(SignedPayment::Authorization { nonce, valid_after, valid_before, signature }) =
        &payment.signed
    else {
        return Err(defect("was not signed"));
    };
    let order = &payment.order;
    let payload = ExactPayload {
        signature: hex::encode_prefixed(signature),
        authorization: AuthorizationBody {
            from: order.from().to_string(),
            to: order.to().to_string(),
            value: order.amount().units().to_string(),
            valid_after: valid_after.to_string(),
            valid_before: valid_before.to_string(),
            nonce: format!("{nonce:#x}"),
        },
    };
    let resource = offer.resource.as_deref();
    let text = wire::write_payment(offer.version, &offer.requirement, resource, &payload)?;
    let mut value = HeaderValue::from_str(&text).map_err(|_| defect("fits into no header"))?;
    value.set_sensitive(true);
    Ok(value)
}
