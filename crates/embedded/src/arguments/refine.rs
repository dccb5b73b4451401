//! Corrects arguments by rules of their own kind: an amount is a number, an identifier one word, and no part
//! of the text is two arguments at once.

use std::collections::BTreeMap;

use super::Argument;

type Arguments = BTreeMap<String, Argument>;

/// Words before an identifier that are no part of it.
#[rustfmt::skip]
const BEFORE_ID: &[&str] = &[
    "pid", "id", "job", "task", "run", "process", "handle", "pid-handle", "number", "no", "the", "daily",
    "weekly", "nightly", "monthly", "hourly", "called", "named", "workflow", "reminder", "timer", "this",
];
const NAMES_OF_PLACES: [&str; 4] = ["path", "from", "to", "cwd"];

/// Corrects the arguments of a call in place.
pub(super) fn refine(tool: &str, words: &str, arguments: &mut Arguments) {
    for name in ["id", "run_id"] {
        change(arguments, name, bare_identifier);
    }
    if tool.starts_with("fs_") {
        for name in NAMES_OF_PLACES {
            change(arguments, name, path_in_sentence);
        }
    }
    match tool {
        "payment_send" => refine_payment(arguments),
        "graph_query" | "graph_add" | "graph_traverse" => refine_graph(tool, words, arguments),
        "crypto_create_key" => refine_key(words, arguments),
        "crypto_hash" => keep_one(arguments, "data", "path", |path| path.contains(['.', '/'])),
        "rag_ingest" if arguments.contains_key("url") => drop_same(arguments, "collection", "path"),
        "save_learning" => drop_same(arguments, "fix", "diagnosis"),
        "reflect_summary" => drop_same(arguments, "about", "session"),
        "fs_write" | "fs_append" => {
            change(arguments, "content", |value| whole_sentence(value, words));
        }
        _ if tool.starts_with("browser_") => refine_element(tool, words, arguments),
        _ => {}
    }
}

/// Replaces a text by a part of the user's words that says it better.
fn change(arguments: &mut Arguments, name: &str, better: impl Fn(&str) -> Option<String>) {
    if let Some(Argument::Text(value)) = arguments.get_mut(name)
        && let Some(better) = better(value)
    {
        *value = better;
    }
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Argument::as_text)
}

/// Leaves out an argument that is the same text as another one.
fn drop_same(arguments: &mut Arguments, kept: &str, dropped: &str) {
    if text(arguments, kept).is_some() && text(arguments, kept) == text(arguments, dropped) {
        arguments.remove(dropped);
    }
}

/// Leaves out one of two arguments that are the same text.
fn keep_one(arguments: &mut Arguments, one: &str, other: &str, is_other: impl Fn(&str) -> bool) {
    match (text(arguments, one), text(arguments, other)) {
        (Some(first), Some(second)) if first == second => {
            let dropped = if is_other(first) { one } else { other };
            arguments.remove(dropped);
        }
        _ => {}
    }
}

/// Returns the one word of a value that is an identifier: "pid 20417", "mkt-scan-3. Green".
fn bare_identifier(value: &str) -> Option<String> {
    let sentence = value.split([',', ';', '!', '?']).next().unwrap_or(value);
    let sentence = sentence.split(". ").next().unwrap_or(sentence).trim();
    let mut rest: Vec<&str> = sentence.split_whitespace().collect();
    while rest.len() > 1 && BEFORE_ID.contains(&rest[0].to_lowercase().as_str()) {
        rest.remove(0);
    }
    let bare = rest.join(" ");
    (!bare.is_empty() && bare != value).then_some(bare)
}

/// Returns the path in a value that goes over the end of a sentence: "floaty. src/player.lua".
fn path_in_sentence(value: &str) -> Option<String> {
    let is_over = [". ", ", ", "; ", "? ", "! "].iter().any(|end| value.contains(end));
    if !is_over {
        return None;
    }
    let is_path = |word: &&str| {
        let stem = lango_phrases::spelling::strip_extension(word);
        word.contains('/') || stem.len() < word.len()
    };
    let words = value.split_whitespace().map(|word| word.trim_matches([',', ';', '?', '!']));
    let mut paths = words.filter(is_path);
    let first = paths.next()?;
    paths.next().is_none().then(|| first.to_owned())
}

/// An amount is a number: "40 usdc". Who gets it does not have the amount in their name.
fn refine_payment(arguments: &mut Arguments) {
    change(arguments, "amount", |value| {
        let end = value.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))?;
        let number = value[..end].trim_end_matches(['.', ',']);
        let unit = value[end..].trim();
        (!number.is_empty() && unit.chars().all(char::is_alphabetic)).then(|| number.to_owned())
    });
    let Some(amount) = text(arguments, "amount").map(|amount| format!(" {amount}")) else { return };
    change(arguments, "to", |value| {
        let before = value.split_once(&amount)?.0.trim();
        (!before.is_empty()).then(|| before.to_owned())
    });
}

