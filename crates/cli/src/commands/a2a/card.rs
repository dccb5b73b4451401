//! Describes a card for the user. Its text comes from an untrusted server, so unusual characters
//! are escaped.

use lango_a2a::remote::{Card, FetchedCard, RemoteConfig, RemoteError, TrustedCard};
use lango_text::{make_visible, make_visible_short};

/// Limits the skills that are shown; of the rest, only the number is.
const MAX_SHOWN_SKILL_COUNT: usize = 20;

/// Describes the agent, its address, its skills, and whether the card is signed.
pub(super) fn describe_card(config: &RemoteConfig, seen: &FetchedCard) -> String {
    let card = &seen.card;
    let mut text =
        format!("{} {}\n", make_visible_short(&card.name), make_visible_short(&card.version))
            .replace(" \n", "\n");
    let mut line = |what: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("  {what:<12}{value}\n"));
        }
    };
    line("says", &make_visible_short(&card.description));
    line("run by", &make_visible_short(card.provider.as_deref().unwrap_or_default()));
    line("card", config.card_url.as_str());
    if let Ok(interface) = card.interface() {
        let (binding, version) = (interface.binding.as_str(), interface.version.as_str());
        let streaming = if card.streaming { ", in streams" } else { "" };
        line("at", &format!("{} ({binding}, A2A {version}{streaming})", interface.url));
    }
    line("wants", &make_visible_short(&card.security.join(", ")));
    line("signature", &describe_signature(card, seen.signed_by.as_deref()));
    line("digest", &card.digest());
    for skill in card.skills.iter().take(MAX_SHOWN_SKILL_COUNT) {
        line("skill", &make_visible_short(&skill.to_string()));
    }
    if let Some(more) =
        card.skills.len().checked_sub(MAX_SHOWN_SKILL_COUNT).filter(|more| *more > 0)
    {
        line("skills", &format!("and {more} more"));
    }
    text
}

fn describe_signature(card: &Card, signed_by: Option<&str>) -> String {
    match (signed_by, card.signatures) {
        (Some(key), _) => format!("holds, made with the key {}", make_visible_short(key)),
        (None, 0) => "none".to_owned(),
        (None, _) => "there is one, not checked: no key for it in cardKeys".to_owned(),
    }
}

/// Describes what the user has to decide about: each relevant field, before and after.
pub(super) fn describe_card_changes(trusted: &TrustedCard, seen: &FetchedCard) -> String {
    let old = Card::read(&trusted.card_url, trusted.body.as_bytes());
    let old = old.map(|card| card.lines()).unwrap_or_default();
    let new = seen.card.lines();
    let missing = |lines: &[String], from: &[String], mark: char| -> String {
        let gone = lines.iter().filter(|line| !from.contains(line));
        gone.map(|line| format!("{mark} {}\n", make_visible(line))).collect()
    };
    let since = trusted.pinned_at.to_string();
    let since = since.get(..10).unwrap_or(&since);
    format!(
        "trusted since {since}, and changed:\n{}{}",
        missing(&old, &new, '-'),
        missing(&new, &old, '+')
    )
}

/// Returns the state of an unavailable agent in one word.
pub(super) fn describe_error_state(error: &RemoteError) -> &'static str {
    match error {
        RemoteError::Unreachable { .. } => "unreachable",
        RemoteError::Changed { .. } => "changed",
        RemoteError::Store(_) => "unknown",
        _ => "refused",
    }
}
