//! Tests bodies in pieces, and bodies that end too early.

use lango_model::ModelFault;

use crate::hearing::{receive_all, receive_body};
use crate::raw_server::Response;
use crate::speech::Speech;

fn in_two(speech: &Speech, at: usize) -> Response {
    let body = speech.body().into_bytes();
    let (left, right) = body.split_at(at);
    let mut response = Response::new(speech.content_type(), left);
    response.chunks.push(right.to_vec());
    response
}

#[tokio::test]
async fn a_body_in_two_pieces_says_the_same_wherever_it_is_split() {
    for speech in Speech::all() {
        let responses = (0..=speech.body().len()).map(|at| in_two(&speech, at)).collect();
        for (at, received) in receive_all(speech.wire, responses).await.into_iter().enumerate() {
            assert_eq!(received, speech.meaning(), "{:?} split at {at}", speech.wire);
        }
    }
}

#[tokio::test]
async fn a_body_byte_by_byte_says_the_same() {
    for speech in Speech::all() {
        let mut response = Response::new(speech.content_type(), "");
        response.chunks = speech.body().bytes().map(|byte| vec![byte]).collect();
        let received = receive_all(speech.wire, vec![response]).await.remove(0);
        assert_eq!(received, speech.meaning(), "{:?}", speech.wire);
    }
}

#[tokio::test]
async fn a_body_that_ends_too_early_never_gives_a_call() {
    for speech in Speech::all() {
        let body = speech.body().into_bytes();
        let cut = |at: usize| Response::new(speech.content_type(), &body[..at]);
        let responses = (0..body.len()).map(cut).collect();
        let meaning = speech.meaning().without_usage();
        for (at, received) in receive_all(speech.wire, responses).await.into_iter().enumerate() {
            let wire = speech.wire;
            if at < speech.finished_at() {
                assert_eq!(received.calls, [], "{wire:?} cut at {at}");
                assert_eq!(
                    received.fault(),
                    Some(ModelFault::Cut),
                    "{wire:?} cut at {at}: {received:?}"
                );
                assert!(
                    meaning.text.starts_with(&received.text),
                    "{wire:?} cut at {at}: {received:?}"
                );
            } else {
                assert_eq!(received.without_usage(), meaning, "{wire:?} cut at {at}");
            }
        }
    }
}

#[tokio::test]
async fn a_document_for_the_whole_reply_that_ends_too_early_gives_nothing() {
    for speech in Speech::all() {
        let cut = |at: usize| Response::new("application/json", &speech.whole.as_bytes()[..at]);
        let responses = (0..speech.whole.len()).map(cut).collect();
        for (at, received) in receive_all(speech.wire, responses).await.into_iter().enumerate() {
            let wire = speech.wire;
            assert_eq!(
                received.fault(),
                Some(ModelFault::Cut),
                "{wire:?} cut at {at}: {received:?}"
            );
            assert_eq!(
                (received.text.as_str(), received.calls.len()),
                ("", 0),
                "{wire:?} cut at {at}"
            );
        }
    }
}

#[tokio::test]
async fn a_missing_end_mark_is_forgiven_after_the_finish() {
    for speech in Speech::all() {
        let without = speech.with(speech.documents[..=speech.finish].to_vec());
        let received = receive_body(&speech, without.body()).await;
        assert_eq!(received.without_usage(), speech.meaning().without_usage(), "{:?}", speech.wire);
    }
}

/// Proxies send the end mark after a cut.
#[tokio::test]
async fn an_end_mark_without_a_finish_is_no_end_of_a_call() {
    for speech in Speech::all().into_iter().filter(|s| s.finish + 1 < s.documents.len()) {
        let mut documents = speech.documents.clone();
        documents.remove(speech.finish);
        let received = receive_body(&speech, speech.with(documents).body()).await;
        assert_eq!(
            (received.calls.len(), received.fault()),
            (0, Some(ModelFault::Cut)),
            "{:?}",
            speech.wire
        );
    }
}

#[tokio::test]
async fn the_output_limit_in_a_call_is_an_error_and_not_half_a_call() {
    for speech in Speech::all() {
        let (reason, limit) = speech.reason;
        let received = receive_body(&speech, speech.replaced(reason, limit).body()).await;
        let expected = (0, Some(ModelFault::OutputLimit));
        assert_eq!((received.calls.len(), received.fault()), expected, "{:?}", speech.wire);
        assert_eq!(received.text, speech.meaning().text, "{:?}", speech.wire);
    }
}

#[tokio::test]
async fn the_output_limit_without_a_call_is_the_end_of_the_text() {
    for speech in Speech::all() {
        let (reason, limit) = speech.reason;
        let limited = speech.replaced(reason, limit);
        let is_call =
            |document: &String| speech.call_marks.iter().any(|mark| document.contains(mark));
        let documents = limited.documents.iter().filter(|document| !is_call(document));
        let received =
            receive_body(&speech, speech.with(documents.cloned().collect()).body()).await;
        assert_eq!(received.error, None, "{:?}", speech.wire);
        assert_eq!(received.text, speech.meaning().text, "{:?}", speech.wire);
    }
}
