//! Clicks and types like a user.

use std::time::Duration;

use lango_keystore::SecretBytes;
use serde::Deserialize;
use serde_json::Value;

use super::element::Element;
use super::sensitivity::Sensitivity;
use crate::browser::{Browser, NavigationMark};
use crate::error::NavigatorError;
use crate::protocol::{
    CallError, GetContentQuads, GetFrameOwner, InsertText, KeyEvent, MouseEvent,
};

/// Limits how many characters are typed key by key. More are inserted at once, as from a clipboard.
const MAX_TYPED_CHARACTERS: usize = 300;
/// Limits how long one event may take. A page may block it with a dialog, or with its scripts.
const EVENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Holds an element that is about to be used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the answers of the script, one by one")]
struct PreparedElement {
    gone: bool,
    visible: bool,
    hit: bool,
    disabled: bool,
    tag: String,
    r#type: String,
    editable: bool,
    sensitivity: String,
    cover: String,
}

/// Clicks an element. The returned words say how, if it was not the usual way.
pub(crate) async fn click_element(
    browser: &Browser,
    element: &Element,
) -> Result<String, NavigatorError> {
    let prepared = prepare_element(browser, element).await?;
    if prepared.disabled {
        return Err(unsuitable_error(element, "is disabled and cannot be clicked"));
    }
    check_still_as_decided(element, &prepared, Sensitivity::click_warning)?;
    if prepared.visible
        && prepared.hit
        && let Some((x, y)) = find_middle_point(browser, element).await?
    {
        let tab = browser.tab()?.session;
        for (kind, button, buttons) in
            [("mouseMoved", "none", 0), ("mousePressed", "left", 1), ("mouseReleased", "left", 0)]
        {
            let click_count = u8::from(kind != "mouseMoved");
            let event = MouseEvent { r#type: kind, x, y, button, buttons, click_count };
            treat_as_sent(browser.call_within(&tab, event, EVENT_TIMEOUT).await)?;
        }
        return Ok(String::new());
    }
    let _: bool =
        browser.call_on_element(&element.frame, &element.object, "press", Vec::new()).await?;
    Ok(match (prepared.visible, prepared.cover.as_str()) {
        (false, _) => "it is not visible, so it was clicked by its page's own means".to_owned(),
        (true, "") => {
            "it is out of reach of the mouse, so it was clicked by its page's own means".to_owned()
        }
        (true, _) => "something covers it, so it was clicked by its page's own means".to_owned(),
    })
}

/// Types into an element, replacing its content.
pub(crate) async fn type_text(
    browser: &Browser,
    element: &Element,
    text: &str,
    submit: bool,
) -> Result<String, NavigatorError> {
    let prepared = prepare_element(browser, element).await?;
    if prepared.disabled {
        return Err(unsuitable_error(element, "is disabled and cannot be changed"));
    }
    check_still_as_decided(element, &prepared, |sensitivity| sensitivity.typing_warning(submit))?;
    let mut how = String::new();
    match (prepared.tag.as_str(), prepared.r#type.as_str()) {
        ("SELECT", _) => how = choose_option(browser, element, text).await?,
        ("INPUT", "checkbox" | "radio" | "submit" | "button" | "image" | "reset") => {
            return Err(unsuitable_error(element, "takes no text: use browser_click"));
        }
        ("INPUT", "file") => {
            return Err(unsuitable_error(
                element,
                "wants a file, and files are not given to pages",
            ));
        }
        ("INPUT", "color" | "date" | "time" | "datetime-local" | "month" | "week" | "range") => {
            put_text(browser, element, text, false).await?;
        }
        ("INPUT" | "TEXTAREA", _) => put_text(browser, element, text, true).await?,
        _ if prepared.editable => put_text(browser, element, text, true).await?,
        _ => return Err(unsuitable_error(element, "takes no text")),
    }
    if submit {
        press_key(browser, "Enter", "Enter", 13, Some("\r")).await?;
    }
    Ok(how)
}

/// Puts a secret into a field, replacing its content, if the field's document is of this origin at that
/// very moment. It is not typed key by key: keys would go to whatever page is there then.
pub(crate) async fn type_secret(
    browser: &Browser,
    element: &Element,
    value: &SecretBytes,
    origin: &str,
    submit: bool,
) -> Result<String, NavigatorError> {
    let prepared = prepare_element(browser, element).await?;
    let is_field = matches!(
        (prepared.tag.as_str(), prepared.r#type.as_str()),
        ("INPUT", "text" | "password" | "email" | "tel" | "url" | "number" | "search" | "")
            | ("TEXTAREA", _)
    );
    if prepared.disabled || !is_field {
        return Err(unsuitable_error(element, "takes no secret: it is no field for text"));
    }
    let text = value
        .reveal_text()
        .ok_or_else(|| unsuitable_error(element, "takes text, and this secret is none"))?;
    let _: bool =
        browser.call_on_element(&element.frame, &element.object, "focusField", Vec::new()).await?;
    let values = vec![Value::from(origin), Value::from(text)];
    let done: String =
        browser.call_on_element(&element.frame, &element.object, "assignAt", values).await?;
    match done.as_str() {
        "taken" => {}
        "moved" => {
            return Err(NavigatorError::Unsuitable(format!(
                "the page is not one of {origin} any more; nothing was typed. Read it again \
                 (browser_read with mode outline)"
            )));
        }
        _ => return Err(unsuitable_error(element, "did not take the secret as it is")),
    }
    if submit {
        press_key(browser, "Enter", "Enter", 13, Some("\r")).await?;
    }
    Ok(String::new())
}

async fn prepare_element(
    browser: &Browser,
    element: &Element,
) -> Result<PreparedElement, NavigatorError> {
    let prepared: PreparedElement =
        browser.call_on_element(&element.frame, &element.object, "prepare", Vec::new()).await?;
    if prepared.gone {
        return Err(NavigatorError::Stale("it".to_owned()));
    }
    Ok(prepared)
}

/// Refuses an element that has become a field for secrets since the user decided about it, or that
/// turns out to be one although the question could not name it.
fn check_still_as_decided(
    element: &Element,
    prepared: &PreparedElement,
    reason: impl Fn(&Sensitivity) -> Option<String>,
) -> Result<(), NavigatorError> {
    let Some(why) = reason(&Sensitivity::parse(&prepared.sensitivity)) else { return Ok(()) };
    let Some(decided) = &element.decided else {
        return Err(NavigatorError::Unsuitable(format!(
            "{why}, and the question did not name it. Read the page (browser_read with mode \
             outline) and use its reference"
        )));
    };
    match reason(decided) {
        None => Err(NavigatorError::Unsuitable(format!(
            "the page has changed: {why}, and the user was not asked about that. Read the page again \
             (browser_read with mode outline), then try again"
        ))),
        Some(_) => Ok(()),
    }
}

fn unsuitable_error(element: &Element, what: &str) -> NavigatorError {
    NavigatorError::Unsuitable(format!("the {} {what}", super::clean_line(&element.label)))
}

/// Returns the middle of an element, in the coordinates of the whole page's window.
async fn find_middle_point(
    browser: &Browser,
    element: &Element,
) -> Result<Option<(f64, f64)>, NavigatorError> {
    let session = element.frame.session.clone();
    let Some((mut x, mut y)) = find_content_point(browser, &session, element.number, true).await?
    else {
        return Ok(None);
    };
    // Coordinates in a frame of another site start at its own corner: add its position in the outer
    // page.
    let mut session = session;
    while let Some(frame) = browser.read_state(|state| state.frames.get(&session).cloned()) {
        let owner = GetFrameOwner { frame_id: frame.frame };
        let owner = browser.call(&frame.parent, owner).await?.backend_node_id;
        let Some((left, top)) = find_content_point(browser, &frame.parent, owner, false).await?
        else {
            return Ok(None);
        };
        (x, y) = (x + left, y + top);
        session = frame.parent;
    }
    Ok(Some((x, y)))
}

/// Returns the middle or the upper left corner of an element's content.
async fn find_content_point(
    browser: &Browser,
    session: &str,
    number: i64,
    middle: bool,
) -> Result<Option<(f64, f64)>, NavigatorError> {
    let quads = match browser.call(session, GetContentQuads { backend_node_id: number }).await {
        Ok(found) => found.quads,
        Err(NavigatorError::Call(CallError::Refused(_))) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some([x1, y1, _, _, x3, y3, ..]) = quads.first().map(Vec::as_slice) else {
        return Ok(None);
    };
    Ok(Some(if middle { (f64::midpoint(*x1, *x3), f64::midpoint(*y1, *y3)) } else { (*x1, *y1) }))
}

/// Treats an event that a page blocks as sent.
fn treat_as_sent<T>(result: Result<T, NavigatorError>) -> Result<(), NavigatorError> {
    match result {
        // The page, or its frame, went away with the event: that is what the event was for.
        Ok(_) | Err(NavigatorError::Call(CallError::TimedOut { .. } | CallError::Refused(_))) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

async fn put_text(
    browser: &Browser,
    element: &Element,
    text: &str,
    by_keys: bool,
) -> Result<(), NavigatorError> {
    let has_content: bool =
        browser.call_on_element(&element.frame, &element.object, "focusField", Vec::new()).await?;
    if !by_keys {
        let value = vec![Value::from(text)];
        let taken: bool =
            browser.call_on_element(&element.frame, &element.object, "assign", value).await?;
        return if taken {
            Ok(())
        } else {
            Err(unsuitable_error(element, "does not take this value; dates are written 2026-12-31"))
        };
    }
    if has_content {
        press_key(browser, "Backspace", "Backspace", 8, None).await?;
    }
    if text.chars().count() > MAX_TYPED_CHARACTERS || text.contains('\n') {
        let tab = browser.tab()?.session;
        let text = text.to_owned();
        return treat_as_sent(browser.call_within(&tab, InsertText { text }, EVENT_TIMEOUT).await);
    }
    let tab = browser.tab()?.session;
    for character in text.chars() {
        for kind in ["keyDown", "keyUp"] {
            let event = KeyEvent {
                r#type: kind,
                key: Some(character.to_string()),
                code: None,
                text: (kind == "keyDown").then(|| character.to_string()),
                windows_virtual_key_code: None,
                modifiers: None,
            };
            treat_as_sent(browser.call_within(&tab, event, EVENT_TIMEOUT).await)?;
        }
    }
    Ok(())
}

async fn press_key(
    browser: &Browser,
    key: &str,
    code: &'static str,
    number: u32,
    text: Option<&str>,
) -> Result<(), NavigatorError> {
    let tab = browser.tab()?.session;
    for kind in ["keyDown", "keyUp"] {
        let event = KeyEvent {
            r#type: kind,
            key: Some(key.to_owned()),
            code: Some(code),
            text: text.filter(|_| kind == "keyDown").map(str::to_owned),
            windows_virtual_key_code: Some(number),
            modifiers: None,
        };
        treat_as_sent(browser.call_within(&tab, event, EVENT_TIMEOUT).await)?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct ChosenOption {
    chosen: String,
    options: Vec<String>,
}

async fn choose_option(
    browser: &Browser,
    element: &Element,
    text: &str,
) -> Result<String, NavigatorError> {
    let value = vec![Value::from(text)];
    let choice: ChosenOption =
        browser.call_on_element(&element.frame, &element.object, "choose", value).await?;
    if choice.chosen.is_empty() {
        let options = super::clean_line(&choice.options.join(", "));
        return Err(unsuitable_error(element, &format!("has no such option; it has: {options}")));
    }
    Ok(format!("chose the option \"{}\"", super::clean_line(&choice.chosen)))
}

/// Counts changes of the page's main document from now on.
pub(crate) async fn watch_changes(browser: &Browser, element: &Element) {
    // On failure a report says less.
    let _: Result<bool, _> = browser.call_in_frame(&element.frame, "watch", Vec::new()).await;
}

/// Tells whether the document of an element changed since [`watch_changes`]; `None` if it is gone.
pub(crate) async fn has_changed(
    browser: &Browser,
    element: &Element,
    mark: &NavigationMark,
) -> Option<bool> {
    if browser.mark_moment().ok()?.navigations != mark.navigations {
        return None;
    }
    let changes: u64 = browser.call_in_frame(&element.frame, "changes", Vec::new()).await.ok()?;
    Some(changes > 0)
}
