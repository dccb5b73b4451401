//! Folds the browser's events into its known state. It is pure: the reaction to an event is
//! returned, and carried out by the watcher.

use std::collections::{BTreeMap, BTreeSet};

use lango_egress::Site;
use lango_text::truncate_characters;
use serde::Deserialize;

use crate::protocol::{BrowserEvent, Frame, TargetInfo};

/// Limits how many tabs are open at the same time. A page that opens more is not followed.
pub(crate) const MAX_TAB_COUNT: usize = 8;
/// Limits how many notes are kept until they are reported.
const MAX_NOTE_COUNT: usize = 50;
/// Limits how many characters of a page's text are kept.
const MAX_TEXT_CHARACTERS: usize = 500;

/// Tells how much of a document is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DocumentStage {
    /// It is loading.
    #[default]
    Begun,
    /// All of its own text is loaded.
    Document,
    /// Its pictures and scripts are loaded too.
    Loaded,
}

/// Describes a tab.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tab {
    pub(crate) target: String,
    pub(crate) session: String,
    pub(crate) main_frame: String,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) loader: String,
    pub(crate) stage: DocumentStage,
    pub(crate) is_ready: bool,
    /// True if another document is loading.
    pub(crate) is_leaving: bool,
    pub(crate) is_crashed: bool,
    /// The number of documents so far.
    pub(crate) navigations: u64,
}

/// Describes a frame of another site, which has a session of its own.
#[derive(Debug, Clone)]
pub(crate) struct OtherFrame {
    pub(crate) frame: String,
    pub(crate) parent: String,
}

/// Describes something that a report should mention. The texts are the page's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageNote {
    NewTab,
    TooManyTabs,
    TabClosed,
    Dialog { kind: String, message: String, accepted: bool },
    FileChooser,
    Scheme { url: String },
    OtherSite { url: String },
}

/// Describes a file that is being downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Download {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) received: u64,
    pub(crate) state: DownloadState,
    pub(crate) was_reported: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DownloadState {
    Running,
    Completed,
    Cancelled,
    TooLarge,
}

/// Tells what should be done about an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventReaction {
    SetUpTab { session: String },
    SetUpFrame { session: String },
    CloseTab { target: String, session: String },
    AnswerDialog { session: String, accept: bool },
    GoBlank { session: String },
    CancelDownload { guid: String },
    ContinueRequest { session: String, request: String },
    AbortRequest { session: String, request: String },
    Authenticate { session: String, request: String, is_our_proxy: bool },
}

