//! Decides whether a request asks for a change in so many words.
//!
//! A tool that changes something is called only where a verb of its class is said, as an order or a
//! wish: copying is not moving, adding is not writing.

use crate::words::RequestWords;

/// Classes of verbs, by what happens to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbClass {
    /// Making another one of the same.
    Copy,
    /// Moving and renaming.
    Move,
    /// Making something be gone.
    Delete,
    /// Adding to what is there.
    Append,
    /// Making a file.
    Write,
    /// Making a directory.
    MakeDirectory,
    /// Changing a part.
    Edit,
    /// Overwriting and emptying, said as such.
    Overwrite,
    /// Looking.
    Show,
}

struct VerbWords {
    class: VerbClass,
    words: &'static [&'static str],
    phrases: &'static [&'static str],
}

const VERBS: &[VerbWords] = &[
    VerbWords {
        class: VerbClass::Copy,
        words: &[
            "copy",
            "copies",
            "copying",
            "cp",
            "duplicate",
            "clone",
            "backup",
            "replicate",
            "copied",
            "kopieren",
            "kopiere",
            "copia",
            "copier",
            "copie",
        ],
        phrases: &["back up", "back it up", "back them up", "backed up", "save a copy"],
    },
    VerbWords {
        class: VerbClass::Move,
        words: &[
            "move",
            "mv",
            "moving",
            "rename",
            "renamed",
            "relocate",
            "shift",
            "transfer",
            "archive",
            "belongs",
            "belong",
            "stash",
            "bring",
            "sort",
            "put",
            "stick",
            "shove",
            "throw",
            "drop",
            "toss",
            "place",
            "moved",
            "goes",
            "file",
            "umbenennen",
            "verschiebe",
            "mueve",
            "renombra",
        ],
        phrases: &[
            "be called",
            "called",
            "change the name",
            "change name",
            "change its name",
            "new name",
            "be named",
            "call it",
            "name it",
            "name of",
            "better name",
            "nicer name",
            "different name",
            "call them",
            "should go",
        ],
    },
    VerbWords {
        class: VerbClass::Delete,
        words: &[
            "delete",
            "deleting",
            "rm",
            "remove",
            "erase",
            "trash",
            "nuke",
            "wipe",
            "purge",
            "discard",
            "bin",
            "toss",
            "unlink",
            "kill",
            "del",
            "rmdir",
            "zap",
            "scrap",
            "ditch",
            "drop",
            "delte",
            "deltee",
            "dump",
            "clear",
            "vanish",
            "go",
            "gone",
            "obliterate",
            "shred",
            "lösche",
            "löschen",
            "borra",
            "elimina",
            "supprime",
            "efface",
            "delet",
            "deleted",
            "removed",
        ],
        phrases: &[
            "get rid of",
            "throw away",
            "throw it away",
            "throw out",
            "throw them away",
            "thrown away",
            "clean out",
            "clear out",
            "not need",
            "don't need",
            "dont need",
            "no longer need",
            "can go",
            "take away",
            "blow away",
            "throw it out",
            "get rid",
        ],
    },
    VerbWords {
        class: VerbClass::Append,
        words: &[
            "append",
            "add",
            "adding",
            "tack",
            "insert",
            "jot",
            "log",
            "put",
            "note",
            "write",
            "enter",
            "include",
            "extend",
            "attach",
            "stick",
            "pop",
            "chuck",
            "plus",
            "prepend",
            "agrega",
            "añade",
            "ajoute",
            "hinzufügen",
            "füge",
            "record",
        ],
        phrases: &[
            "at the end",
            "at the bottom",
            "to the end",
            "to the bottom",
            "as last line",
            "as the last line",
            "another line",
            "new line",
            "one more line",
        ],
    },
    VerbWords {
        class: VerbClass::Write,
        words: &[
            "write",
            "create",
            "make",
            "save",
            "start",
            "put",
            "echo",
            "touch",
            "generate",
            "new",
            "store",
            "overwrite",
            "replace",
            "add",
            "need",
            "produce",
            "place",
            "jot",
            "note",
            "drop",
            "stick",
            "open",
            "begin",
            "set",
            "crea",
            "erstelle",
            "crée",
            "initialise",
            "initialize",
            "truncate",
            "empty",
            "clear",
            "export",
            "dump",
        ],
        phrases: &["set up"],
    },
    VerbWords {
        class: VerbClass::MakeDirectory,
        words: &[
            "create", "make", "mkdir", "new", "need", "add", "want", "start", "build", "md",
            "crea", "erstelle", "crée", "prepare", "have", "set", "give", "open", "put",
        ],
        phrases: &["set up"],
    },
    VerbWords {
        class: VerbClass::Edit,
        words: &[
            "replace",
            "change",
            "edit",
            "set",
            "update",
            "bump",
            "fix",
            "correct",
            "swap",
            "substitute",
            "amend",
            "switch",
            "turn",
            "tick",
            "untick",
            "check",
            "uncheck",
            "mark",
            "rename",
            "raise",
            "lower",
            "increase",
            "decrease",
            "modify",
            "adjust",
            "put",
            "make",
            "drop",
            "remove",
            "delete",
            "strip",
            "uncomment",
            "comment",
            "should",
            "must",
            "instead",
            "not",
            "is",
            "sed",
            "now",
            "sub",
            "cambia",
            "ersetze",
            "ändere",
            "becomes",
            "become",
            "cross",
            "wrong",
            "has",
            "reads",
            "read",
            "insert",
            "add",
            "disable",
            "enable",
            "capitalise",
            "capitalize",
            "correction",
            "promoted",
            "->",
            "→",
            "=>",
            "said",
        ],
        phrases: &[
            "should be",
            "should read",
            "must read",
            "must be",
            "instead of",
            "make it",
            "make that",
            "has to be",
            "needs to be",
            "ought to be",
        ],
    },
    VerbWords {
        class: VerbClass::Overwrite,
        words: &[
            "overwrite",
            "overwriting",
            "truncate",
            "empty",
            "rewrite",
            "clear",
            "blank",
            "replace",
        ],
        phrases: &[
            "start over",
            "from scratch",
            "replace the content",
            "replace the contents",
            "replace everything",
            "even if it exists",
            "wipe the content",
            "only contain",
            "zero bytes",
        ],
    },
    VerbWords {
        class: VerbClass::Show,
        words: &[
            "show", "list", "see", "read", "open", "display", "cat", "print", "view", "look",
            "tell", "find", "count", "which", "what", "where", "how", "whats", "what's", "search",
            "grep", "check",
        ],
        phrases: &[],
    },
];

