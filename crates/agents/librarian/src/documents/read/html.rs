//! Reads web pages: the text that a person would read, without scripts, styles and navigation.
//!
//! The page is read as a stream of tags, so that one nested a million deep costs no more than a
//! flat one.

use html5gum::{DefaultEmitter, Token, Tokenizer};
use lango_text::to_single_spaced;

use super::document::{BlockKind, DocumentBlock, PositionSpan, PositionUnit, saturating_count};

/// Lists elements that are never read.
const SKIPPED_ELEMENTS: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select",
    "button", "textarea", "dialog",
];

/// Lists elements around the text of a page.
const NAVIGATION_ELEMENTS: &[&str] = &["nav", "footer", "aside", "menu"];

/// Lists elements without an end tag.
const VOID_ELEMENTS: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Lists elements within a line.
const INLINE_ELEMENTS: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "input", "ins", "kbd", "label", "mark", "q", "ruby", "rt", "rp", "s", "samp", "small", "span",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// Sets how much text the main part of a page must have to stand for the whole page.
const MIN_MAIN_BYTES: usize = 200;

/// Returns the title and the blocks of a page.
pub(crate) fn read_html(page: &str) -> (Option<String>, Vec<DocumentBlock>) {
    let read = PageBuilder::from_page(page, true);
    // The whole text may be in the navigation, perhaps because that was never closed.
    let read = if read.blocks.is_empty() { PageBuilder::from_page(page, false) } else { read };
    let PageBuilder { title, blocks, .. } = read;
    let main: usize =
        blocks.iter().filter(|(main, _)| *main).map(|(_, block)| block.text.len()).sum();
    let chosen = blocks.into_iter().filter(|(is_main, _)| main < MIN_MAIN_BYTES || *is_main);
    let mut blocks: Vec<DocumentBlock> = chosen.map(|(_, block)| block).collect();
    for (block, number) in blocks.iter_mut().zip(1..) {
        block.span = PositionSpan::single(PositionUnit::Paragraph, number);
    }
    let heading = || blocks.iter().find(|block| block.kind == BlockKind::Heading(1));
    let title = Some(to_single_spaced(&title)).filter(|title| !title.is_empty());
    let title = title.or_else(|| heading().map(|block| block.text.clone()));
    (title, blocks)
}

/// Returns the encoding that a page names in its first bytes.
pub(crate) fn find_charset(page: &[u8]) -> Option<String> {
    let start = page.get(..1_024).unwrap_or(page).to_ascii_lowercase();
    let text = String::from_utf8_lossy(&start).into_owned();
    let (_, after) = text.split_once("charset=")?;
    let name = after.trim_start_matches(['"', '\'', ' ']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | ':'));
    Some(name[..end.unwrap_or(name.len())].to_owned()).filter(|name| !name.is_empty())
}

#[derive(Default)]
struct PageBuilder {
    title: String,
    /// The blocks, each with true if it is in the main part.
    blocks: Vec<(bool, DocumentBlock)>,
    text: String,
    in_title: bool,
    heading: Option<u8>,
    preformatted: usize,
    items: usize,
    main: usize,
    /// The rows of the current table; none outside of tables.
    rows: Option<Vec<Vec<String>>>,
    /// The element that is skipped, and how many of its name are open.
    skipped: Option<(Vec<u8>, usize)>,
    skip_navigation: bool,
}

