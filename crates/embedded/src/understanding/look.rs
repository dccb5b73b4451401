//! Makes the calls that only look: files, directories, and texts in them.

pub(super) use lango_phrases::mentions::is_here;

use super::file_names::{FoundEntry, WantedEntry};
use super::lines::{LineRange, find_lines};
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{
    Completion, PlannedCall, Question, RequestReading, Understanding, ask, ask_for, list_names,
};
use crate::arguments::Argument;

/// Limits the files whose text is looked at to see whether they have what is searched for.
const MAX_LOOKED_AT_FILES: usize = 400;

impl Understanding<'_> {
    /// Returns the text that the encoder takes for an argument.
    pub(super) fn span_text(
        &self,
        tool: &str,
        name: &str,
        request: &RequestWords<'_>,
    ) -> Option<String> {
        self.spans(tool, request).get(name).and_then(Argument::as_text).map(str::to_owned)
    }

    pub(super) fn read_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let mention = self.span_text("fs_read", "path", request);
        match self.find_one_file(mention.as_deref(), request) {
            Ok(path) => RequestReading::call(with_lines(
                PlannedCall::new("fs_read").text("path", path),
                request,
            )),
            Err(understood) => understood,
        }
    }

    /// Returns the one file that a request is about, or what to do instead.
    fn find_one_file(
        &self,
        mention: Option<&str>,
        request: &RequestWords<'_>,
    ) -> Result<String, RequestReading> {
        if let Some(mention) = mention.map(strip_filler) {
            match self.files.find(mention, WantedEntry::File) {
                FoundEntry::One(path) => return Ok(path),
                FoundEntry::Several(paths) => {
                    return Err(ask_which_to(PlannedCall::new("fs_read"), "path", paths));
                }
                FoundEntry::Nothing(near) => {
                    if let FoundEntry::One(directory) =
                        self.files.find(mention, WantedEntry::Directory)
                    {
                        return Err(RequestReading::call(
                            PlannedCall::new("fs_list").text("path", directory),
                        ));
                    }
                    if let [path] = self.mentioned_files(request).as_slice()
                        && self.files.kind_of(path) == Some(false)
                    {
                        return Ok(path.clone());
                    }
                    return Err(ask_for_file(Some(mention), &near));
                }
            }
        }
        match self.mentioned_files(request).as_slice() {
            [path] if self.files.kind_of(path) == Some(true) => {
                Err(RequestReading::call(PlannedCall::new("fs_list").text("path", path.clone())))
            }
            [path] => Ok(path.clone()),
            [] if self.last_file().is_some() => Ok(self.last_file().unwrap_or_default()),
            [] => Err(ask_for(
                "Which file do you mean?",
                Completion::File {
                    call: PlannedCall::new("fs_read"),
                    name: "path",
                    candidates: Vec::new(),
                },
            )),
            several => Err(ask_which_to(PlannedCall::new("fs_read"), "path", several.to_vec())),
        }
    }

    pub(super) fn list_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let mention = self.span_text("fs_list", "path", request);
        let mention = mention.as_deref().map(strip_filler).filter(|mention| !is_here(mention));
        let list =
            |path: &str| RequestReading::call(PlannedCall::new("fs_list").text("path", path));
        let Some(mention) = mention else {
            if let Some(path) = self.file_called_list(request) {
                return RequestReading::call(with_lines(
                    PlannedCall::new("fs_read").text("path", path),
                    request,
                ));
            }
            let mentioned = self.mentioned_files(request);
            let directory = mentioned.iter().find(|path| self.files.kind_of(path) == Some(true));
            return list(directory.map_or(".", String::as_str));
        };
        match self.files.find(mention, WantedEntry::Directory) {
            FoundEntry::One(path) => list(&path),
            FoundEntry::Several(paths) => ask_which(&paths),
            FoundEntry::Nothing(near) => match self.files.find(mention, WantedEntry::File) {
                FoundEntry::One(path) => RequestReading::call(with_lines(
                    PlannedCall::new("fs_read").text("path", path),
                    request,
                )),
                _ => ask_for_file(Some(mention), &near),
            },
        }
    }

    /// Returns the file that "the to do list" means.
    fn file_called_list(&self, request: &RequestWords<'_>) -> Option<String> {
        let words = &request.words;
        let at = words.iter().rposition(|word| word.text == "list").filter(|at| *at > 0)?;
        (at.saturating_sub(2)..at).find_map(|first| {
            let part = &request.text[words[first].range.start..words[at].range.end];
            match self.files.find(part, WantedEntry::File) {
                FoundEntry::One(path) if !part.contains("file") => Some(path),
                _ => None,
            }
        })
    }

    pub(super) fn stat_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let mention = self.span_text("fs_stat", "path", request);
        let mentioned = self.mentioned_files(request);
        // "Is the guide longer than the FAQ?"
        if mentioned.len() > 1 {
            let calls =
                mentioned.into_iter().map(|path| PlannedCall::new("fs_stat").text("path", path));
            return RequestReading::Calls(calls.collect());
        }
        let found = match mention.as_deref().map(strip_filler) {
            Some(mention) => match self.files.find(mention, WantedEntry::Any) {
                FoundEntry::One(path) => Ok(path),
                FoundEntry::Several(paths) => Err(ask_which(&paths)),
                FoundEntry::Nothing(near) => {
                    mentioned.first().cloned().ok_or_else(|| ask_for_file(Some(mention), &near))
                }
            },
            None => mentioned.first().cloned().ok_or_else(|| ask_for_file(None, &[])),
        };
        match found {
            Ok(path) if request.has_any(&["words", "word"]) && self.has_tool("exec_shell") => {
                RequestReading::call(
                    PlannedCall::new("exec_shell")
                        .text("command", format!("wc -w {}", quote_for_shell(&path))),
                )
            }
            Ok(path) => RequestReading::call(PlannedCall::new("fs_stat").text("path", path)),
            Err(understood) => understood,
        }
    }

    /// Shows the lines in which two files differ: "diff a.txt against b.txt".
    pub(super) fn compare_contents(&self, request: &RequestWords<'_>) -> Option<RequestReading> {
        let compares = request.has_any(&["diff", "differ", "difference", "differences"])
            || request.has_phrase(&[
                "changed between",
                "changes between",
                "what's different",
                "is different",
            ]);
        if !compares || !self.has_tool("exec_shell") {
            return None;
        }
        let mut files = self.mentioned_files(request);
        files.retain(|path| self.files.kind_of(path) == Some(false));
        let [one, other] = files.as_slice() else { return None };
        let command = format!("diff -u {} {}", quote_for_shell(one), quote_for_shell(other));
        Some(RequestReading::call(PlannedCall::new("exec_shell").text("command", command)))
    }

    pub(super) fn search_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let spans = self.spans("fs_search", request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text);
        let pattern = text("pattern").map(strip_filler).map(str::to_owned);
        let is_place = |path: &&str| {
            !is_here(path)
                && super::find::type_in(&RequestWords::of(path)).is_none()
                && pattern.as_deref().is_none_or(|pattern| !pattern.eq_ignore_ascii_case(path))
        };
        let place = match text("path").map(strip_filler).filter(is_place) {
            Some(mention) => match self.files.find(mention, WantedEntry::Any) {
                FoundEntry::One(path) => Some(path),
                _ => None,
            },
            None => None,
        };
        let place = place.or_else(|| {
            let unquoted = self.mentioned_files(request);
            // "which files have a TODO in them" is not about todo.txt.
            let is_pattern = |path: &String| {
                let stem = super::spelling::strip_extension(super::change::base_name(path));
                pattern.as_deref().is_some_and(|pattern| {
                    pattern.eq_ignore_ascii_case(path) || pattern.eq_ignore_ascii_case(stem)
                })
            };
            match unquoted.as_slice() {
                [path] if !is_pattern(path) => Some(path.clone()),
                _ => None,
            }
        });
        let extensions = super::find::type_in(request);
        let found =
            pattern.as_deref().and_then(|pattern| self.words_that_occur(pattern, place.as_deref()));
        // The name of a column is not the row that is asked for.
        let found = found.filter(|found| {
            !place.as_deref().is_some_and(|path| self.is_only_in_header(found, path, request))
        });
        let pattern = match (found, &place, &pattern) {
            (Some(found), _, _) => found,
            // What is asked for is not there in these words: the words of the question that are.
            (None, Some(path), _) if self.files.kind_of(path) == Some(false) => {
                match self.best_words(request, path) {
                    Some(found) => found,
                    None if pattern.is_none() => {
                        return RequestReading::call(
                            PlannedCall::new("fs_read").text("path", path.clone()),
                        );
                    }
                    None => pattern.clone().unwrap_or_default(),
                }
            }
            (None, None, Some(pattern)) => match self.find_named_after(pattern) {
                Some(call) => return RequestReading::call(call),
                None => pattern.clone(),
            },
            (None, _, Some(pattern)) => pattern.clone(),
            (None, _, None) => return ask("Which words should I look for?".to_owned()),
        };
        let mut call = PlannedCall::new("fs_search").text("pattern", escape_pattern(&pattern));
        if let Some(path) = &place {
            call = call.text("path", path.clone());
        }
        let typed_glob = request.unquoted().find(|word| word.starts_with("*."));
        if let Some(extensions) = extensions {
            call = call.text("glob", super::find::glob_of(&extensions));
        } else if let Some(glob) = typed_glob {
            call = call.text("glob", glob);
        }
        if self.occurs_in_other_case(&pattern, place.as_deref()) {
            call = call.with("ignore_case", Argument::Boolean(true));
        }
        if request.has_phrase(&["how many", "how often", "number of", "count of"])
            || request.has_any(&["count"])
        {
            call = call.with("count", Argument::Boolean(true));
        }
        if request.has_phrase(&[
            "have no",
            "has no",
            "without any",
            "don't have",
            "dont have",
            "do not have",
            "no mention",
            "lack",
        ]) || request.has_any(&["lacking", "without"])
        {
            call = call.with("files_without", Argument::Boolean(true));
        }
        RequestReading::call(call)
    }

    /// Tells whether words are only in the first line of a table, and another word of the request is the name
    /// of a row.
    fn is_only_in_header(&self, found: &str, path: &str, request: &RequestWords<'_>) -> bool {
        if !is_table(path) {
            return false;
        }
        let Some(text) = self.files.read_text(path).map(|text| text.to_lowercase()) else {
            return false;
        };
        let mut lines = text.lines();
        let wanted = found.to_lowercase();
        let is_header = lines.next().is_some_and(|line| line.contains(&wanted));
        let mut rows = lines.clone().filter_map(|line| line.split(',').next());
        is_header
            && !lines.any(|line| line.contains(&wanted))
            && rows.any(|row| {
                request.unquoted().any(|word| word.len() > 2 && word.starts_with(row.trim()))
            })
    }

    /// Finds the file that has the searched words in its name, where no text has them: "the document about
    /// Mr. Miller".
    fn find_named_after(&self, pattern: &str) -> Option<PlannedCall> {
        const TITLES: [&str; 6] = ["mr", "mrs", "ms", "dr", "prof", "sir"];
        let words: Vec<&str> = pattern
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !TITLES.contains(&word.to_lowercase().as_str()))
            .collect();
        let name = words.join(" ");
        let path = match self.files.find(&name, WantedEntry::File) {
            FoundEntry::One(path) if self.has_tool("fs_find") && !name.is_empty() => path,
            _ => return None,
        };
        let base = super::change::base_name(&path).to_owned();
        let is_named = words.iter().any(|word| base.to_lowercase().contains(&word.to_lowercase()));
        is_named.then(|| PlannedCall::new("fs_find").text("glob", base))
    }

    /// Returns the searched words as they occur where they are searched: as they are, in other
    /// letters, or in the singular.
    pub(super) fn words_that_occur(&self, pattern: &str, place: Option<&str>) -> Option<String> {
        let texts = self.texts_at(place);
        let lower: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        let occurs =
            |words: &str| !words.is_empty() && lower.iter().any(|text| text.contains(words));
        let wanted = pattern.to_lowercase();
        if occurs(&wanted) {
            return Some(pattern.to_owned());
        }
        for ending in ["s", "es", "ed", "ing"] {
            if let Some(stem) = wanted.strip_suffix(ending)
                && stem.len() > 2
                && occurs(stem)
            {
                return Some(stem.to_owned());
            }
        }
        None
    }

    /// Tells whether some occurrences of a pattern are in other letters than it.
    fn occurs_in_other_case(&self, pattern: &str, place: Option<&str>) -> bool {
        let lower = pattern.to_lowercase();
        self.texts_at(place)
            .iter()
            .any(|text| text.to_lowercase().matches(&lower).count() > text.matches(pattern).count())
    }

    /// Returns the texts of the files at a place.
    fn texts_at(&self, place: Option<&str>) -> Vec<String> {
        let paths = match place {
            Some(path) if self.files.kind_of(path) == Some(false) => vec![path],
            Some(directory) => self.files.files_within(directory),
            None => self.files.files_within("."),
        };
        paths
            .into_iter()
            .take(MAX_LOOKED_AT_FILES)
            .filter_map(|path| self.files.read_text(path))
            .collect()
    }

    /// Returns the word of a question that singles out the line of a file which answers it best.
    pub(super) fn best_words(&self, request: &RequestWords<'_>, path: &str) -> Option<String> {
        let text = self.files.read_text(path)?;
        let name = path.to_lowercase();
        // "May" is also a month.
        let is_row = |word: &str| {
            is_table(path)
                && text.lines().any(|line| {
                    line.split(',')
                        .next()
                        .is_some_and(|cell| cell.trim().eq_ignore_ascii_case(word))
                })
        };
        let words: Vec<String> = request
            .words
            .iter()
            .map(|word| word.text.trim_matches(['"', '\'']).to_owned())
            .filter(|word| {
                word.chars().count() > 2
                    && (!lango_text::is_stop_word(word) || is_row(word))
                    && !name.contains(word.as_str())
            })
            .collect();
        let forms = |word: &str| -> Vec<String> {
            let mut forms = vec![word.to_owned()];
            // Months and days are often abbreviated, and words have endings.
            if word.chars().count() > 3 {
                forms.push(word.chars().take(3).collect());
            }
            forms.push(lango_text::stem_word(word));
            forms
        };
        // The first line of a table names its columns.
        let skipped = usize::from(is_table(path));
        let lines: Vec<String> = text.lines().skip(skipped).map(str::to_lowercase).collect();
        let has = |line: &str, form: &str| {
            line.split(|c: char| !c.is_alphanumeric())
                .any(|own| own == form || form.len() > 3 && own.starts_with(form))
        };
        let mut best: Option<(usize, String)> = None;
        for word in &words {
            for form in forms(word) {
                let count = lines.iter().filter(|line| has(line, &form)).count();
                if count > 0 && best.as_ref().is_none_or(|(least, _)| count < *least) {
                    best = Some((count, form));
                }
            }
        }
        best.map(|(_, form)| form)
    }
}

