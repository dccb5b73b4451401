//! What came out of a call, in words for the user.
//!
//! Nothing is said that is not in the call's arguments or its result. A result carries no mark of
//! success, so each family of tools knows the exact form of its successes; whatever has another form
//! is told as a failure, in the tool's words. Tools that nobody here knows are quoted, without a claim.

mod answer;
mod changes;
mod commands;
mod deed;
mod ending;
mod files;
mod findings;
mod general;
mod handover;
mod json;
mod knowledge;
mod memory;
mod relations;
mod shelf;
#[cfg(test)]
mod tests;
mod web;

use lango_model::AnsweredCall;

use self::answer::Answer;
use self::ending::Ending;

/// Says what came out of a call: never empty, and at most about 6 kB.
pub(crate) fn tell(call: &AnsweredCall) -> String {
    let told = match Ending::of(call) {
        Some(ending) => ending.told(call),
        None => match family(&call.name) {
            None => general::tell(call),
            Some(tell) => tell(call)
                .or_else(|| general::cut(call))
                .unwrap_or_else(|| ending::failed(call, &call.result)),
        },
    };
    told.finish()
}

/// Whether a hand-over came back with an answer that does not tell of a failure.
pub(crate) fn went_well(call: &AnsweredCall) -> bool {
    handover::went_well(call)
}

/// What an agent asks that cannot go on.
pub(crate) fn question(call: &AnsweredCall) -> Option<&str> {
    handover::question(call)
}

/// Words for a success; none where the result does not have the form of one.
type Family = fn(&AnsweredCall) -> Option<Answer>;

fn family(name: &str) -> Option<Family> {
    Some(match name {
        "fs_list" => files::listed,
        "fs_read" => files::read,
        "fs_search" => files::searched,
        "fs_stat" => files::status,
        "fs_write" => changes::written,
        "fs_edit" => changes::edited,
        "fs_mkdir" => changes::made,
        "fs_move" => changes::moved,
        "fs_delete" => changes::deleted,
        "exec_shell" => commands::ran,
        "exec_background" => commands::started,
        "exec_status" | "exec_stop" => commands::standing,
        "output_read" => commands::output,
        "browser_navigate" | "browser_click" | "browser_type" | "browser_back" => web::shown,
        "browser_read" => web::read,
        "browser_wait" | "browser_screenshot" | "browser_close" => web::noted,
        "search_web" => findings::pages,
        "rag_retrieve" => findings::passages,
        "rag_ingest" => shelf::ingested,
        "rag_list" => shelf::listed,
        "create_skill" => shelf::created,
        "list_skills" => shelf::skills,
        "search_knowledge" => knowledge::known,
        "save_knowledge" => knowledge::saved,
        "search_learnings" => knowledge::lessons,
        "save_learning" => knowledge::lesson_saved,
        "librarian_pending_inquiries" => knowledge::questions,
        "librarian_answer_inquiry" => knowledge::answered,
        "librarian_dismiss_inquiry" => knowledge::dismissed,
        "graph_add" => relations::added,
        "graph_query" => relations::found,
        "graph_traverse" => relations::reached,
        "memory_store" => memory::stored,
        "memory_search" => memory::found,
        "memory_forget" => memory::forgotten,
        "memory_list_observations" => memory::observations,
        "memory_list_reflections" => memory::reflections,
        "observe_event" => memory::observed,
        "observe_session" => memory::observed_now,
        "reflect_summary" => memory::reflected,
        "transfer_to_agent" => handover::came_back,
        skill if skill.starts_with("skill_") => commands::skill,
        _ => return None,
    })
}
