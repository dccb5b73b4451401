//! Tests jobs, tasks and workflows on SQLite and on PostgreSQL. Time is given to the scheduler, so that no test
//! waits for it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod job_workflows;
mod limits;
mod nights;
mod notifications;
mod questions;
mod samples;
mod scheduling;
mod spending;
mod turns;
mod workflows;

lango_store::on_both_engines! {
    scheduling::r16_of_many_schedulers_one_acts_on_each_occurrence,
    scheduling::r18_missed_occurrences_are_left_out_or_run_once,
    scheduling::what_happens_once_is_caught_up_and_ends,
    scheduling::a_run_that_has_not_ended_keeps_the_next_one_away,
    scheduling::a_clock_that_is_set_back_repeats_nothing,
    scheduling::a_paused_job_is_left_alone_until_it_is_resumed,
    scheduling::a_removed_job_leaves_no_run_that_waits,
    scheduling::a_reminder_is_told_without_a_turn,
    scheduling::a_scheduler_acts_in_its_own_scope,
    limits::jobs_cannot_create_jobs_without_limit,
    limits::an_owner_has_so_many_jobs_and_tasks,
    limits::a_job_is_found_by_what_people_call_it,
    limits::what_cannot_be_scheduled_is_not_stored,
    nights::r20_each_night_has_one_run_in_three_zones,
    nights::r20_a_leap_day_comes_in_leap_years,
    nights::a_job_keeps_its_zone_when_that_of_the_machine_changes,
    notifications::an_end_is_told_once_however_many_look,
    notifications::a_job_says_who_is_notified_of_it,
    notifications::a_failed_delivery_waits_or_is_given_up,
    notifications::a_delivery_of_a_dead_process_is_taken_over,
    spending::a_run_ends_at_its_budget,
    spending::tokens_and_cost_count,
    spending::a_day_has_a_budget_for_all_jobs_and_processes,
    spending::tokens_of_a_call_that_ends_on_another_day_count,
    limits::what_is_old_is_removed,
    limits::a_task_for_an_agent_that_is_not_there_is_refused,
    limits::a_user_is_told_who_runs_new_work,
    limits::a_task_that_failed_is_done_anew_and_one_that_ended_is_removed,
    job_workflows::a_job_starts_its_workflow_once_and_keeps_it,
    job_workflows::a_workflow_that_is_not_there_is_refused,
    workflows::steps_run_as_parallel_as_the_graph_allows,
    workflows::of_many_engines_one_starts_each_step,
    workflows::a_list_is_done_item_by_item_within_the_limit,
    workflows::a_call_returns_typed_values_and_fails_with_its_reason,
    workflows::an_interrupted_effect_stops_the_run_for_a_person,
    workflows::a_question_holds_no_work_and_is_answered_once,
    workflows::a_failure_stops_goes_on_or_runs_a_step,
    workflows::an_agent_that_is_not_there_fails_its_step,
    workflows::a_cancelled_run_starts_nothing_more,
    workflows::a_step_that_takes_too_long_is_stopped,
    workflows::a_step_that_was_stopped_within_its_effect_is_not_tried_again,
    workflows::each_step_with_an_unknown_outcome_is_told,
    workflows::a_run_that_cannot_go_on_keeps_no_other_back,
    questions::what_is_run_and_stored_is_what_the_question_showed,
    questions::a_question_shows_the_workflows_of_its_own_owner,
    questions::a_reminder_of_a_workflow_does_not_start_it,
    workflows::workflows_are_saved_by_owner,
}
