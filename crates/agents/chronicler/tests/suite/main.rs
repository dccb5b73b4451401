//! Tests memory on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod context;
mod forgetting;
mod killed;
mod observing;
mod reports;
mod samples;
mod spaces;
mod tools;

lango_store::on_both_engines! {
    observing::what_the_user_states_is_known_in_the_next_conversation,
    observing::a_later_statement_takes_the_place_of_an_earlier_one,
    observing::conversation_is_observed_once_there_is_enough_of_it,
    observing::a_session_that_was_not_counted_is_observed_too,
    observing::a_model_writes_observations_and_is_not_believed_blindly,
    observing::nothing_due_asks_no_model,
    observing::a_day_has_a_limit,
    observing::of_two_at_once_one_observes,
    observing::observations_are_condensed_and_stay,
    observing::what_does_not_agree_is_noticed,
    tools::the_tools_are_those_of_the_list,
    tools::only_what_the_user_said_is_stored,
    tools::what_was_stored_is_found_and_listed,
    tools::a_query_that_fits_several_memories_forgets_none,
    tools::each_memory_is_forgotten_after_a_question_of_its_own,
    reports::a_memory_is_reported_in_the_users_words,
    reports::every_call_says_what_it_is_about,
    reports::a_report_does_not_repeat_what_was_forgotten,
    reports::observations_and_reflections_are_reported,
    forgetting::what_is_forgotten_is_in_no_table_and_no_file,
    forgetting::what_a_running_turn_says_goes_when_it_ends,
    forgetting::what_others_say_stays,
    forgetting::a_report_loses_what_was_forgotten,
    context::a_prompt_gets_what_is_relevant_within_its_budget,
    context::without_memories_nothing_is_embedded,
    context::what_is_out_of_sight_comes_back_in_short,
    spaces::what_a_client_says_is_its_own,
    spaces::a_client_forgets_in_its_own_conversations_only,
    spaces::the_owner_forgets_everywhere,
    spaces::what_the_owner_shares_is_read_and_marked,
    spaces::a_client_observes_its_own_conversations_only,
    spaces::a_clients_space_is_removed_as_a_whole,
    killed::nothing_is_observed_twice_or_lost_when_the_process_is_killed,
}
