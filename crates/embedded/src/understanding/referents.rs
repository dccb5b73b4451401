//! Finds out what words such as "the copy", "the video" or "in there" mean after the call before.

use std::ops::Range;

use lango_model::EarlierCall;

use super::follow_up::{parse_arguments, quote_name};
use super::kinds_of_files::extensions_of;
use super::words::RequestWords;
use super::{RequestReading, Understanding};
use crate::arguments::Argument;

/// Words for what a copy was made of.
const ORIGINAL: &[&str] = &["original", "source"];
/// Words for what was made.
const COPY: &[&str] = &["copy", "duplicate", "backup", "clone"];
/// Prepositions before a place.
const INTO: &[&str] = &["in", "inside", "into", "to", "within", "under"];
/// Words that point to a place.
const THERE: &[&str] = &["it", "there", "that", "this"];

impl Understanding<'_> {
    /// Understands a request in which a noun points to a file of the call before: "delete the original",
    /// "erase the video".
    pub(super) fn resolve_nouns(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let words = &request.words;
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let resolved = (0..words.len()).find_map(|at| {
            if words[at].is_quoted || !matches!(text(at), "the" | "that" | "this") {
                return None;
            }
            let noun = text(at + 1);
            let path = self.by_role(noun, last).or_else(|| self.by_kind(noun, last))?;
            let has_one = matches!(text(at + 2), "one" | "file" | "script" | "picture");
            let end = words[at + if has_one { 2 } else { 1 }].range.end;
            Some((words[at].range.start..end, path))
        })?;
        let (range, path) = resolved;
        self.understand_replaced(request.text, range, &quote_name(&path))
    }

    /// Understands a request for a place that the call before made or showed: "put a file x in there".
    pub(super) fn resolve_place(
        &self,
        request: &RequestWords<'_>,
        last: &EarlierCall,
    ) -> Option<RequestReading> {
        let [directory] = last.files.as_slice() else { return None };
        if self.files.kind_of(directory) != Some(true) {
            return None;
        }
        let words = &request.words;
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let at = (0..words.len()).find(|at| {
            INTO.contains(&text(*at))
                && THERE.contains(&text(at + 1))
                && !words[*at].is_quoted
                && !matches!(text(at + 2), "file" | "one" | "project")
        })?;
        let range = words[at].range.start..words[at + 1].range.end;
        self.understand_replaced(request.text, range, &format!("in {}", quote_name(directory)))
    }

    fn by_role(&self, noun: &str, last: &EarlierCall) -> Option<String> {
        if !matches!(last.tool.as_str(), "fs_copy") || !last.succeeded {
            return None;
        }
        let path = if ORIGINAL.contains(&noun) {
            parse_arguments(&last.arguments).get("from").and_then(Argument::as_text)?.to_owned()
        } else if COPY.contains(&noun) {
            last.files.first()?.clone()
        } else {
            return None;
        };
        self.files.kind_of(&path).is_some().then_some(path)
    }

    /// Returns the one file of the call before that is of a kind.
    fn by_kind(&self, noun: &str, last: &EarlierCall) -> Option<String> {
        let extensions = extensions_of(noun)?;
        let shown = self.shown_files(last);
        let mut fitting = shown.iter().filter(|path| {
            path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
        });
        let first = fitting.next()?;
        fitting.next().is_none().then(|| first.clone())
    }

    /// Returns the files that a call showed; of a directory, those in it.
    fn shown_files(&self, last: &EarlierCall) -> Vec<String> {
        let within = |path: &String| match self.files.kind_of(path) {
            Some(true) => self.files.files_within(path).into_iter().map(str::to_owned).collect(),
            Some(false) => vec![path.clone()],
            None => Vec::new(),
        };
        last.files.iter().flat_map(within).collect()
    }

    /// Understands a text in which a part is replaced.
    fn understand_replaced(
        &self,
        text: &str,
        range: Range<usize>,
        by: &str,
    ) -> Option<RequestReading> {
        let resolved = format!("{}{by}{}", &text[..range.start], &text[range.end..]);
        match self.understand_alone(&RequestWords::of(&resolved)) {
            RequestReading::Open => None,
            understood => Some(understood),
        }
    }
}
