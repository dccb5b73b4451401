//! Tests payments against a real node, on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faults;
mod fetching;
mod fixture;
mod killed;
mod ledger;
mod properties;
mod relay;
mod sending;
mod shop;

lango_store::on_both_engines! {
    ledger::a_key_is_one_payment,
    ledger::limits_count_what_is_reserved_paid_or_unknown,
    ledger::of_two_processes_one_goes_on_with_a_payment,
    ledger::a_number_of_an_account_is_held_by_one_payment,
    ledger::a_row_that_was_changed_is_refused,
    properties::limits_hold_under_any_interleaving,
    properties::every_journal_reconciles_to_the_chain,
    sending::a_new_wallet_receives_and_pays,
    sending::an_order_is_paid_once_however_often_it_is_sent,
    sending::fifty_sends_at_once_pass_no_limit,
    sending::a_wallet_is_created_once,
    killed::a_process_that_is_killed_while_it_pays_pays_everything_once,
    killed::two_processes_that_are_killed_pass_no_limit_together,
}
