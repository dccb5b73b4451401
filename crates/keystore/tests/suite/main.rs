//! Tests the key store on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod entries;
mod fixture;
mod handles;
mod keys;
mod recording;
mod scrubbing;

lango_store::on_both_engines! {
    entries::a_value_is_stored_used_replaced_listed_and_deleted,
    entries::a_first_value_creates_a_key_file_that_others_cannot_read,
    entries::a_changed_a_cut_and_a_swapped_row_are_found,
    entries::no_value_is_readable_in_the_database,
    entries::an_export_is_imported_into_another_vault,
    keys::a_passphrase_locks_and_unlocks_the_vault_for_other_processes_too,
    keys::wrong_passphrases_make_the_next_guess_wait_in_every_process,
    keys::a_passphrase_is_changed_while_another_process_works,
    keys::the_master_key_is_replaced_while_another_process_works,
    keys::of_two_processes_that_replace_the_key_at_once_none_loses_a_value,
    keys::a_lost_and_a_foreign_key_file_are_named,
    keys::a_vault_whose_key_is_lost_starts_anew_from_an_export,
    keys::guesses_that_are_made_at_once_wait_for_each_other,
    keys::a_passphrase_of_the_environment_is_tried_once,
    keys::a_locked_vault_stays_locked_for_a_process_with_the_passphrase,
    keys::a_key_file_that_is_used_again_is_not_removed_by_another_process,
    keys::only_a_lost_key_lets_a_vault_start_anew,
    keys::a_changed_a_cut_and_a_swapped_wrap_are_found,
    scrubbing::a_running_process_learns_what_others_store_and_unlock,
    recording::every_use_is_recorded_in_a_chain_that_can_be_verified,
    recording::many_uses_at_once_are_all_recorded,
    handles::a_handle_is_resolved_only_in_its_conversation,
    handles::a_handle_is_bound_to_its_place_its_agent_its_origin_and_its_time,
}
