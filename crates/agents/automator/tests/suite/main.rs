//! Tests jobs and tasks on SQLite and on PostgreSQL. Time is given to the scheduler, so that no test
//! waits for it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod limits;
mod samples;
mod scheduling;

lango_store::on_both_engines! {
    scheduling::r16_of_many_schedulers_one_acts_on_each_occurrence,
    scheduling::r18_missed_occurrences_are_left_out_or_run_once,
    scheduling::what_happens_once_is_caught_up_and_ends,
    scheduling::a_run_that_has_not_ended_keeps_the_next_one_away,
    scheduling::a_clock_that_is_set_back_repeats_nothing,
    scheduling::a_paused_job_is_left_alone_until_it_is_resumed,
    scheduling::a_reminder_is_told_without_a_turn,
    scheduling::a_scheduler_acts_in_its_own_scope,
    limits::jobs_cannot_create_jobs_without_limit,
    limits::an_owner_has_so_many_jobs_and_tasks,
    limits::a_job_is_found_by_what_people_call_it,
    limits::what_cannot_be_scheduled_is_not_stored,
}
