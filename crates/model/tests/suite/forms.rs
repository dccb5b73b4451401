//! Tests one reply in all the forms that servers give it.

use lango_model::{ModelFault, RemoteModel, Wire};
use lango_scripted::Framing;
use serde_json::{Value, json};

use crate::hearing::{ReceivedReply, endpoint, receive, receive_all, receive_body};
use crate::raw_server::{self, Response};
use crate::speech::{Form, PLAIN, Speech};

#[tokio::test]
async fn line_ends_comments_and_names_of_events_make_no_difference() {
    for speech in Speech::all() {
        for line_end in ["\n", "\r\n", "\r"] {
            for (between, adorned) in [(true, false), (false, false), (true, true), (false, true)] {
                let form = Form { line_end, between, adorned };
                let received = receive_body(&speech, speech.rendered(form)).await;
                assert_eq!(received, speech.meaning(), "{:?} as {form:?}", speech.wire);
            }
        }
    }
}

#[tokio::test]
async fn a_space_after_the_colon_is_not_needed() {
    let framed = Speech::all().into_iter().filter(|speech| speech.framing == Framing::Events);
    for speech in framed {
        let body = speech.rendered(PLAIN).replace("data: ", "data:");
        assert_eq!(receive_body(&speech, body).await, speech.meaning(), "{:?}", speech.wire);
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    for speech in Speech::all() {
        for content_type in ["application/json", "application/json; charset=utf-8"] {
            let response = Response::new(content_type, speech.whole.clone());
            let received = receive_all(speech.wire, vec![response]).await.remove(0);
            assert_eq!(received, speech.meaning(), "{:?}", speech.wire);
        }
    }
}

/// Adds an unknown field to every object that is not an argument.
fn with_unknown_fields(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(with_unknown_fields),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if !["args", "arguments", "input"].contains(&name.as_str()) {
                    with_unknown_fields(value);
                }
            }
            fields.insert("aa_unknown".into(), json!({"type": ["x", null, 1.5], "index": "no"}));
            fields.insert("zz_unknown".into(), Value::Null);
        }
        _ => {}
    }
}

fn unknown(document: &str) -> String {
    let Ok(mut value) = serde_json::from_str(document) else {
        return document.to_owned();
    };
    with_unknown_fields(&mut value);
    value.to_string()
}

#[tokio::test]
async fn unknown_fields_are_nothing_special() {
    for speech in Speech::all() {
        let documents: Vec<_> = speech.documents.iter().map(|document| unknown(document)).collect();
        assert!(documents[0].contains("zz_unknown"));
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!(received, speech.meaning(), "{:?}", speech.wire);
        let response = Response::new("application/json", unknown(&speech.whole));
        let received = receive_all(speech.wire, vec![response]).await.remove(0);
        assert_eq!(received, speech.meaning(), "{:?}", speech.wire);
    }
}

#[tokio::test]
async fn documents_that_mean_nothing_may_come_at_any_time() {
    for speech in Speech::all() {
        let idle: Vec<String> = speech.idle.iter().map(|&document| document.to_owned()).collect();
        let mut documents = idle.clone();
        for document in &speech.documents {
            documents.push(document.clone());
            documents.extend(idle.clone());
        }
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!(received, speech.meaning(), "{:?}", speech.wire);
    }
}

#[tokio::test]
async fn figures_may_come_early_at_the_end_be_null_or_be_absent() {
    for speech in Speech::all() {
        let absent = speech.without_usage();
        let received = receive_body(&speech, absent.body()).await;
        assert_eq!(received, speech.meaning().without_usage(), "{:?} absent", speech.wire);

        let begin = speech.clone();
        let null =
            speech.usage.iter().fold(begin, |speech, (there, null)| speech.replaced(there, null));
        let received = receive_body(&speech, null.body()).await;
        assert_eq!(received, speech.meaning().without_usage(), "{:?} null", speech.wire);

        let mut documents = absent.documents.clone();
        documents.insert(0, speech.usage_document.to_owned());
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!(received, speech.meaning(), "{:?} early", speech.wire);
    }
}

#[tokio::test]
async fn a_figure_that_a_later_document_leaves_out_stays() {
    for speech in Speech::all() {
        let Some(part) = speech.later_usage else { continue };
        let mut documents = speech.without_usage().documents;
        documents.splice(0..0, [speech.usage_document, part].map(str::to_owned));
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!(received, speech.meaning(), "{:?}", speech.wire);
    }
}

#[tokio::test]
async fn an_error_in_the_middle_is_an_error_and_gives_no_call() {
    for speech in Speech::all() {
        for at in 0..=speech.finish {
            let mut documents = speech.documents.clone();
            documents.insert(at, speech.error.to_owned());
            let received = receive_body(&speech, speech.with(documents).body()).await;
            let wire = speech.wire;
            assert_eq!(
                received.fault(),
                Some(ModelFault::Overloaded),
                "{wire:?} at {at}: {received:?}"
            );
            assert!(
                received.error.as_ref().unwrap().to_string().contains("verloaded"),
                "{wire:?} at {at}"
            );
            assert_eq!(received.calls, [], "{wire:?} at {at}");
            // Text before the error is returned, though all came at once.
            let before = speech.with(speech.documents[..at].to_vec());
            assert_eq!(received.text, receive_body(&speech, before.body()).await.text);
        }
        let response = Response::new("application/json", speech.error);
        let received = receive_all(speech.wire, vec![response]).await.remove(0);
        assert_eq!(received.fault(), Some(ModelFault::Overloaded), "{:?}", speech.wire);
    }
}

