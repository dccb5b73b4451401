//! Tests events in, state and reactions out.

use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn event(method: &str, session: &str, parameters: &serde_json::Value) -> BrowserEvent {
    let session = (!session.is_empty()).then(|| session.to_owned());
    BrowserEvent { session, method: method.into(), parameters: to_raw_value(parameters).unwrap() }
}

fn attach(state: &mut BrowserState, kind: &str, target: &str) -> Option<EventReaction> {
    let info = json!({"targetId": target, "type": kind, "title": "", "url": "about:blank"});
    let parameters = json!({"sessionId": format!("s-{target}"), "targetInfo": info});
    state.apply(&event("Target.attachedToTarget", "", &parameters))
}

fn navigate(state: &mut BrowserState, target: &str, url: &str) -> Option<EventReaction> {
    let frame = json!({"id": target, "loaderId": "l1", "url": url});
    let session = format!("s-{target}");
    state.apply(&event("Page.frameNavigated", &session, &json!({"frame": frame})))
}

#[test]
fn a_new_tab_is_followed_up_to_a_number_and_its_end_leads_back() {
    let mut state = BrowserState::default();
    for number in 0..MAX_TAB_COUNT {
        let reaction = attach(&mut state, "page", &format!("t{number}"));
        assert!(matches!(reaction, Some(EventReaction::SetUpTab { .. })));
    }
    assert_eq!(state.current.as_deref(), Some("t7"));
    let reaction = attach(&mut state, "page", "t8");
    let close = EventReaction::CloseTab { target: "t8".into(), session: "s-t8".into() };
    assert_eq!(reaction, Some(close));
    assert_eq!(state.current.as_deref(), Some("t7"));
    state.apply(&event("Target.detachedFromTarget", "", &json!({"sessionId": "s-t7"})));
    assert_eq!(state.current.as_deref(), Some("t6"));
}

#[test]
fn c6_a_document_that_is_no_page_does_not_stay() {
    let mut state = BrowserState::default();
    attach(&mut state, "page", "t");
    for url in ["file:///etc/passwd", "chrome://version/", "data:text/html,x", "ftp://a/"] {
        let reaction = navigate(&mut state, "t", url);
        assert_eq!(reaction, Some(EventReaction::GoBlank { session: "s-t".into() }), "{url}");
    }
    for url in ["http://a/", "https://a/", "about:blank", "chrome-error://chromewebdata/"] {
        assert_eq!(navigate(&mut state, "t", url), None, "{url}");
    }
}

#[test]
fn a_tab_has_a_document_only_when_its_own_loader_says_so() {
    let mut state = BrowserState::default();
    attach(&mut state, "page", "t");
    navigate(&mut state, "t", "http://a/");
    let lifecycle =
        |loader: &str, name: &str| json!({"frameId": "t", "loaderId": loader, "name": name});
    state.apply(&event("Page.lifecycleEvent", "s-t", &lifecycle("old", "load")));
    assert_eq!(state.tab().unwrap().stage, DocumentStage::Begun);
    state.apply(&event("Page.lifecycleEvent", "s-t", &lifecycle("l1", "DOMContentLoaded")));
    assert_eq!(state.tab().unwrap().stage, DocumentStage::Document);
    state.apply(&event("Page.lifecycleEvent", "s-t", &lifecycle("l1", "load")));
    assert_eq!(state.tab().unwrap().stage, DocumentStage::Loaded);
}

#[test]
fn dialogs_are_dismissed_and_leaving_is_accepted() {
    let mut state = BrowserState::default();
    for (kind, accept) in
        [("alert", false), ("confirm", false), ("prompt", false), ("beforeunload", true)]
    {
        let parameters = json!({"message": "x", "type": kind, "url": "http://a/"});
        let reaction = state.apply(&event("Page.javascriptDialogOpening", "s", &parameters));
        assert_eq!(reaction, Some(EventReaction::AnswerDialog { session: "s".into(), accept }));
    }
    assert_eq!(state.notes.len(), 4);
}

#[test]
fn a_download_that_grows_too_large_is_cancelled_once() {
    let mut state = BrowserState { largest_download: 100, ..BrowserState::default() };
    let begins = json!({"guid": "g", "url": "http://a/", "suggestedFilename": "f"});
    state.apply(&event("Browser.downloadWillBegin", "", &begins));
    let mut progress = |received: u32, state_name: &str| {
        let parameters =
            json!({"guid": "g", "totalBytes": 0, "receivedBytes": received, "state": state_name});
        state.apply(&event("Browser.downloadProgress", "", &parameters))
    };
    assert_eq!(progress(100, "inProgress"), None);
    let cancel = Some(EventReaction::CancelDownload { guid: "g".into() });
    assert_eq!(progress(101, "inProgress"), cancel);
    assert_eq!(progress(101, "canceled"), None);
    assert_eq!(state.downloads["g"].state, DownloadState::TooLarge);
}
