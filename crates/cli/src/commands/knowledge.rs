//! `lango knowledge`: shows what the librarian saved.

use lango_app::Stores;
use lango_librarian::Holdings;
use lango_librarian::inquiries::InquirySettings;
use lango_librarian::knowledge::{
    Knowledge, KnowledgeCategory, KnowledgeSummary, KnowledgeVersion,
};
use lango_protocol::Space;
use lango_retrieval::RetrievalIndex;
use lango_text::{ellipsize_characters, make_lines_visible, make_visible};

use super::sessions::local_time;
use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{CategoryName, KnowledgeCommand};
use lango_terminal::render_table;

/// Limits the characters of a text in a list.
const MAX_SHOWN_CHARACTERS: usize = 80;

pub(crate) async fn knowledge(
    context: &CommandContext,
    command: KnowledgeCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    // Nothing is searched by meaning here, so no embedding model is needed.
    let index = RetrievalIndex::open(database, None).await?;
    let holdings = Holdings::open(index, InquirySettings::default()).await?.in_space(space);
    let knowledge = holdings.knowledge();
    match command {
        KnowledgeCommand::List { category, limit, after, json } => {
            list(context.printer, knowledge, category, &after.unwrap_or_default(), limit, json)
                .await?;
        }
        KnowledgeCommand::Show { key, history, json } => {
            show(context.printer, knowledge, &key, history, json).await?;
        }
        KnowledgeCommand::Remove { key, yes } => {
            return remove(context.printer, knowledge, &key, yes).await;
        }
    }
    Ok(ExitStatus::Success)
}

fn convert_category(name: CategoryName) -> KnowledgeCategory {
    match name {
        CategoryName::Fact => KnowledgeCategory::Fact,
        CategoryName::Rule => KnowledgeCategory::Rule,
        CategoryName::Definition => KnowledgeCategory::Definition,
        CategoryName::Preference => KnowledgeCategory::Preference,
        CategoryName::Pattern => KnowledgeCategory::Pattern,
        CategoryName::Correction => KnowledgeCategory::Correction,
    }
}

async fn list(
    printer: Printer,
    knowledge: &Knowledge,
    kind: Option<CategoryName>,
    after: &str,
    limit: u32,
    json: bool,
) -> Result<(), Failure> {
    let more = limit.saturating_add(1);
    let mut found = knowledge.list(kind.map(convert_category), after, more).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_more = found.len() > most;
    found.truncate(most);
    if json {
        return Ok(printer.json(&found)?);
    }
    if found.is_empty() {
        return Ok(printer
            .print("Nothing was saved yet. The librarian saves what you ask it to remember.\n")?);
    }
    let row = |one: &KnowledgeSummary| {
        let text = ellipsize_characters(&make_visible(&one.content), MAX_SHOWN_CHARACTERS);
        vec![
            make_visible(&one.key),
            one.category.clone(),
            one.version.to_string(),
            local_time(one.recorded_at),
            make_visible(&one.by),
            text,
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    let mut text = render_table(&["KEY", "KIND", "VERSION", "WHEN", "BY", "TEXT"], &rows);
    if let (true, Some(last)) = (is_more, found.last()) {
        text += &format!("There are more: lango knowledge list --after {:?}\n", last.key);
    }
    Ok(printer.print(&text)?)
}

async fn show(
    printer: Printer,
    knowledge: &Knowledge,
    key: &str,
    all: bool,
    json: bool,
) -> Result<(), Failure> {
    let mut versions = knowledge.list_versions(key).await?;
    if versions.is_empty() {
        return Err(unknown_key_error(key));
    }
    if !all {
        versions.truncate(1);
    }
    if json {
        return Ok(printer.json(&versions)?);
    }
    let text: Vec<String> = versions.iter().map(describe_version).collect();
    Ok(printer.print(&text.join("\n"))?)
}

fn describe_version(version: &KnowledgeVersion) -> String {
    let KnowledgeVersion { key, category, tags, provenance, .. } = version;
    let mut text = format!(
        "{}, version {} ({category}), by {} on {}\n",
        make_visible(key),
        version.version,
        make_visible(&provenance.by),
        local_time(version.recorded_at)
    );
    if !tags.is_empty() {
        text += &format!("tags: {}\n", make_visible(&tags.join(", ")));
    }
    for (what, value) in [
        ("source", &provenance.source),
        ("session", &provenance.session),
        ("confidence", &version.confidence),
    ] {
        if let Some(value) = value {
            text += &format!("{what}: {}\n", make_visible(value));
        }
    }
    text + &make_lines_visible(&version.content, "  ") + "\n"
}

async fn remove(
    printer: Printer,
    knowledge: &Knowledge,
    key: &str,
    yes: bool,
) -> Result<ExitStatus, Failure> {
    let versions = knowledge.list_versions(key).await?;
    let Some(newest) = versions.first() else { return Err(unknown_key_error(key)) };
    let what = format!("{:?} and its {} versions", newest.key, versions.len());
    if !yes && !ask_to_confirm(&format!("Remove {what}?"), &format!("removing {what}")).await? {
        printer.print("Nothing was removed.\n")?;
        return Ok(ExitStatus::Failure);
    }
    knowledge.remove(key).await?;
    printer.print(&format!("Removed {what}.\n"))?;
    Ok(ExitStatus::Success)
}

fn unknown_key_error(key: &str) -> Failure {
    Failure::usage(format!("nothing is known under {key:?}. See: lango knowledge list"))
}
