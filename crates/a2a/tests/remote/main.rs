//! Tests what is stored about remote agents, on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod card_server;
mod cards;
mod tasks;

lango_store::on_both_engines! {
    cards::a_fresh_card_needs_no_network,
    cards::a_card_that_is_not_fresh_is_asked_about_and_not_sent_again,
    cards::a_changed_card_waits_for_a_person_and_may_change_back,
    cards::another_address_is_another_agent,
    cards::a_card_has_to_be_signed_where_there_are_keys,
    tasks::a_question_is_kept_until_the_user_answers_and_forgotten_with_its_session,
    tasks::the_same_delegation_again_is_the_same_task,
}
