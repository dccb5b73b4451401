//! Manages the short names of elements, such as `e12`.
//!
//! A name belongs to one element of one page of one session, and to no other as long as the program
//! runs: so a proposal, which knows no session, can say what an element is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lango_egress::Site;
use lango_protocol::SessionId;
use parking_lot::Mutex;

use super::sensitivity::Sensitivity;
use crate::browser::FrameReference;

/// Limits how many names are kept. The oldest are forgotten.
const MAX_NAME_COUNT: usize = 5000;

/// Describes an element that was shown.
#[derive(Debug, Clone)]
pub(crate) struct ElementReference {
    pub(crate) session: SessionId,
    /// The generation of the session's browser that it was in.
    pub(crate) browser: u64,
    pub(crate) frame: FrameReference,
    /// The browser's number of the node.
    pub(crate) number: i64,
    pub(crate) role: String,
    pub(crate) name: String,
    /// The address of the page it was on.
    pub(crate) page: String,
    pub(crate) sensitivity: Sensitivity,
    /// The address that a link leads to.
    pub(crate) target: Option<String>,
}

impl ElementReference {
    /// Returns the address that a link leads to, if it is on another site than its page.
    pub(crate) fn other_site(&self) -> Option<&str> {
        let target = self.target.as_deref()?;
        let site = Site::of(target)?;
        (Site::of(&self.page) != Some(site)).then_some(target)
    }

    fn key(&self) -> ReferenceKey {
        let session = self.session.clone();
        (session, self.browser, self.frame.session.clone(), self.number)
    }
}

type ReferenceKey = (SessionId, u64, String, i64);

#[derive(Default)]
struct ReferenceTable {
    next: u64,
    by_name: BTreeMap<u64, ElementReference>,
    by_element: HashMap<ReferenceKey, u64>,
}

/// Holds all names of the program. It is cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct ElementReferences {
    // Proposals look here without waiting for the page; locked for one lookup.
    table: Arc<Mutex<ReferenceTable>>,
}

impl ElementReferences {
    /// Returns the name of an element, the same one as before if it has one.
    pub(crate) fn name_element(&self, reference: ElementReference) -> String {
        let mut table = self.table.lock();
        let key = reference.key();
        let number = if let Some(number) = table.by_element.get(&key) {
            *number
        } else {
            table.next += 1;
            table.next
        };
        table.by_element.insert(key, number);
        let session = reference.session.clone();
        table.by_name.insert(number, reference);
        if table.by_name.len() > MAX_NAME_COUNT {
            table.forget_oldest(&session);
        }
        format!("e{number}")
    }

    /// Returns the element of a name.
    pub(crate) fn find_element(&self, name: &str) -> Option<ElementReference> {
        let number = name.trim().strip_prefix('e')?.parse().ok()?;
        let table = self.table.lock();
        table.by_name.get(&number).cloned()
    }

    /// Forgets what belongs to a session.
    pub(crate) fn forget_session(&self, session: &SessionId) {
        let mut table = self.table.lock();
        table.by_name.retain(|_, reference| reference.session != *session);
        table.by_element.retain(|(owner, ..), _| owner != session);
    }
}

impl ReferenceTable {
    /// Forgets the older half of a session's names.
    fn forget_oldest(&mut self, session: &SessionId) {
        let own: Vec<u64> = self
            .by_name
            .iter()
            .filter(|(_, reference)| reference.session == *session)
            .map(|(number, _)| *number)
            .collect();
        for number in &own[..own.len() / 2] {
            if let Some(reference) = self.by_name.remove(number) {
                self.by_element.remove(&reference.key());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(session: &SessionId, number: i64) -> ElementReference {
        let (session_text, frame) = ("s".to_owned(), "f".to_owned());
        ElementReference {
            session: session.clone(),
            browser: 1,
            frame: FrameReference {
                session: session_text,
                frame,
                url: String::new(),
                is_main: true,
            },
            number,
            role: "button".into(),
            name: "Go".into(),
            page: "http://a/".into(),
            sensitivity: Sensitivity::None,
            target: None,
        }
    }

    #[test]
    fn an_element_keeps_its_name_and_no_other_gets_it() {
        let references = ElementReferences::default();
        let (one, two) = (SessionId::generate(), SessionId::generate());
        let name = references.name_element(reference(&one, 7));
        assert_eq!(references.name_element(reference(&one, 7)), name);
        assert_ne!(references.name_element(reference(&one, 8)), name);
        assert_ne!(references.name_element(reference(&two, 7)), name);
        references.forget_session(&one);
        assert!(references.find_element(&name).is_none());
        assert_ne!(references.name_element(reference(&one, 7)), name);
    }

    #[test]
    fn names_are_bounded_and_the_newest_stay() {
        let references = ElementReferences::default();
        let session = SessionId::generate();
        let count = i64::try_from(MAX_NAME_COUNT).unwrap() * 2;
        let names = (0..count).map(|number| references.name_element(reference(&session, number)));
        let last = names.fold(None, |_, name| Some(name));
        assert!(references.find_element(&last.unwrap()).is_some());
        assert!(references.find_element("e1").is_none());
        let table = references.table.lock();
        assert!(table.by_name.len() <= MAX_NAME_COUNT && table.by_element.len() <= MAX_NAME_COUNT);
    }

    #[test]
    fn what_is_no_name_is_no_element() {
        let references = ElementReferences::default();
        for text in ["", "e", "12", "e-1", "e99999999999999999999", "x1"] {
            assert!(references.find_element(text).is_none(), "{text}");
        }
    }
}
