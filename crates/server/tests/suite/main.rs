//! Tests callers, conversations and keys on SQLite and on PostgreSQL, through the listener.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod callers;
mod endpoints;
mod test_server;

lango_store::on_both_engines! {
    callers::a_token_is_known_by_its_hash_and_gone_when_it_is_removed,
    callers::the_owner_has_one_token_until_a_new_one_is_wanted,
    endpoints::a_caller_is_let_in_by_its_token_and_through_its_endpoints,
    endpoints::a_conversation_goes_on_in_its_session_and_branches_begin_their_own,
    endpoints::one_key_is_one_turn,
}