/// Words right before a verb that turn it round.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "don't", "dont", "not", "never", "without", "no", "nothing", "didn't", "isn't", "shouldn't",
    "avoid",
];

/// Forms of verbs that tell what happened, unless something is wished: "it should be deleted".
#[rustfmt::skip]
const PAST_FORMS: &[&str] = &[
    "deleted", "removed", "moved", "copied", "renamed", "thrown", "gone",
];

/// Words that make a wish of a form of the past.
#[rustfmt::skip]
const WISHES: &[&str] = &[
    "be", "get", "want", "like", "have", "need", "needs", "should", "must", "can", "could", "i'd",
];

/// Tells whether a form of the past, after these words, tells what happened.
fn is_told(before: &[&str]) -> bool {
    !before.iter().rev().take(6).any(|word| WISHES.contains(word))
}

impl VerbClass {
    /// Tells whether a verb of the class is said outside quotations, and is not negated.
    pub fn is_said(self, request: &RequestWords<'_>) -> bool {
        let Some(known) = VERBS.iter().find(|known| known.class == self) else { return false };
        let words: Vec<&str> = request.unquoted().collect();
        let is_negated = |at: usize| {
            let before = &words[at.saturating_sub(2)..at];
            before.iter().any(|word| NEGATIONS.contains(word))
        };
        let by_word = words.iter().enumerate().any(|(at, word)| {
            known.words.contains(word)
                && (!is_negated(at) || self == Self::Edit)
                && !(PAST_FORMS.contains(word) && is_told(&words[..at]))
        });
        by_word || request.has_phrase(known.phrases)
    }
}

/// Lists beginnings of questions about a command, which are not the command.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "how do i", "how do you", "how can i", "how to", "what happens if", "what would happen",
    "should i", "is it safe", "is it ok", "is it okay", "do you think", "what does", "why did",
    "why does", "did you", "have you", "can i", "would it", "imagine", "what if", "when should i",
];

/// Tells whether a text tells of a change that the user does not want: a joke, or what another person wants.
pub fn is_no_order(request: &RequestWords<'_>) -> bool {
    let jokes = request.has_any(&["lol", "lmao", "haha", "hahaha", "jk", "rofl"]);
    let refuses = request.has_phrase(&[
        "no way",
        "not a chance",
        "as if",
        "i won't",
        "i wont",
        "i refuse",
        "not going to",
        "over my dead body",
    ]);
    let others = request.has_phrase(&[
        "wants me to",
        "told me to",
        "asked me to",
        "says i should",
        "said i should",
        "wanted me to",
    ]);
    jokes && (refuses || others) || refuses && others
}

/// Tells whether a request only talks about doing something.
pub fn is_only_talk(request: &RequestWords<'_>) -> bool {
    request.has_phrase(ABOUT) && !request.has_any(&["please", "pls", "plz"])
        || request.has_any(&["lol", "lmao", "haha", "jk", "rofl"])
}

#[cfg(test)]
mod tests;
