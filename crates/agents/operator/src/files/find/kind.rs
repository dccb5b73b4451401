//! Says of files by their names what they are.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::EntryKind;

// No description: a model knows from the values what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FindKind {
    Any,
    File,
    Directory,
    Image,
    Video,
    Audio,
    Document,
    Text,
    Code,
    Archive,
}

const IMAGES: &[&str] = &[
    "avif", "bmp", "cr2", "dng", "gif", "heic", "heif", "ico", "jpeg", "jpg", "jxl", "nef", "png",
    "psd", "raw", "svg", "tif", "tiff", "webp", "xcf",
];
const VIDEOS: &[&str] =
    &["3gp", "avi", "flv", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "ogv", "webm", "wmv"];
const AUDIO: &[&str] = &[
    "aac", "aif", "aiff", "amr", "flac", "m4a", "m4b", "mid", "midi", "mp3", "oga", "ogg", "opus",
    "wav", "wma",
];
const DOCUMENTS: &[&str] = &[
    "djvu", "doc", "docm", "docx", "epub", "key", "md", "mobi", "numbers", "odp", "ods", "odt",
    "pages", "pdf", "ppt", "pptx", "ps", "rtf", "tex", "txt", "xls", "xlsm", "xlsx",
];
const TEXTS: &[&str] = &[
    "adoc", "cfg", "conf", "csv", "ini", "json", "jsonl", "log", "markdown", "md", "org", "rst",
    "tex", "text", "toml", "tsv", "txt", "xml", "yaml", "yml",
];
const CODE: &[&str] = &[
    "asm", "bash", "bat", "c", "cc", "clj", "cpp", "cs", "css", "cxx", "dart", "el", "erl", "ex",
    "exs", "fs", "go", "h", "hpp", "hs", "html", "ipynb", "java", "jl", "js", "jsx", "kt", "kts",
    "lua", "m", "ml", "mm", "nim", "php", "pl", "ps1", "py", "r", "rb", "rs", "s", "scala", "scss",
    "sh", "sql", "svelte", "swift", "tcl", "ts", "tsx", "vb", "vue", "zig", "zsh",
];
const ARCHIVES: &[&str] = &[
    "7z", "ar", "bz2", "cab", "deb", "dmg", "gz", "iso", "jar", "lz4", "lzma", "rar", "rpm", "tar",
    "tbz", "tgz", "txz", "xz", "zip", "zst",
];

impl FindKind {
    /// Tells whether an entry is of this kind. Files are told apart by their extensions.
    pub(super) fn includes(self, kind: EntryKind, path: &Path) -> bool {
        let extensions = match self {
            Self::Any => return true,
            Self::Directory => return kind == EntryKind::Directory,
            Self::File => return kind == EntryKind::File,
            Self::Image => IMAGES,
            Self::Video => VIDEOS,
            Self::Audio => AUDIO,
            Self::Document => DOCUMENTS,
            Self::Text => TEXTS,
            Self::Code => CODE,
            Self::Archive => ARCHIVES,
        };
        let extension = path.extension().map(|name| name.to_string_lossy().to_ascii_lowercase());
        kind == EntryKind::File && extension.is_some_and(|name| extensions.contains(&name.as_str()))
    }

    /// Returns the word for one and for several of them.
    pub(super) fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Any => ("entry", "entries"),
            Self::File => ("file", "files"),
            Self::Directory => ("directory", "directories"),
            Self::Image => ("image", "images"),
            Self::Video => ("video", "videos"),
            Self::Audio => ("audio file", "audio files"),
            Self::Document => ("document", "documents"),
            Self::Text => ("text file", "text files"),
            Self::Code => ("source file", "source files"),
            Self::Archive => ("archive", "archives"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_extensions() {
        let is = |kind: FindKind, name: &str| kind.includes(EntryKind::File, Path::new(name));
        assert!(is(FindKind::Image, "a/Photo.JPG") && !is(FindKind::Image, "jpg"));
        assert!(is(FindKind::Document, "x.pdf") && is(FindKind::Text, "notes.txt"));
        assert!(is(FindKind::Code, "main.rs") && is(FindKind::Archive, "a.tar.gz"));
        assert!(is(FindKind::File, "Makefile") && is(FindKind::Any, "Makefile"));
        assert!(!is(FindKind::Directory, "x"));
        let directory = EntryKind::Directory;
        assert!(FindKind::Directory.includes(directory, Path::new("x")));
        assert!(!FindKind::Image.includes(directory, Path::new("x.png")));
    }

    #[test]
    fn every_list_of_extensions_is_in_order_and_in_lower_case() {
        for list in [IMAGES, VIDEOS, AUDIO, DOCUMENTS, TEXTS, CODE, ARCHIVES] {
            assert!(list.is_sorted() && list.iter().all(|name| *name == name.to_lowercase()));
        }
    }
}
