//! Finds the element of the page that a call names.

use lango_protocol::SessionId;
use lango_text::{make_visible, make_visible_short};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::references::{ElementReference, ElementReferences};
use super::sensitivity::Sensitivity;
use crate::browser::{Browser, FrameReference};
use crate::error::NavigatorError;

/// Says how a call names an element.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct ElementChoice {
    /// Reference from the page's outline, such as e12.
    #[serde(rename = "ref")]
    pub(crate) reference: Option<String>,
    /// CSS selector; the first match in any frame. Better use ref.
    pub(crate) selector: Option<String>,
}

/// Identifies an element of the current page.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) frame: FrameReference,
    pub(crate) number: i64,
    /// The object id in our isolated world.
    pub(crate) object: String,
    /// The name in a report; the words are the page's.
    pub(crate) label: String,
    /// Its sensitivity when the user decided; `None` if the question could not name the element.
    pub(crate) decided: Option<Sensitivity>,
    /// The address that it leads to, which the question named.
    pub(crate) target: Option<String>,
}

impl ElementChoice {
    /// Describes the element for the user who decides, and returns what is known of it.
    pub(crate) fn describe(
        &self,
        references: &ElementReferences,
    ) -> (String, Option<ElementReference>) {
        match (&self.reference, &self.selector) {
            (Some(name), _) => match references.find_element(name) {
                Some(reference) => {
                    let leads = reference.other_site().map_or_else(String::new, |target| {
                        format!("\nwhich leads to {}", super::display_address(target))
                    });
                    let words = format!(
                        "the {} \"{}\" ({})\non {}{leads}",
                        make_visible(&reference.role),
                        make_visible(&reference.name),
                        make_visible_short(name),
                        super::display_address(&reference.page),
                    );
                    (words, Some(reference))
                }
                None => (
                    format!("{}, which is on no page that was read", make_visible_short(name)),
                    None,
                ),
            },
            (None, Some(selector)) => {
                (format!("whatever matches the selector {}", make_visible(selector)), None)
            }
            (None, None) => ("nothing: neither ref nor selector is given".to_owned(), None),
        }
    }
}

/// Finds an element of the current page.
pub(crate) async fn find_element(
    browser: &Browser,
    references: &ElementReferences,
    session: &SessionId,
    generation: u64,
    choice: &ElementChoice,
) -> Result<Element, NavigatorError> {
    match (&choice.reference, &choice.selector) {
        (Some(name), None) => {
            find_by_reference(browser, references, session, generation, name).await
        }
        (None, Some(selector)) => find_by_selector(browser, selector).await,
        _ => Err(NavigatorError::WhichElement),
    }
}

async fn find_by_reference(
    browser: &Browser,
    references: &ElementReferences,
    session: &SessionId,
    generation: u64,
    name: &str,
) -> Result<Element, NavigatorError> {
    let stale = || NavigatorError::Stale(make_visible_short(name));
    let reference = references
        .find_element(name)
        .filter(|known| known.session == *session && known.browser == generation)
        .ok_or_else(stale)?;
    let object =
        browser.resolve_element(&reference.frame, reference.number).await?.ok_or_else(stale)?;
    Ok(Element {
        frame: reference.frame,
        number: reference.number,
        object,
        label: format!("{} \"{}\"", reference.role, reference.name),
        decided: Some(reference.sensitivity),
        target: reference.target,
    })
}

async fn find_by_selector(browser: &Browser, selector: &str) -> Result<Element, NavigatorError> {
    for frame in browser.list_frames().await? {
        let arguments = vec![Value::from(selector)];
        let found = match browser.find_element(&frame, "bySelector", arguments).await {
            Ok(found) => found,
            Err(_) if !frame.is_main && !browser.is_gone() => None,
            Err(error) => return Err(error),
        };
        // An invalid selector comes back as an error object, which is no element.
        let Some(object) = found else { continue };
        let Ok(number) = browser.element_number(&frame, &object).await else { continue };
        let label = format!("what matches {}", make_visible_short(selector));
        return Ok(Element { frame, number, object, label, decided: None, target: None });
    }
    Err(NavigatorError::NoMatch(make_visible_short(selector)))
}