/// The last line may lack its end: an error on it is still that error.
#[tokio::test]
async fn an_error_as_the_very_last_bytes_is_an_error() {
    for speech in Speech::all() {
        let body = speech.with(vec![speech.documents[0].clone(), speech.error.to_owned()]).body();
        let received = receive_body(&speech, body.trim_end()).await;
        assert_eq!(
            received.fault(),
            Some(ModelFault::Overloaded),
            "{:?}: {received:?}",
            speech.wire
        );
    }
}

#[tokio::test]
async fn what_is_not_the_protocol_is_said_so() {
    for speech in Speech::all() {
        let mut documents = speech.documents.clone();
        documents.insert(2, "{\"choices\": oops}".to_owned());
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!(
            received.fault(),
            Some(ModelFault::Malformed),
            "{:?}: {received:?}",
            speech.wire
        );
        assert_eq!(received.calls, []);
    }
}

#[tokio::test]
async fn of_six_hundred_calls_the_first_five_hundred_and_twelve_are_kept() {
    for speech in Speech::all() {
        let mut documents: Vec<String> = (0..600).flat_map(speech.call).collect();
        documents.extend_from_slice(&speech.documents[speech.finish..]);
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!((received.calls.len(), &received.error), (512, &None), "{:?}", speech.wire);
        for (number, call) in received.calls.iter().enumerate() {
            assert_eq!(call, &(format!("f{number}"), "{}".to_owned()), "{:?}", speech.wire);
        }
    }
}

#[tokio::test]
async fn a_reply_that_was_stopped_is_a_refusal_if_nothing_was_said() {
    let speeches = Speech::all();
    let refusals =
        speeches.iter().flat_map(|speech| speech.refusals.iter().map(move |d| (speech, *d)));
    for (speech, document) in refusals {
        let received = receive_body(speech, speech.with(vec![document.into()]).body()).await;
        assert_eq!(received.fault(), Some(ModelFault::ContentRefused), "{document}: {received:?}");
        // After text it ends the reply, and calls are not run.
        if !document.contains("promptFeedback") {
            let mut documents = speech.documents[..speech.finish].to_vec();
            documents.push(document.into());
            let received = receive_body(speech, speech.with(documents).body()).await;
            let expected = (speech.meaning().text, 0, None);
            assert_eq!((received.text.clone(), received.calls.len(), received.fault()), expected);
        }
    }
}

#[tokio::test]
async fn gemini_says_when_the_model_wrote_nonsense() {
    let speech = &Speech::of(Wire::Gemini);
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        let to = format!(r#""finishReason":"{reason}","finishMessage":"call(x""#);
        let received = receive_body(speech, speech.replaced(speech.reason.0, &to).body()).await;
        assert_eq!(
            (received.calls.len(), received.fault()),
            (0, Some(ModelFault::Malformed)),
            "{reason}"
        );
        assert!(received.error.unwrap().reason.contains("call(x"), "{reason}");
    }
    // Any other reason is an end, and calls count.
    let received = receive_body(speech, speech.replaced("\"STOP\"", "\"OTHER\"").body()).await;
    assert_eq!(received, speech.meaning());
}

#[tokio::test]
async fn anthropic_says_when_the_window_is_full() {
    let speech = &Speech::of(Wire::Anthropic);
    let full = speech.replaced(speech.reason.0, r#""stop_reason":"model_context_window_exceeded""#);
    let received = receive_body(speech, full.body()).await;
    assert_eq!((received.calls.len(), received.fault()), (0, Some(ModelFault::OutputLimit)));
}

#[tokio::test]
async fn each_wire_asks_at_its_own_address_with_its_own_key() {
    let speeches = Speech::all();
    for Speech { wire, path, headers, .. } in &speeches {
        let mut server = raw_server::serve(|_, _| Response {
            status: 429,
            content_type: "application/json",
            chunks: vec![b"{\"error\":{\"message\":\"slow down\"}}".to_vec()],
        })
        .await;
        let mut endpoint = endpoint(*wire, &format!("{}/", server.url));
        endpoint.api_key = Some(lango_model::ApiKey::new("s3cret"));
        let received: ReceivedReply = receive(&RemoteModel::new(endpoint).unwrap()).await;
        assert_eq!(received.fault(), Some(ModelFault::RateLimited), "{wire:?}");
        let request = server.requests.recv().await.unwrap();
        assert!(request.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{request}");
        assert!(request.contains("\r\ncontent-type: application/json\r\n"), "{request}");
        for header in speeches.iter().flat_map(|speech| speech.headers) {
            let is_there = request.contains(&format!("\r\n{header}\r\n"));
            assert_eq!(is_there, headers.contains(header), "{header} in {request}");
        }
    }
}
