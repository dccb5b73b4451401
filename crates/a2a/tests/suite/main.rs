//! Tests the A2A server over its public API: real HTTP on loopback, a real runtime, a scripted
//! model.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test talks to servers that it started")]

mod bindings;
mod cards;
mod credentials;
mod fixture;
mod legacy;
mod limits;
mod notifications;
mod paging;
mod repeats;
mod restart;
mod scope;
mod states;
mod streams;
mod versions;

lango_store::on_both_engines! {
    repeats::a_repeated_message_runs_once,
    repeats::a_message_that_comes_many_times_at_once_runs_once,
    repeats::a_message_is_still_known_after_a_restart,
    repeats::further_messages_of_a_task_are_recognised_too,
    scope::a_task_does_not_exist_for_another_caller,
    scope::the_same_context_name_leads_each_caller_to_its_own,
    paging::every_task_is_on_exactly_one_page,
    paging::filters_choose,
    notifications::what_happens_is_posted_in_order_with_proof,
    notifications::what_was_not_sent_is_sent_after_a_restart,
    credentials::what_proves_who_posts_is_encrypted_and_needs_an_unlocked_vault,
    credentials::plain_text_of_an_earlier_version_is_sealed_and_erased,
    credentials::an_erasure_that_failed_is_made_up_for,
    credentials::a_proof_in_another_row_is_not_sent,
    restart::a_killed_process_is_made_up_for,
    restart::an_answer_that_waited_does_not_push_out_what_ran,
}