/// Adds the lines that a request names.
fn with_lines(call: PlannedCall, request: &RequestWords<'_>) -> PlannedCall {
    match find_lines(request) {
        Some(LineRange::First(count)) => call.with("limit", Argument::Integer(count)),
        Some(LineRange::Last(count)) => call.with("last", Argument::Integer(count)),
        Some(LineRange::Between(from, to)) => call
            .with("offset", Argument::Integer(from))
            .with("limit", Argument::Integer(to - from + 1)),
        Some(LineRange::From(from)) => call.with("offset", Argument::Integer(from)),
        None => call,
    }
}

/// Tells whether the first line of a file names columns.
fn is_table(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("csv"))
}

pub(super) fn ask_which(paths: &[String]) -> RequestReading {
    ask(format!("Which one do you mean?\n{}", list_names(paths)))
}

/// Asks which of several files a call is about.
fn ask_which_to(call: PlannedCall, name: &'static str, candidates: Vec<String>) -> RequestReading {
    let text = format!("Which one do you mean?\n{}", list_names(&candidates));
    ask_for(text, Completion::File { call, name, candidates })
}

pub(super) fn ask_for_file(mention: Option<&str>, near: &[String]) -> RequestReading {
    let text = match (mention, near) {
        (Some(mention), []) => {
            format!("I find no file called “{mention}” here. Which file do you mean?")
        }
        (Some(mention), near) => format!(
            "I find no file called “{mention}” here. The nearest are:\n{}\nWhich one do you mean?",
            list_names(near)
        ),
        (None, _) => "Which file do you mean?".to_owned(),
    };
    match mention {
        Some(mention) => RequestReading::Ask(Question::about_name(text, mention)),
        None => ask(text),
    }
}

/// Quotes a path for a shell.
pub(super) fn quote_for_shell(path: &str) -> String {
    let is_plain =
        path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-'));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Returns a text as a pattern that matches it literally.
pub(super) fn escape_pattern(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        // A dot matches itself, and next to nothing else in names and numbers.
        if "\\+*?()|[]{}^$".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
