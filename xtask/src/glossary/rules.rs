//! The words and names that were replaced, and what is said instead.

/// A word or name that was replaced.
#[derive(Debug)]
pub(super) struct Rule {
    /// The name that it is listed under.
    pub(super) replaced: &'static str,
    /// The words to say instead.
    pub(super) say: &'static str,
    pub(super) pattern: Pattern,
    /// The folder that the rule holds in; everywhere where there is none.
    pub(super) within: Option<&'static str>,
}

/// Recognises a word or name.
#[derive(Debug)]
pub(super) enum Pattern {
    /// Phrases in lower case, in text and in names: "hand over" is also `HandOver`, `hand_over` and
    /// "hand-over". Unless it is part of one of the phrases in `except`.
    Phrases { phrases: &'static [&'static str], except: &'static [&'static str] },
    /// Names of types, where they are declared.
    Types(&'static [&'static str]),
    /// Names of types that are a past participle and nothing else, where they are declared: one word
    /// that ends in "ed" or is one of `irregular`, unless it is one of `except`.
    Participles { irregular: &'static [&'static str], except: &'static [&'static str] },
    /// Names of functions, where they are declared.
    Functions(&'static [&'static str]),
    /// Names of constants, or words in them, where they are declared.
    Constants(&'static [&'static str]),
}

impl Rule {
    pub(super) fn applies_to(&self, file: &str) -> bool {
        self.within.is_none_or(|folder| file.starts_with(folder))
    }
}

const fn words(
    replaced: &'static str,
    say: &'static str,
    phrases: &'static [&'static str],
    except: &'static [&'static str],
) -> Rule {
    Rule { replaced, say, pattern: Pattern::Phrases { phrases, except }, within: None }
}

const fn types(replaced: &'static str, say: &'static str, names: &'static [&'static str]) -> Rule {
    Rule { replaced, say, pattern: Pattern::Types(names), within: None }
}

/// A use of replaced words that is right.
#[derive(Debug)]
pub(super) struct AllowedUse {
    /// A file, or the beginning of its path.
    pub(super) file: &'static str,
    /// The rule; all where there is none.
    pub(super) replaced: Option<&'static str>,
    /// A part of the line; empty for all lines.
    pub(super) line: &'static str,
    pub(super) reason: &'static str,
}

impl AllowedUse {
    pub(super) fn covers(&self, rule: &Rule, file: &str, line: &str) -> bool {
        file.starts_with(self.file)
            && self.replaced.is_none_or(|replaced| replaced == rule.replaced)
            && line.contains(self.line)
    }
}

const fn everything_in(file: &'static str, reason: &'static str) -> AllowedUse {
    AllowedUse { file, replaced: None, line: "", reason }
}

pub(super) const ALLOWED: &[AllowedUse] = &[
    everything_in("AGENTS.md", "it lists what not to say"),
    everything_in("xtask/src/glossary", "it has the rules"),
    everything_in("bench/memory/", "it has the words of users"),
    everything_in("crates/cli/tests/data/injections/", "it has the words of attackers"),
    AllowedUse {
        file: "CHANGELOG.md",
        replaced: None,
        line: "--doors",
        reason: "it names what was renamed",
    },
    AllowedUse {
        file: "CHANGELOG.md",
        replaced: None,
        line: "`door_not_allowed`",
        reason: "it names what was renamed",
    },
    AllowedUse {
        file: "crates/agents/chronicler/src/clause.rs",
        replaced: Some("nobody"),
        line: r#""nobody", "#,
        reason: "it reads the words of users",
    },
    AllowedUse {
        file: "crates/agents/librarian/src/documents/ingest/prepare.rs",
        replaced: Some("AHEAD, WAY"),
        line: "READ_AHEAD",
        reason: "reading ahead is what it is called",
    },
    AllowedUse {
        file: "crates/agents/navigator/src/page/page.js",
        replaced: Some("box"),
        line: "",
        reason: "it is the rectangle of an element",
    },
    AllowedUse {
        file: "crates/cli/tests/suite/embedded/hostile.rs",
        replaced: Some("somebody"),
        line: "if somebody typed",
        reason: "it has the words of users",
    },
    AllowedUse {
        file: "crates/protocol/src/event.rs",
        replaced: Some("keepsake"),
        line: "alias = ",
        reason: "journals that exist have the former name",
    },
    AllowedUse {
        file: "crates/scripted/src/script.rs",
        replaced: Some("manner"),
        line: "manner",
        reason: "scripts that exist have the former name",
    },
    AllowedUse {
        file: "crates/server/src/callers.rs",
        replaced: Some("door"),
        line: "doors",
        reason: "databases that exist have a column of this name",
    },
];

