//! Tests the store's contract on SQLite and on PostgreSQL, and the particularities of each.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
mod contract;
mod damage;
mod durability;
mod fixture;
mod postgres;
// The tests of this crate do not enable its feature `testing`.
#[expect(unreachable_pub, reason = "it is public in the library")]
#[path = "../../src/testing/proxy.rs"]
mod proxy;
mod samples;
mod sqlite;

/// Runs each function of the contract on both engines.
macro_rules! on_both {
    ($($module:ident::$test:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::fixture::on_sqlite(crate::contract::$module::$test).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::fixture::on_postgres(crate::contract::$module::$test).await;
            })*
        }
    };
}

on_both! {
    backups::a_backup_has_everything_and_is_restored,
    backups::a_damaged_or_newer_backup_is_refused,
    backups::a_backup_is_of_one_moment_while_others_write,
    batches::values_keep_their_type,
    batches::placeholders_may_come_in_any_order,
    batches::a_batch_is_written_whole_or_not_at_all,
    batches::an_unmet_expectation_undoes_the_batch,
    batches::a_failing_batch_does_not_take_others_with_it,
    batches::a_batch_larger_than_a_pipeline_keeps_its_order,
    batches::a_power_loss_batch_is_written,
    batches::a_batch_is_finished_when_its_caller_stops_waiting,
    batches::a_wrong_statement_is_a_bug_and_says_so,
    batches::a_closed_database_says_so,
    folds::rows_are_seen_in_order_and_not_kept,
    folds::what_is_deleted_leaves_no_trace_in_files,
    migrations::a_newer_schema_is_refused,
    migrations::two_processes_migrate_at_once,
    migrations::steps_run_once_and_in_order,
    migrations::a_failing_step_leaves_nothing,
    approvals::the_first_answer_counts,
    approvals::of_many_answers_one_counts,
    approvals::asked_again_an_answer_holds_for_the_same_thing_only,
    approvals::an_expired_question_takes_no_answer,
    claims::a_claim_is_refused_while_its_owner_lives,
    claims::a_released_session_can_be_claimed_again,
    claims::a_dead_owner_is_replaced_at_once,
    claims::a_claim_that_is_dropped_is_free_at_once,
    claims::an_owner_on_another_machine_keeps_its_lease,
    claims::an_expired_lease_can_be_taken,
    claims::a_stale_claim_is_fenced,
    claims::a_claim_writes_its_first_events_or_nothing,
    claims::a_silent_claim_is_kept_by_renewing,
    claims::of_many_claims_one_wins,
    claims::claims_in_turn_never_see_an_old_head,
    events::every_event_reads_back,
    events::a_taken_position_is_refused_whole,
    events::pages_and_turns,
    events::a_conversation_is_what_was_said,
    events::outputs_are_kept_whole,
    events::a_delta_is_not_kept,
    events::many_sessions_append_at_once,
    queue::a_queued_turn_begins_once_and_in_order,
    queue::of_many_processes_one_begins_a_queued_turn,
    queue::a_promise_is_kept_or_not_made,
    queue::promised_turns_of_dead_processes_are_listed,
    work::an_id_of_work_is_used_once,
    work::work_starts_once_however_many_try,
    work::work_waits_while_its_workspace_is_busy,
    work::a_process_sees_the_work_of_its_scope,
    work::cancelled_work_does_not_start,
    work::a_result_is_delivered_once,
    work::a_workspace_has_no_more_work_than_its_limit_however_many_start,
    work::the_work_of_one_owner_keeps_that_of_no_other_back,
    work::cancelled_work_is_found_however_much_is_open,
    redactions::words_go_from_every_text_and_events_stay,
    redactions::a_turn_that_runs_is_left_alone_until_it_ends,
    redactions::what_was_said_is_read_from_a_position,
    sessions::a_session_has_the_title_of_its_first_message,
    sessions::lists_are_latest_first,
    sessions::a_prefix_is_taken_literally,
    sessions::unfinished_turns_say_whether_they_run,
    sessions::however_a_turn_ends_it_is_not_open_any_more,
    sessions::a_deleted_session_leaves_nothing,
    sessions::a_session_in_use_is_not_deleted,
}
