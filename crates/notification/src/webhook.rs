//! Posts notifications to an address.

use std::fmt;
use std::time::Duration;

use lango_egress::{
    ClientLimits, EgressError, FetchError, Guard, GuardedClient, HeaderMap, HeaderName,
    HeaderValue, Method, StatusCode,
};
use serde::Serialize;

use crate::{DeliveryError, Notification};

/// Limits the bytes of an answer, which is not used.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Limits how long the server may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Posts a JSON document for each notification.
#[derive(Clone)]
pub struct WebhookChannel {
    url: String,
    token: Option<String>,
    client: GuardedClient,
}

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    notification: &'a Notification,
    /// One line with everything, under the name that chat servers read.
    summary: String,
}

impl fmt::Debug for WebhookChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses of chat servers hold a secret.
        f.debug_struct("WebhookChannel").finish_non_exhaustive()
    }
}

impl WebhookChannel {
    /// Creates a channel to an address that `guard` allows. The token goes along as a bearer token.
    pub fn new(url: String, token: Option<String>, guard: Guard) -> Self {
        let limits = ClientLimits { bytes: MAX_ANSWER_BYTES, time: ANSWER_TIMEOUT, redirects: 0 };
        Self { url, token, client: GuardedClient::new(guard, limits) }
    }

    pub(crate) async fn deliver(&self, notification: &Notification) -> Result<(), DeliveryError> {
        let headers = self.build_headers(notification).ok_or_else(|| {
            DeliveryError::Never("its token does not fit into a header".to_owned())
        })?;
        let summary = format!("{}: {}", notification.title, notification.text);
        let body = serde_json::to_vec(&Document { notification, summary })
            .map_err(|error| DeliveryError::Never(error.to_string()))?;
        match self.client.send(Method::POST, &self.url, headers, body).await {
            Ok(answer) if answer.status.is_success() => Ok(()),
            Ok(answer) => {
                let reason = format!("the server answered with HTTP {}", answer.status.as_u16());
                Err(if may_pass(answer.status) {
                    DeliveryError::Later(reason)
                } else {
                    DeliveryError::Never(reason)
                })
            }
            Err(error) => Err(describe(&error)),
        }
    }

    fn build_headers(&self, notification: &Notification) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let id = HeaderValue::from_str(&notification.id).ok()?;
        headers.insert(HeaderName::from_static("idempotency-key"), id);
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
            value.set_sensitive(true);
            headers.insert("authorization", value);
        }
        Some(headers)
    }
}

/// Tells whether the same request may succeed later.
fn may_pass(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

fn describe(error: &FetchError) -> DeliveryError {
    match error {
        FetchError::Egress(EgressError::Refused(_)) => DeliveryError::Never(
            "the address may not be reached; to allow it: lango config set egress.allow HOST:PORT"
                .to_owned(),
        ),
        FetchError::Redirect { .. } | FetchError::TooLong { .. } => {
            DeliveryError::Never(error.kind().to_owned())
        }
        _ => DeliveryError::Later(error.kind().to_owned()),
    }
}