impl PageBuilder {
    fn from_page(page: &str, skip_navigation: bool) -> Self {
        let mut page_builder = Self { skip_navigation, ..Self::default() };
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(page, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    let leaves = tag.attributes.iter().any(|(name, value)| {
                        let value: &[u8] = &value.value;
                        match name.as_slice() {
                            b"hidden" => true,
                            b"aria-hidden" => value == b"true",
                            b"role" => skip_navigation && value == b"navigation",
                            _ => false,
                        }
                    });
                    page_builder.start_element(&tag.name, leaves && !tag.self_closing);
                }
                Token::EndTag(tag) => page_builder.end_element(&tag.name),
                Token::String(words) => {
                    page_builder.add_words(&String::from_utf8_lossy(&words.value));
                }
                _ => {}
            }
        }
        page_builder.flush_block();
        page_builder.close_table();
        page_builder
    }

    fn start_element(&mut self, name: &[u8], hidden: bool) {
        if let Some((skipped, depth)) = &mut self.skipped {
            *depth += usize::from(skipped == name);
            return;
        }
        let Ok(name) = str::from_utf8(name) else { return };
        let around = self.skip_navigation && NAVIGATION_ELEMENTS.contains(&name);
        // A page may hide its body until a script has run.
        let hidden = hidden && !matches!(name, "body" | "html" | "main");
        if !VOID_ELEMENTS.contains(&name) && (hidden || around || SKIPPED_ELEMENTS.contains(&name))
        {
            self.skipped = Some((name.as_bytes().to_vec(), 1));
            return;
        }
        if INLINE_ELEMENTS.contains(&name) {
            return;
        }
        if let Some(level) = heading_level(name) {
            // A table with headings in it is only used for layout.
            self.flush_block();
            self.close_table();
            self.heading = Some(level);
            return;
        }
        match name {
            "title" => self.in_title = true,
            "br" if self.rows.is_none() => self.text.push('\n'),
            "table" => {
                self.flush_block();
                self.close_table();
                self.rows = Some(Vec::new());
            }
            "tr" | "td" | "th" if self.rows.is_some() => {
                self.flush_block();
                let rows = self.rows.get_or_insert_default();
                if name == "tr" || rows.is_empty() {
                    rows.push(Vec::new());
                }
                if let Some(row) = rows.last_mut().filter(|_| name != "tr") {
                    row.push(String::new());
                }
            }
            _ => {
                self.flush_block();
                match name {
                    "pre" => self.preformatted += 1,
                    "li" | "dt" | "dd" => self.items += 1,
                    "main" | "article" => self.main += 1,
                    _ => {}
                }
            }
        }
    }

    fn end_element(&mut self, name: &[u8]) {
        if let Some((skipped, depth)) = &mut self.skipped {
            *depth -= usize::from(skipped == name);
            if *depth == 0 {
                self.skipped = None;
            }
            return;
        }
        let Ok(name) = str::from_utf8(name) else { return };
        if INLINE_ELEMENTS.contains(&name) {
            return;
        }
        if name == "title" {
            self.in_title = false;
            return;
        }
        self.flush_block();
        match name {
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "li" | "dt" | "dd" => self.items = self.items.saturating_sub(1),
            "main" | "article" => self.main = self.main.saturating_sub(1),
            "table" => self.close_table(),
            _ => {}
        }
        if heading_level(name).is_some() {
            self.heading = None;
        }
    }

    fn add_words(&mut self, words: &str) {
        if self.skipped.is_some() {
            return;
        }
        if self.in_title {
            self.title.push_str(words);
        } else {
            self.text.push_str(words);
        }
    }

    fn flush_block(&mut self) {
        let text = std::mem::take(&mut self.text);
        if self.preformatted > 0 {
            let text = text.trim_matches(['\n', '\r']).trim_end();
            if !text.trim().is_empty() {
                self.push_block(BlockKind::Code, text.to_owned());
            }
            return;
        }
        let lines: Vec<String> =
            text.split('\n').map(to_single_spaced).filter(|line| !line.is_empty()).collect();
        // A line break is meant by the author only if it is a `br`, which cannot be told from the
        // end of a source line here; both read well as a space.
        let text = lines.join(" ");
        if text.is_empty() {
            return;
        }
        if let Some(cell) = self.rows.as_mut().and_then(|rows| rows.last_mut()?.last_mut()) {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&text);
            return;
        }
        match self.heading {
            Some(level) => self.push_block(BlockKind::Heading(level), text),
            None if self.items > 0 => self.push_block(BlockKind::List, format!("- {text}")),
            None => self.push_block(BlockKind::Paragraph, text),
        }
    }

    fn close_table(&mut self) {
        let Some(rows) = self.rows.take() else { return };
        let line = |row: &Vec<String>| row.join(" | ");
        let used = rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty()));
        let lines: Vec<String> = used.map(line).collect();
        if !lines.is_empty() {
            self.push_block(BlockKind::Table, lines.join("\n"));
        }
    }

    fn push_block(&mut self, kind: BlockKind, text: String) {
        let span =
            PositionSpan::single(PositionUnit::Paragraph, saturating_count(self.blocks.len() + 1));
        self.blocks.push((self.main > 0, DocumentBlock { kind, text, span }));
    }
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(page: &str) -> Vec<(BlockKind, String)> {
        read_html(page).1.into_iter().map(|block| (block.kind, block.text)).collect()
    }

    #[test]
    fn the_text_of_a_page_is_read_and_what_is_around_it_is_not() {
        let page = "<!doctype html><html><head><title> A &amp; B </title><style>p{}</style></head>\
            <body><nav><ul><li>Home<li>About</ul></nav><h1>Lamps</h1><p>First <b>bold</b>\n word.<br>Next.\
            <script>if (a < b) { '</p>' }</script></p><ul><li>one<li>two</ul>\
            <pre><code>a\n  b</code></pre><table><tr><th>x<th>y<tr><td>1<td>2</table>\
            <div hidden>secret</div><footer>(c)</footer></body></html>";
        assert_eq!(read_html(page).0.as_deref(), Some("A & B"));
        assert_eq!(
            shown(page),
            [
                (BlockKind::Heading(1), "Lamps".to_owned()),
                (BlockKind::Paragraph, "First bold word. Next.".to_owned()),
                (BlockKind::List, "- one".to_owned()),
                (BlockKind::List, "- two".to_owned()),
                (BlockKind::Code, "a\n  b".to_owned()),
                (BlockKind::Table, "x | y\n1 | 2".to_owned()),
            ]
        );
    }

    #[test]
    fn a_main_part_stands_for_the_page_if_it_is_long_enough() {
        let long = "word ".repeat(60);
        let page = format!("<p>teaser</p><main><p>{long}</p></main><div>ads</div>");
        assert_eq!(shown(&page).len(), 1);
        assert_eq!(shown("<p>teaser</p><main><p>short</p></main>").len(), 2);
    }

    #[test]
    fn a_page_that_is_all_navigation_is_read_whole() {
        assert_eq!(shown("<nav><p>only this"), [(BlockKind::Paragraph, "only this".to_owned())]);
    }

    #[test]
    fn a_table_for_looks_keeps_its_headings() {
        let page = "<table><tr><td><h2>Title</h2><p>text</td></tr></table>";
        assert_eq!(
            shown(page),
            [
                (BlockKind::Heading(2), "Title".to_owned()),
                (BlockKind::Paragraph, "text".to_owned())
            ]
        );
    }

    #[test]
    fn depth_costs_nothing() {
        let page = format!("{}deep{}", "<div>".repeat(30_000), "</div>".repeat(30_000));
        assert_eq!(shown(&page), [(BlockKind::Paragraph, "deep".to_owned())]);
    }

    #[test]
    fn the_encoding_of_a_page_is_found() {
        assert_eq!(find_charset(b"<meta charset=\"Shift_JIS\">").as_deref(), Some("shift_jis"));
        let old = b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>";
        assert_eq!(find_charset(old).as_deref(), Some("koi8-r"));
        assert_eq!(find_charset(b"<p>"), None);
    }
}
