use proptest::prelude::*;

use super::*;

const MAX_BYTES: usize = 100;

/// Holds an event as text, to compare it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Event {
    data: Option<String>,
    name: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn events(pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = SseDecoder::new(MAX_BYTES);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next_event().unwrap() {
            events.push(Event {
                data: event.data.map(text),
                name: event.name.map(text),
                id: event.id.map(text),
                retry: event.retry,
            });
        }
    }
    events
}

fn data(pieces: &[&[u8]]) -> Vec<String> {
    events(pieces).into_iter().filter_map(|event| event.data).collect()
}

/// Collects the data of each line, as model providers use them.
fn documents(pieces: &[&[u8]]) -> Vec<String> {
    fn document(line: &[u8]) -> Option<String> {
        match SseField::parse(line) {
            Some(SseField::Data(value)) => Some(text(value)),
            _ => None,
        }
    }
    let mut lines = LineDecoder::new(MAX_BYTES);
    let mut documents = Vec::new();
    for piece in pieces {
        lines.push(piece);
        while let Some(line) = lines.next_line().unwrap() {
            documents.extend(document(line));
        }
    }
    documents.extend(lines.last_line().and_then(document));
    documents
}

const STREAM: &str = "\u{feff}: hello\r\nevent: x\r\ndata: {\"a\":\"é🌍\"}\r\n\r\ndata:{\"b\":1}\n\n\
                      id: 7\ndata: {\"c\":2}\rdata: {\"d\":3}\r\rretry: 250\n\ndata: [DONE]";

#[test]
fn every_cut_in_two_gives_the_same_documents_and_events() {
    let (whole_documents, whole_events) =
        (documents(&[STREAM.as_bytes()]), events(&[STREAM.as_bytes()]));
    assert_eq!(
        whole_documents,
        [r#"{"a":"é🌍"}"#, r#"{"b":1}"#, r#"{"c":2}"#, r#"{"d":3}"#, "[DONE]"]
    );
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        Event { data: some(r#"{"a":"é🌍"}"#), name: some("x"), ..Event::default() },
        Event { data: some(r#"{"b":1}"#), ..Event::default() },
        Event { data: some("{\"c\":2}\n{\"d\":3}"), id: some("7"), ..Event::default() },
        Event { retry: Some(250), ..Event::default() },
    ];
    assert_eq!(whole_events, expected);
    for at in 0..=STREAM.len() {
        let (left, right) = STREAM.as_bytes().split_at(at);
        assert_eq!(documents(&[left, right]), whole_documents, "cut at {at}");
        assert_eq!(events(&[left, right]), whole_events, "cut at {at}");
    }
    let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
    assert_eq!((documents(&bytes), events(&bytes)), (whole_documents, whole_events));
}

#[test]
fn lines_of_data_are_joined_and_half_an_event_is_none() {
    let stream =
        b": hello\r\nid: 1\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: b\n\n\nevent: x\n\ndata: half";
    let expected = ["{\"a\":\n1}", "b"];
    assert_eq!(data(&[stream]), expected);
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(data(&bytes), expected);
}

#[test]
fn an_event_without_end_is_noticed() {
    let push = |pieces: &[&[u8]]| {
        let mut decoder = SseDecoder::new(10);
        for piece in pieces {
            decoder.push(piece);
            while decoder.next_event()?.is_some() {}
        }
        Ok::<(), StreamTooLong>(())
    };
    let too_long = Err(StreamTooLong { max_bytes: 10 });
    assert_eq!(push(&[b"data: 1234567"]), too_long);
    assert_eq!(push(&[b"data: 1234567\n\n"]), too_long);
    assert_eq!(push(&[b"data: 123\ndata: 456\ndata: 789\n"]), too_long);
    assert_eq!(push(&[b"data: 123\n", b"data", b": 4567"]), too_long);
    assert_eq!(push(&[b": comment without end"]), too_long);
    assert_eq!(push(&[b": 1\n", b": 2\n", b": 3\n", b": 4\n"]), too_long);
    assert_eq!(push(&[b"id: 123\nid: 456\n"]), too_long);
    // Each event has the whole limit.
    assert_eq!(push(&[b"data: 1234\n\ndata: 1234\n\n: 1\n\n: 2\n\n: 3\n\n: 4\n\n"]), Ok(()));
}

#[test]
fn a_line_without_end_is_noticed() {
    let mut lines = LineDecoder::new(4);
    lines.push(b"1234");
    assert_eq!(lines.next_line(), Ok(None));
    lines.push(b"\n12345\n");
    assert_eq!(lines.next_line(), Ok(Some(&b"1234"[..])));
    assert_eq!(lines.next_line(), Err(StreamTooLong { max_bytes: 4 }));
}

#[test]
fn fields_are_read_as_the_standard_says() {
    assert_eq!(SseField::parse(b"data:  two spaces"), Some(SseField::Data(b" two spaces")));
    assert_eq!(SseField::parse(b"data"), Some(SseField::Data(b"")));
    assert_eq!(SseField::parse(b"event:a:b"), Some(SseField::Event(b"a:b")));
    assert_eq!(SseField::parse(b"id: 1\0"), None);
    assert_eq!(SseField::parse(b"retry: 10"), Some(SseField::Retry(10)));
    for ignored in [&b"retry: +1"[..], b"retry: soon", b"retry:", b": comment", b"other: x", b"x"] {
        assert_eq!(SseField::parse(ignored), None, "{ignored:?}");
    }
    // The last of two fields counts, unlike two lines of data.
    let read = events(&[b"id: 1\nid: 2\nevent: a\nevent: b\nnonsense\ndata:\n\n"]);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(read, [Event { data: some(""), name: some("b"), id: some("2"), retry: None }]);
}

fn cut(stream: &[u8], mut cuts: Vec<usize>) -> Vec<&[u8]> {
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in cuts {
        pieces.push(&stream[from..at]);
        from = at;
    }
    pieces.push(&stream[from..]);
    pieces
}

proptest! {
    #[test]
    fn any_cuts_give_the_same_documents_and_events(cuts in prop::collection::vec(0..STREAM.len(), 0..9)) {
        let pieces = cut(STREAM.as_bytes(), cuts);
        prop_assert_eq!(documents(&pieces), documents(&[STREAM.as_bytes()]));
        prop_assert_eq!(events(&pieces), events(&[STREAM.as_bytes()]));
    }

    /// Whatever a server sends, no more is held than the limit and one piece.
    #[test]
    fn nothing_grows_beyond_the_limit(pieces in prop::collection::vec("[a:d\r\n ]{0,40}", 0..40)) {
        let mut decoder = SseDecoder::new(MAX_BYTES);
        for piece in &pieces {
            decoder.push(piece.as_bytes());
            loop {
                match decoder.next_event() {
                    Ok(Some(event)) => prop_assert!(event.data.map_or(0, <[u8]>::len) <= MAX_BYTES),
                    Ok(None) => break,
                    Err(_) => return Ok(()),
                }
            }
            prop_assert!(decoder.lines.pending_bytes() <= MAX_BYTES);
        }
    }
}
