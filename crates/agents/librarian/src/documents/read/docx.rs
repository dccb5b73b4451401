//! Reads DOCX: paragraphs, headings by their styles, and tables, from the XML in the archive.
//!
//! Call this in the helper process only. The XML is parsed while it is unpacked, up to a limit, so
//! that a small archive cannot expand to gigabytes in memory.

use std::collections::HashMap;
use std::io::{BufReader, Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::document::{
    BlockKind, Document, DocumentBlock, DocumentKind, PositionSpan, PositionUnit,
};
use super::unreadable::UnreadableReason;

/// Limits the XML that is unpacked from one part of the archive.
const MAX_XML_BYTES: u64 = 64 * 1024 * 1024;

type DocxArchive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads a Word document.
pub(crate) fn read_docx(bytes: &[u8]) -> Result<Document, UnreadableReason> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(UnreadableReason::corrupt)?;
    if archive.by_name("EncryptedPackage").is_ok() {
        return Err(UnreadableReason::Encrypted);
    }
    let levels = read_heading_styles(&mut archive)?;
    let mut builder = DocumentBuilder { levels, ..DocumentBuilder::default() };
    let found =
        for_each_event(&mut archive, "word/document.xml", |event| builder.apply_event(&event))?;
    if !found {
        let format = "an archive without a Word document in it".to_owned();
        return Err(UnreadableReason::Unsupported { format });
    }
    let mut title = TitleReader::default();
    for_each_event(&mut archive, "docProps/core.xml", |event| title.apply_event(&event))?;
    let own = Some(title.text.trim().to_owned()).filter(|title| !title.is_empty());
    let title = own.or(builder.title);
    Ok(Document { title, kind: DocumentKind::Docx, blocks: builder.blocks, notes: Vec::new() })
}

/// Calls `take` for each XML event in a part of the archive. Returns false if there is no such
/// part.
fn for_each_event(
    archive: &mut DocxArchive<'_>,
    part: &str,
    mut take: impl FnMut(Event<'_>),
) -> Result<bool, UnreadableReason> {
    let file = match archive.by_name(part) {
        Ok(file) => file,
        Err(zip::result::ZipError::FileNotFound) => return Ok(false),
        Err(error) => return Err(UnreadableReason::corrupt(error)),
    };
    if file.encrypted() {
        return Err(UnreadableReason::Encrypted);
    }
    // One more than allowed, to notice that there is more.
    let mut counted = file.take(MAX_XML_BYTES + 1);
    let mut reader = Reader::from_reader(BufReader::new(&mut counted));
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(event) => take(event),
            Err(_) if reader.get_ref().get_ref().limit() == 0 => break,
            Err(error) => return Err(UnreadableReason::corrupt(format!("{part}: {error}"))),
        }
    }
    if counted.limit() == 0 {
        return Err(UnreadableReason::Exhausted {
            limit: format!("{MAX_XML_BYTES} bytes unpacked"),
        });
    }
    Ok(true)
}

/// Returns the level of each style that is a heading; 0 is the title.
fn read_heading_styles(
    archive: &mut DocxArchive<'_>,
) -> Result<HashMap<String, u8>, UnreadableReason> {
    let mut levels = HashMap::new();
    let mut current = String::new();
    for_each_event(archive, "word/styles.xml", |event| {
        let (Event::Start(tag) | Event::Empty(tag)) = &event else { return };
        let level = match local_name(tag).as_str() {
            "style" => {
                current = find_attribute(tag, "styleId").unwrap_or_default();
                None
            }
            "name" => find_attribute(tag, "val").and_then(|name| heading_level_of_name(&name)),
            "outlineLvl" => {
                find_attribute(tag, "val").and_then(|level| heading_level_of_outline(&level))
            }
            _ => None,
        };
        if let Some(level) = level {
            levels.entry(current.clone()).or_insert(level);
        }
    })?;
    Ok(levels)
}

fn heading_level_of_name(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(0);
    }
    let level: u8 = name.strip_prefix("heading")?.trim().parse().ok()?;
    (1..=8).contains(&level).then_some(level)
}

/// Converts an outline level, which counts from 0; 9 is body text.
fn heading_level_of_outline(level: &str) -> Option<u8> {
    level.parse().ok().filter(|level: &u8| *level < 8).map(|level| level + 1)
}

#[derive(Default)]
struct DocumentBuilder {
    levels: HashMap<String, u8>,
    title: Option<String>,
    blocks: Vec<DocumentBlock>,
    /// The number of paragraphs so far, including the current one.
    paragraphs: u32,
    text: String,
    in_text: bool,
    level: Option<u8>,
    is_item: bool,
    /// The rows of the current outermost table.
    table: Vec<(u32, Vec<String>)>,
    tables: usize,
    /// The nesting depth in fallback content, which repeats text for older programs.
    fallback: usize,
}

