//! Tests the index on SQLite and on PostgreSQL alike.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod samples;
mod wires;

lango_store::on_both_engines! {
    contract::texts_are_found_by_words_by_meaning_and_by_both,
    contract::every_hit_says_where_it_comes_from,
    contract::an_entry_is_replaced_as_a_whole_and_left_alone_when_unchanged,
    contract::an_entry_that_is_removed_leaves_nothing,
    contract::a_space_and_a_collection_are_never_left,
    contract::a_changed_model_is_made_up_for_and_old_vectors_go,
    contract::without_a_model_words_are_enough,
    contract::a_model_that_does_not_answer_costs_meaning_only,
    contract::hostile_queries_find_nothing_and_break_nothing,
    contract::what_does_not_agree_is_noticed,
    contract::entries_are_listed_page_by_page,
}
