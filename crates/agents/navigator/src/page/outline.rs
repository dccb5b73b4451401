//! Builds the outline of a page, as for a user who cannot see it, with the elements that can be
//! used.

use std::collections::HashMap;

use lango_protocol::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::references::{ElementReference, ElementReferences};
use super::sensitivity::{Sensitivity, names_a_payment};
use super::tree::{TreeLine, build_lines};
use crate::browser::{Browser, FrameReference};
use crate::error::NavigatorError;
use crate::protocol::{CallError, GetFullTree};

/// Limits the size of documents that are outlined whole. Of larger ones only the usable elements
/// are shown: their whole tree would exceed the limit on messages from the browser.
const MAX_NODE_COUNT: u64 = 20_000;
const MAX_TEXT_CHARACTERS: u64 = 2_000_000;
/// Limits how many elements of such a document are shown.
const MAX_USABLE_COUNT: usize = 400;

/// Holds the outline of all frames of a page.
pub(crate) struct Outline {
    lines: Vec<OutlineLine>,
}

/// Holds one line of an outline.
struct OutlineLine {
    shown: String,
    /// Its words, if a user would read them as text.
    words: Option<String>,
}

impl OutlineLine {
    /// Creates a line in our words.
    fn in_our_words(shown: String) -> Self {
        Self { shown, words: None }
    }
}

/// Holds a part of an outline.
#[derive(Debug, Serialize)]
pub(crate) struct OutlinePart {
    /// Its lines.
    pub(crate) text: String,
    /// The words in them that a user would read.
    pub(crate) words: Vec<String>,
    /// The number of lines that come after.
    pub(crate) more: usize,
}

#[derive(Deserialize)]
struct OutlineMeasure {
    nodes: u64,
    text: u64,
    longest: u64,
}

impl Outline {
    /// Reads the current page.
    pub(crate) async fn read_current(
        browser: &Browser,
        references: &ElementReferences,
        session: &SessionId,
        generation: u64,
    ) -> Result<Self, NavigatorError> {
        let page = browser.tab()?.url;
        let mut lines = Vec::new();
        let frames = browser.list_frames().await?;
        let mut found = Vec::new();
        let mut card_in_frame = false;
        for frame in frames {
            let looked = read_frame(browser, &frame).await;
            let (frame_lines, sensitive) = match looked {
                // A frame that goes away or hangs does not fail the page.
                Err(_) if !frame.is_main && !browser.is_gone() => {
                    let place = super::display_address(&frame.url);
                    lines.push(OutlineLine::in_our_words(format!(
                        "(the frame {place} cannot be read)"
                    )));
                    continue;
                }
                other => other?,
            };
            card_in_frame |= !frame.is_main && !sensitive.is_empty();
            found.push((frame, frame_lines, sensitive));
        }
        for (frame, frame_lines, sensitive) in found {
            if !frame.is_main && !frame_lines.is_empty() {
                let place = super::display_address(&frame.url);
                lines.push(OutlineLine::in_our_words(format!("frame {place}:")));
            }
            for line in frame_lines {
                let own = line.number.and_then(|number| sensitive.get(&number).cloned());
                let is_button = matches!(line.role.as_str(), "button" | "link" | "PopUpButton");
                let sensitivity = match own {
                    Some(sensitivity) => sensitivity,
                    None if is_button && names_a_payment(&line.name) => {
                        Sensitivity::Form("a payment, going by its name".to_owned())
                    }
                    None if line.role == "button" && card_in_frame => {
                        Sensitivity::Form("a page with a field for secrets in a frame".to_owned())
                    }
                    None => Sensitivity::None,
                };
                let name = line.number.map(|number| {
                    references.name_element(ElementReference {
                        session: session.clone(),
                        browser: generation,
                        frame: frame.clone(),
                        number,
                        role: line.role.clone(),
                        name: line.name.clone(),
                        page: page.clone(),
                        sensitivity,
                        target: line.target.clone(),
                    })
                });
                let words = line.words().map(str::to_owned);
                lines.push(OutlineLine { shown: line.render_line(name.as_deref()), words });
            }
        }
        Ok(Self { lines })
    }

    /// Returns a part of it.
    pub(crate) fn cut_part(&self, offset: usize, limit: usize) -> OutlinePart {
        let begin = offset.min(self.lines.len());
        let end = begin.saturating_add(limit).min(self.lines.len());
        let lines = &self.lines[begin..end];
        let shown: Vec<&str> = lines.iter().map(|line| line.shown.as_str()).collect();
        OutlinePart {
            text: shown.join("\n"),
            words: lines.iter().filter_map(|line| line.words.clone()).collect(),
            more: self.lines.len() - end,
        }
    }
}

async fn read_frame(
    browser: &Browser,
    frame: &FrameReference,
) -> Result<(Vec<TreeLine>, HashMap<i64, Sensitivity>), NavigatorError> {
    let measure: OutlineMeasure = browser.call_in_frame(frame, "measure", Vec::new()).await?;
    let is_large = measure.nodes > MAX_NODE_COUNT
        || measure.text > MAX_TEXT_CHARACTERS
        || measure.longest > MAX_TEXT_CHARACTERS;
    let lines = if is_large {
        read_usable_elements(browser, frame).await?
    } else {
        let command = GetFullTree { frame_id: frame.frame.clone() };
        match browser.call_within(&frame.session, command, browser.timeout()).await {
            Ok(tree) => build_lines(&tree),
            Err(NavigatorError::Call(CallError::TooLong)) => {
                read_usable_elements(browser, frame).await?
            }
            Err(error) => return Err(error),
        }
    };
    let sensitive = browser.find_elements(frame, "sensitive", Vec::new()).await?;
    let sensitive = sensitive.into_iter().map(|(n, words)| (n, Sensitivity::parse(&words)));
    Ok((lines, sensitive.collect()))
}

/// Returns the outline of a document whose tree is too large.
async fn read_usable_elements(
    browser: &Browser,
    frame: &FrameReference,
) -> Result<Vec<TreeLine>, NavigatorError> {
    let limit = Value::from(MAX_USABLE_COUNT);
    let elements = browser.find_elements(frame, "usable", vec![limit]).await?;
    let line = |(number, words): (i64, String)| {
        let (role, name) = words.split_once(':').unwrap_or(("button", ""));
        let is_heading = role == "heading";
        TreeLine {
            depth: 0,
            role: role.to_owned(),
            name: name.to_owned(),
            states: Vec::new(),
            block: String::new(),
            number: (!is_heading).then_some(number),
            target: None,
        }
    };
    Ok(elements.into_iter().map(line).collect())
}