#[derive(Debug, Default)]
pub(crate) struct BrowserState {
    pub(crate) tabs: Vec<Tab>,
    /// The target of the current tab.
    pub(crate) current: Option<String>,
    /// The frames of other sites, by session.
    pub(crate) frames: BTreeMap<String, OtherFrame>,
    pub(crate) notes: Vec<PageNote>,
    /// The downloads, by id.
    pub(crate) downloads: BTreeMap<String, Download>,
    pub(crate) largest_download: u64,
    /// The sites that may be shown: those that a question or a rule was about.
    pub(crate) sites: BTreeSet<Site>,
    /// The address of the last page that was not shown because it is on another site.
    pub(crate) refused_page: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachEvent {
    session_id: String,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DetachEvent {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InfoChanged {
    target_info: TargetInfo,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEvent {
    frame_id: String,
    #[serde(default)]
    loader_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    navigation_type: String,
}

#[derive(Deserialize)]
struct DialogOpening {
    message: String,
    r#type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadBegins {
    guid: String,
    url: String,
    suggested_filename: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadProgress {
    guid: String,
    total_bytes: f64,
    received_bytes: f64,
    state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PausedRequest {
    request_id: String,
    #[serde(default)]
    frame_id: String,
    #[serde(default)]
    request: Option<RequestAddress>,
    #[serde(default)]
    auth_challenge: Option<ProxyChallenge>,
}

#[derive(Deserialize)]
struct RequestAddress {
    url: String,
}

#[derive(Deserialize)]
struct ProxyChallenge {
    source: Option<String>,
}

impl BrowserState {
    /// Returns the current tab.
    pub(crate) fn tab(&self) -> Option<&Tab> {
        let current = self.current.as_ref()?;
        self.tabs.iter().find(|tab| tab.target == *current)
    }

    /// Applies an event.
    pub(crate) fn apply(&mut self, event: &BrowserEvent) -> Option<EventReaction> {
        let session = event.session.clone().unwrap_or_default();
        match event.method.as_str() {
            "Target.attachedToTarget" => self.apply_attach(event.read()?, session),
            "Target.detachedFromTarget" => {
                self.apply_detach(&event.read::<DetachEvent>()?.session_id);
                None
            }
            "Target.targetInfoChanged" => {
                let InfoChanged { target_info } = event.read()?;
                let tab = self.tabs.iter_mut().find(|tab| tab.target == target_info.target_id)?;
                tab.title = cut_text(&target_info.title);
                tab.url = target_info.url;
                None
            }
            "Inspector.targetCrashed" => {
                self.find_tab(&session)?.is_crashed = true;
                None
            }
            "Page.frameNavigated" => self.apply_navigation(event.read()?, &session),
            "Page.navigatedWithinDocument"
            | "Page.lifecycleEvent"
            | "Page.frameStartedNavigating"
            | "Page.frameStoppedLoading" => {
                self.apply_frame_event(&event.method, event.read()?, &session);
                None
            }
            "Page.javascriptDialogOpening" => {
                let DialogOpening { message, r#type } = event.read()?;
                // The user asked to leave the page; every other dialog is answered with no.
                let accept = r#type == "beforeunload";
                let message = cut_text(&message);
                self.add_note(PageNote::Dialog { kind: r#type, message, accepted: accept });
                Some(EventReaction::AnswerDialog { session, accept })
            }
            "Page.fileChooserOpened" => {
                self.add_note(PageNote::FileChooser);
                None
            }
            "Browser.downloadWillBegin" => {
                let DownloadBegins { guid, url, suggested_filename } = event.read()?;
                let download = Download {
                    name: cut_text(&suggested_filename),
                    url: cut_text(&url),
                    received: 0,
                    state: DownloadState::Running,
                    was_reported: false,
                };
                self.downloads.insert(guid, download);
                None
            }
            "Browser.downloadProgress" => self.apply_download_progress(event.read()?),
            "Fetch.requestPaused" => Some(self.decide_request(event.read()?, session)),
            "Fetch.authRequired" => {
                let PausedRequest { request_id, auth_challenge, .. } = event.read()?;
                let source = auth_challenge.and_then(|challenge| challenge.source);
                let is_our_proxy = source.as_deref() == Some("Proxy");
                Some(EventReaction::Authenticate { session, request: request_id, is_our_proxy })
            }
            _ => None,
        }
    }

    /// Lets a document be requested, unless it would be shown as the page and its site was not
    /// agreed to. The page that is shown then stays.
    fn decide_request(&mut self, paused: PausedRequest, session: String) -> EventReaction {
        let PausedRequest { request_id: request, frame_id, request: sent, .. } = paused;
        let url = sent.map(|sent| sent.url).unwrap_or_default();
        let is_page = self.find_tab(&session).is_some_and(|tab| tab.main_frame == frame_id);
        // What is not on the network has rules of its own.
        let may_be_shown = Site::of(&url).is_none_or(|site| self.sites.contains(&site));
        if !is_page || may_be_shown {
            return EventReaction::ContinueRequest { session, request };
        }
        let url = cut_text(&url);
        self.refused_page = Some(url.clone());
        self.add_note(PageNote::OtherSite { url });
        EventReaction::AbortRequest { session, request }
    }

    fn find_tab(&mut self, session: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.session == session)
    }

    fn add_note(&mut self, note: PageNote) {
        if self.notes.len() < MAX_NOTE_COUNT {
            self.notes.push(note);
        }
    }

    fn apply_attach(&mut self, attached: AttachEvent, parent: String) -> Option<EventReaction> {
        let AttachEvent { session_id: session, target_info: info } = attached;
        match info.r#type.as_str() {
            "iframe" => {
                self.frames.insert(session.clone(), OtherFrame { frame: info.target_id, parent });
                Some(EventReaction::SetUpFrame { session })
            }
            "page" => {
                if self.tabs.len() >= MAX_TAB_COUNT {
                    self.add_note(PageNote::TooManyTabs);
                    return Some(EventReaction::CloseTab { target: info.target_id, session });
                }
                if !self.tabs.is_empty() {
                    self.add_note(PageNote::NewTab);
                }
                self.current = Some(info.target_id.clone());
                self.tabs.push(Tab {
                    main_frame: info.target_id.clone(),
                    target: info.target_id,
                    session: session.clone(),
                    url: info.url,
                    title: cut_text(&info.title),
                    ..Tab::default()
                });
                Some(EventReaction::SetUpTab { session })
            }
            _ => None,
        }
    }

    fn apply_detach(&mut self, session: &str) {
        self.frames.remove(session);
        let Some(index) = self.tabs.iter().position(|tab| tab.session == session) else { return };
        let closed = self.tabs.remove(index);
        if self.current.as_ref() == Some(&closed.target) {
            self.current = self.tabs.last().map(|tab| tab.target.clone());
            self.add_note(PageNote::TabClosed);
        }
    }

    fn apply_navigation(
        &mut self,
        navigated: FrameNavigated,
        session: &str,
    ) -> Option<EventReaction> {
        let frame = navigated.frame;
        let tab = self.find_tab(session)?;
        if frame.parent_id.is_some() {
            return None;
        }
        tab.main_frame = frame.id;
        tab.loader = frame.loader_id;
        tab.url.clone_from(&frame.url);
        tab.navigations += 1;
        (tab.stage, tab.is_leaving, tab.is_crashed) = (DocumentStage::Begun, false, false);
        if may_be_shown(&frame.url) {
            return None;
        }
        self.add_note(PageNote::Scheme { url: cut_text(&frame.url) });
        Some(EventReaction::GoBlank { session: session.to_owned() })
    }

    fn apply_frame_event(&mut self, method: &str, what: FrameEvent, session: &str) {
        let Some(tab) = self.find_tab(session).filter(|tab| tab.main_frame == what.frame_id) else {
            return;
        };
        match (method, what.name.as_str()) {
            ("Page.navigatedWithinDocument", _) => tab.url = what.url,
            ("Page.frameStartedNavigating", _) => {
                tab.is_leaving = !what.navigation_type.contains("ameDocument");
            }
            ("Page.frameStoppedLoading", _) => tab.is_leaving = false,
            (_, "DOMContentLoaded") if what.loader_id == tab.loader => {
                tab.stage = tab.stage.max(DocumentStage::Document);
            }
            (_, "load") if what.loader_id == tab.loader => tab.stage = DocumentStage::Loaded,
            _ => {}
        }
    }

    fn apply_download_progress(&mut self, progress: DownloadProgress) -> Option<EventReaction> {
        let largest = self.largest_download;
        let download = self.downloads.get_mut(&progress.guid)?;
        // The protocol uses floating point; a fraction of a byte is none.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let [received, total] = [progress.received_bytes, progress.total_bytes].map(|n| n as u64);
        download.received = received;
        if download.state == DownloadState::TooLarge {
            return None;
        }
        download.state = match progress.state.as_str() {
            "completed" => DownloadState::Completed,
            "canceled" => DownloadState::Cancelled,
            _ => DownloadState::Running,
        };
        if received.max(total) > largest {
            download.state = DownloadState::TooLarge;
            return Some(EventReaction::CancelDownload { guid: progress.guid });
        }
        None
    }
}

/// Tells whether a document of this address may stay: pages, and what Chromium shows in their
/// place.
fn may_be_shown(url: &str) -> bool {
    ["http://", "https://", "about:", "chrome-error:", "blob:http://", "blob:https://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
        || url.is_empty()
        || url == ":"
}

fn cut_text(text: &str) -> String {
    truncate_characters(text, MAX_TEXT_CHARACTERS).to_owned()
}

#[cfg(test)]
mod tests;