impl DocumentBuilder {
    fn apply_event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.start_element(tag),
            Event::Empty(tag) => {
                self.start_element(tag);
                self.end_element(&local_name(tag));
            }
            Event::End(tag) => self.end_element(tag.local_name().as_ref()),
            Event::Text(words) if self.in_text && self.fallback == 0 => {
                self.text.push_str(&words.xml10_content());
            }
            Event::GeneralRef(reference) if self.in_text && self.fallback == 0 => {
                self.text.push_str(&resolve_reference(reference));
            }
            _ => {}
        }
    }

    fn start_element(&mut self, tag: &BytesStart<'_>) {
        let name = local_name(tag);
        if name == "Fallback" {
            self.fallback += 1;
        }
        if self.fallback > 0 {
            return;
        }
        match name.as_str() {
            "p" => {
                self.paragraphs = self.paragraphs.saturating_add(1);
                (self.level, self.is_item) = (None, false);
                // A paragraph in a text box is nested in another one.
                self.finish_text();
            }
            "pStyle" => {
                let style = find_attribute(tag, "val").unwrap_or_default();
                self.level = self.levels.get(&style).copied().or(self.level);
                self.is_item |= style.starts_with("List");
            }
            "outlineLvl" => {
                let level =
                    find_attribute(tag, "val").and_then(|level| heading_level_of_outline(&level));
                self.level = level.or(self.level);
            }
            "numPr" => self.is_item = true,
            "t" => self.in_text = true,
            "tab" if !self.text.is_empty() => self.text.push('\t'),
            "br" | "cr" if !self.text.is_empty() => self.text.push('\n'),
            "tbl" => self.tables += 1,
            "tr" if self.tables == 1 => self.table.push((self.paragraphs + 1, Vec::new())),
            "tc" if self.tables == 1 => {
                if let Some((_, row)) = self.table.last_mut() {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn end_element(&mut self, name: &str) {
        if name == "Fallback" {
            self.fallback = self.fallback.saturating_sub(1);
            return;
        }
        if self.fallback > 0 {
            return;
        }
        match name {
            "t" => self.in_text = false,
            "p" => self.finish_text(),
            "tbl" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.finish_table();
                }
            }
            _ => {}
        }
    }

    fn finish_text(&mut self) {
        let text = std::mem::take(&mut self.text).trim().to_owned();
        if text.is_empty() {
            return;
        }
        let cell = self.table.last_mut().and_then(|(_, row)| row.last_mut());
        if let Some(cell) = cell.filter(|_| self.tables > 0) {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&text.replace('\n', " "));
            return;
        }
        let span = PositionSpan::single(PositionUnit::Paragraph, self.paragraphs);
        let (kind, text) = match self.level {
            Some(level) => {
                if level == 0 {
                    self.title.get_or_insert_with(|| text.clone());
                }
                // The title is above every heading.
                (BlockKind::Heading(level + 1), text)
            }
            None if self.is_item => (BlockKind::List, format!("- {text}")),
            None => (BlockKind::Paragraph, text),
        };
        self.blocks.push(DocumentBlock { kind, text, span });
    }

    fn finish_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        let first = rows.first().map_or(self.paragraphs, |(first, _)| *first);
        let used = rows.iter().filter(|(_, row)| row.iter().any(|cell| !cell.is_empty()));
        let lines: Vec<String> = used.map(|(_, row)| row.join(" | ")).collect();
        if lines.is_empty() {
            return;
        }
        let span =
            PositionSpan { unit: PositionUnit::Paragraph, first, last: self.paragraphs.max(first) };
        self.blocks.push(DocumentBlock { kind: BlockKind::Table, text: lines.join("\n"), span });
    }
}

#[derive(Default)]
struct TitleReader {
    text: String,
    inside: bool,
}

impl TitleReader {
    fn apply_event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.inside = local_name(tag) == "title",
            Event::End(_) => self.inside = false,
            Event::Text(words) if self.inside => self.text.push_str(&words.xml10_content()),
            Event::GeneralRef(reference) if self.inside => {
                self.text.push_str(&resolve_reference(reference));
            }
            _ => {}
        }
    }
}

fn local_name(tag: &BytesStart<'_>) -> String {
    let name: &str = tag.local_name().into_inner();
    name.to_owned()
}

fn find_attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|one| one.key.local_name().as_ref() == name)?;
    Some(found.value.into_owned())
}

/// Returns the text of a character reference. Documents define no entities of their own.
fn resolve_reference(reference: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name: &str = reference;
    match name {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        _ => String::new(),
    }
}