/// Corrects the ends, the relation and the direction of a question about the graph.
fn refine_graph(tool: &str, words: &str, arguments: &mut Arguments) {
    for name in ["subject", "object", "start_node"] {
        change(arguments, name, |value| whole_name(value, words));
    }
    let lower = words.to_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    if tool == "graph_query" {
        keep_one(arguments, "subject", "object", |_| says(&["as object", "as the object"]));
        let end =
            text(arguments, "subject").or_else(|| text(arguments, "object")).map(str::to_owned);
        if let Some(end) = end {
            change(arguments, "predicate", |value| {
                let rest = value.split_once(&end)?.1.trim();
                (!rest.is_empty()).then(|| rest.to_owned())
            });
        }
        // "Who is married to Hannelore?"
        change(arguments, "predicate", |value| {
            let before = &lower[..lower.find(&value.to_lowercase())?];
            ["is", "was", "are", "were"].iter().find_map(|verb| {
                let asks = before.trim_end().strip_suffix(verb)?.trim_end();
                asks.ends_with(['o', 'h', 't']).then_some(())?;
                let asks = ["who", "which", "what"].iter().any(|word| asks.ends_with(word));
                asks.then(|| format!("{verb} {value}"))
            })
        });
    }
    if tool == "graph_traverse" && !arguments.contains_key("direction") {
        let inwards = says(&["incoming", "inward", "against the arrows", "inbound"]);
        let outwards = says(&["outgoing", "outward", "outbound"]);
        let direction = match (inwards, outwards) {
            (true, false) => "in",
            (false, true) => "out",
            _ => return,
        };
        arguments.insert("direction".to_owned(), Argument::Text(direction.to_owned()));
    }
}

/// Returns a name with the capital words right before it: "Per Sten" where "Sten" was found.
fn whole_name(value: &str, words: &str) -> Option<String> {
    let is_capital = |word: &str| {
        word.chars().next().is_some_and(char::is_uppercase) && word.chars().all(char::is_alphabetic)
    };
    if !value.split_whitespace().all(is_capital) {
        return None;
    }
    let at = words.find(value).filter(|at| words[..*at].ends_with(' '))?;
    let before = words[..at].trim_end_matches(' ');
    let first = before.rsplit(' ').next()?;
    let start = before.len() - first.len();
    // The first word of a sentence has a capital letter anyway.
    let ahead = words[..start].trim_end();
    let begins = ahead.is_empty() || ahead.ends_with(['.', '!', '?', ':', '"', ',', ';', '-']);
    (is_capital(first) && first.chars().count() > 1 && !begins).then(|| format!("{first} {value}"))
}

/// What a key is for says its kind.
fn refine_key(words: &str, arguments: &mut Arguments) {
    let lower = words.to_lowercase();
    let signs =
        ["signing", "signature", "to sign", "for signing"].iter().any(|part| lower.contains(part));
    let encrypts = ["encryption", "encrypting", "to encrypt", "scramble"]
        .iter()
        .any(|part| lower.contains(part));
    let kind = match (signs, encrypts) {
        (true, false) => "ed25519",
        (false, true) => "xchacha20",
        _ => return,
    };
    arguments.insert("kind".to_owned(), Argument::Text(kind.to_owned()));
}

/// Corrects which element of a page is meant, and what is typed into it.
fn refine_element(tool: &str, words: &str, arguments: &mut Arguments) {
    change(arguments, "ref", |value| {
        let marked = format!("@{value}");
        words.contains(&marked).then_some(marked)
    });
    if let (Some(reference), Some(selector)) = (text(arguments, "ref"), text(arguments, "selector"))
        && selector.contains(reference)
    {
        arguments.remove("selector");
    }
    if tool == "browser_type" {
        change(arguments, "text", |value| {
            let typed = words.split_once(' ').filter(|(verb, _)| {
                ["type", "enter"].iter().any(|known| verb.eq_ignore_ascii_case(known))
            })?;
            let at = typed.1.rfind(" into ")?;
            let whole = &typed.1[..at];
            let is_plain = !whole.contains(['"', '\'', '`', ',', '.']);
            (is_plain && whole.starts_with(value) && whole != value).then(|| whole.to_owned())
        });
    }
}

/// Returns a sentence with its full stop, where it is all that follows a colon.
fn whole_sentence(value: &str, words: &str) -> Option<String> {
    let before = words.trim_end().strip_suffix('.')?.strip_suffix(value)?;
    let is_sentence = value.chars().next().is_some_and(char::is_uppercase) && value.contains(' ');
    (is_sentence && before.ends_with(": ")).then(|| format!("{value}."))
}

#[cfg(test)]
mod tests;
