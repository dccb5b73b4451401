//! Holds the response to a refused request. Its format for each provider is in the folder of
//! `wires/`.

use bytes::Bytes;
use hyper::StatusCode;
use serde::Serialize;

/// The response to a request that is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Refusal {
    /// Makes a refusal with a provider's body.
    pub(crate) fn new(status: u16, body: &impl Serialize) -> Self {
        // The bodies are plain data with text keys: they always serialise.
        let body = serde_json::to_vec(body).unwrap_or_default().into();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, body }
    }
}

#[cfg(test)]
mod tests {
    use lango_model::Wire;
    use serde_json::Value;

    use crate::script::ErrorCase::{
        Auth, ContentRefused, ContextTooLong, NoTools, Overloaded, Quota, UnknownModel,
    };
    use crate::wires::fixture;

    #[test]
    fn each_provider_says_no_in_its_own_shape() {
        for wire in Wire::ALL {
            let refusal = fixture(wire).refusal(429, "slow down");
            let body = String::from_utf8(refusal.body.to_vec()).unwrap();
            assert!(serde_json::from_str::<Value>(&body).is_ok(), "{body}");
            assert!(body.contains("slow down"), "{wire:?} {body}");
            assert!(body.contains(fixture(wire).sample().rate_limited), "{wire:?} {body}");
        }
    }

    #[test]
    fn every_case_has_an_answer_on_every_wire() {
        let cases =
            [ContextTooLong, Quota, Auth, UnknownModel, NoTools, ContentRefused, Overloaded];
        for wire in Wire::ALL {
            let fixture = fixture(wire);
            for (case, status) in cases.into_iter().zip(fixture.sample().statuses) {
                let refusal = fixture.refusal_in(case, "m");
                assert_eq!(refusal.is_none(), status == 200, "{case:?} {wire:?}");
                match refusal {
                    Some(refusal) => assert_eq!(refusal.status, status, "{case:?} {wire:?}"),
                    None => assert!(fixture.blocked("m").is_some(), "{case:?} {wire:?}"),
                }
            }
        }
    }

    #[test]
    fn errors_inside_a_stream_are_documents_of_their_wire() {
        for wire in Wire::ALL {
            let text = fixture(wire).error_event();
            let json = &text[text.find('{').unwrap()..];
            assert!(serde_json::from_str::<Value>(json.trim_end()).is_ok(), "{text}");
            let text = fixture(wire).garbage();
            let json = &text[text.find('{').unwrap()..];
            assert!(serde_json::from_str::<Value>(json.trim_end()).is_err(), "{text}");
        }
    }
}