pub(super) const RULES: &[Rule] = &[
    words(
        "box",
        "embedded model",
        &["box"],
        // Parts of pages and documents, a shape in Graphviz, a function of Rust, and a type of Rust,
        // which `scan` knows.
        &[
            "text box",
            "check box",
            "search box",
            "shape box",
            "bounding box",
            "box model",
            "black box",
        ],
    ),
    words("elsewhere", "remote", &["elsewhere"], &[]),
    words(
        "hand over",
        "transfer (the event), delegate (the act), pass or return (a value)",
        &[
            "hand over",
            "hands over",
            "handed over",
            "handing over",
            "hand overs",
            "handover",
            "handovers",
            "hand it over",
            "hands it over",
            "handed it over",
            "handing it over",
            "hand them over",
            "hands them over",
            "handed them over",
            "hand this over",
            "hands this over",
        ],
        &[],
    ),
    words("door", "endpoint, API", &["door", "doors"], &[]),
    words("manner", "variant, mode", &["manner", "manners"], &[]),
    words("tongue", "wire format, protocol", &["tongue", "tongues"], &[]),
    words("guest", "API client", &["guest", "guests"], &[]),
    words(
        "worth (of a caller)",
        "token",
        &["with a worth", "with worth", "worth nothing", "caller worth", "token worth"],
        &[],
    ),
    words("way out", "egress, outbound network policy", &["way out"], &[]),
    words("patience", "timeout, deadline, retry limit", &["patience"], &[]),
    words("mend", "fix, repair", &["mend", "mends", "mended", "mending"], &[]),
    words("trouble", "error, failure", &["trouble", "troubles", "troubled", "troubling"], &[]),
    words(
        "make ready",
        "start, set up, load",
        &[
            "make ready",
            "makes ready",
            "made ready",
            "making ready",
            "making it ready",
            "made it ready",
        ],
        &[],
    ),
    words("workshop", "builder, factory", &["workshop", "workshops"], &[]),
    words("makings", "factory, parts", &["makings"], &[]),
    words("voice", "speaker", &["voice", "voices"], &[]),
    words("keepsake", "provider state", &["keepsake", "keepsakes"], &[]),
    words("nobody", "none, not set, no user, no client", &["nobody"], &[]),
    words("somebody", "user, operator of the machine, process, client", &["somebody"], &[]),
    words("whoever", "user, operator of the machine, process, client", &["whoever"], &[]),
    words(
        "nothing of the kind",
        "none, not set",
        &["nothing of the kind", "nothing of that kind"],
        &[],
    ),
    types("Setting", "CommandContext", &["Setting"]),
    types("Upkeep", "TeamWatcher, EmbeddingBackfill", &["Upkeep"]),
    types("Along, Beside", "a noun: WriteOptions, RequestMetadata", &["Along", "Beside"]),
    types("Lives", "LiveTurnGuard", &["Lives"]),
    Rule {
        replaced: "Memory (of a process)",
        say: "SessionCache",
        pattern: Pattern::Types(&["Memory"]),
        within: Some("crates/runtime/"),
    },
    Rule {
        replaced: "participles as types",
        say: "a noun: ModelReply, SearchResult, AcceptedMessage",
        pattern: Pattern::Participles {
            irregular: &[
                "Asked",
                "Begun",
                "Broken",
                "Brought",
                "Built",
                "Caught",
                "Chosen",
                "Cut",
                "Done",
                "Drawn",
                "Felt",
                "Found",
                "Given",
                "Gone",
                "Heard",
                "Held",
                "Kept",
                "Known",
                "Learnt",
                "Left",
                "Lent",
                "Lost",
                "Made",
                "Meant",
                "Met",
                "Put",
                "Said",
                "Seen",
                "Sent",
                "Shown",
                "Spent",
                "Spoken",
                "Taken",
                "Told",
                "Understood",
                "Won",
                "Written",
            ],
            // The state that all handles to one thing have, as many Rust libraries call it; and what
            // is no participle.
            except: &["Shared", "Feed", "Need", "Seed", "Speed"],
        },
        within: None,
    },
    types("Place", "a noun for what is there: Location, Layer, Permit", &["Place"]),
    types("Send", "IncomingMessage: Send is a trait of the language", &["Send"]),
    types("Room, Patient", "TurnQuota, StallTimeout", &["Room", "Patient"]),
    types("Guesses, Ends", "TokenThrottle, ConnectionEnds", &["Guesses", "Ends"]),
    types("Course, News", "TurnFollower, TurnUpdate", &["Course", "News"]),
    types("Wishes, Telling", "RequestHeaders, TurnSummary", &["Wishes", "Telling"]),
    Rule {
        replaced: "alone(), meant()",
        say: "a verb: resolve_tool, resolve_model",
        pattern: Pattern::Functions(&["alone", "meant"]),
        within: None,
    },
    Rule {
        replaced: "MOST, LONGEST, PATIENCE",
        say: "MAX_…_BYTES, MAX_…_COUNT, …_TIMEOUT, …_INTERVAL",
        pattern: Pattern::Constants(&["MOST", "LONGEST", "PATIENCE"]),
        within: None,
    },
    Rule {
        replaced: "AHEAD, WAY",
        say: "what the constant is: a count, a version",
        pattern: Pattern::Constants(&["AHEAD", "WAY"]),
        within: None,
    },
];
