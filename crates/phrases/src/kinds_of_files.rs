//! Knows words for types of files: "the jpgs", "python files", "pictures".

/// Describes a type of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// The words for it, in the singular.
    words: &'static [&'static str],
    /// The extensions of such files.
    pub extensions: &'static [&'static str],
}

const TYPES: &[FileType] = &[
    FileType {
        words: &["picture", "photo", "image", "pic", "img", "snapshot"],
        extensions: &["jpg", "jpeg", "png", "gif", "webp", "bmp", "tiff", "heic", "svg"],
    },
    FileType {
        words: &["movie", "video", "film", "clip"],
        extensions: &["mov", "mp4", "mkv", "avi", "webm", "m4v"],
    },
    FileType {
        words: &["song", "audio", "recording", "track"],
        extensions: &["mp3", "wav", "flac", "ogg", "m4a", "aac"],
    },
    FileType { words: &["archive"], extensions: &["zip", "tar", "gz", "tgz", "7z", "rar", "xz"] },
    FileType { words: &["spreadsheet", "sheet"], extensions: &["csv", "xlsx", "xls", "ods"] },
    FileType { words: &["python", "py"], extensions: &["py"] },
    FileType { words: &["rust", "rs"], extensions: &["rs"] },
    FileType { words: &["markdown", "md"], extensions: &["md"] },
    FileType { words: &["text", "txt"], extensions: &["txt"] },
    FileType { words: &["javascript", "js"], extensions: &["js"] },
    FileType { words: &["typescript", "ts"], extensions: &["ts"] },
    FileType { words: &["jpg", "jpeg"], extensions: &["jpg", "jpeg"] },
    FileType { words: &["yaml", "yml"], extensions: &["yaml", "yml"] },
    FileType { words: &["tmp", "temp", "temporary"], extensions: &["tmp"] },
    FileType { words: &["log"], extensions: &["log"] },
    FileType { words: &["shell", "bash"], extensions: &["sh"] },
    FileType { words: &["word"], extensions: &["docx", "doc"] },
];

/// Lists further extensions that are their own word.
const EXTENSIONS: &[&str] = &[
    "pdf", "csv", "json", "png", "gif", "html", "css", "toml", "xml", "bin", "dat", "mov", "mp3",
    "mp4", "zip", "tgz", "sql", "bak", "c", "h", "cpp", "go", "java", "rb", "php", "sh", "ini",
    "cfg", "docx", "xlsx", "svg", "wav", "ipynb", "lock", "iso", "swp", "orig", "old",
];

/// Returns the extensions that a word for a type of files means, such as "jpgs" or ".tmp".
pub fn extensions_of(word: &str) -> Option<Vec<&'static str>> {
    let word = word.to_lowercase();
    let bare = word.trim_start_matches("*.").trim_start_matches('.').trim_end_matches("'s");
    let singular = bare.strip_suffix('s').filter(|rest| rest.len() > 1);
    let forms = [Some(bare), singular];
    let of = |form: &str| {
        TYPES
            .iter()
            .find(|kind| kind.words.contains(&form))
            .map(|kind| kind.extensions.to_vec())
            .or_else(|| EXTENSIONS.iter().find(|known| **known == form).map(|known| vec![*known]))
    };
    forms.into_iter().flatten().find_map(of)
}

/// Tells whether a mention is a word for a type of files.
pub fn is_type_mention(mention: &str) -> bool {
    let words: Vec<&str> = mention.split_whitespace().collect();
    words.iter().any(|word| is_plural_type(word) || word.starts_with("*."))
        && !words
            .iter()
            .any(|word| word.contains('.') && !word.starts_with("*.") && !word.starts_with('.'))
}

/// Tells whether a word is an extension as it is typed: ".tmp" or "*.tmp".
pub fn is_typed_extension(word: &str) -> bool {
    let rest = word.trim_start_matches('*').strip_prefix('.');
    rest.is_some_and(|rest| rest.chars().all(char::is_alphanumeric))
        && extensions_of(word).is_some()
}

/// Tells whether a word is the plural of a word for a type of files: "jpgs", "pictures".
pub fn is_plural_type(word: &str) -> bool {
    let word = word.to_lowercase();
    word.ends_with('s')
        && extensions_of(&word).is_some()
        && extensions_of(&word[..word.len() - 1]).is_some()
}

#[cfg(test)]
mod tests;
