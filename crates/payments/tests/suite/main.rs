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
mod signers;

lango_store::on_both_engines! {
    ledger::a_key_is_one_payment,
    ledger::limits_count_what_is_reserved_paid_or_unknown,
    ledger::of_two_processes_one_goes_on_with_a_payment,
    ledger::a_number_of_an_account_is_held_by_one_payment,
    ledger::a_row_that_was_changed_is_refused,
    ledger::an_open_payment_counts_however_old_it_is,
    ledger::a_row_that_was_changed_keeps_no_other_from_being_listed,
    properties::limits_hold_under_any_interleaving,
    properties::every_journal_reconciles_to_the_chain,
    sending::a_new_wallet_receives_and_pays,
    sending::an_order_is_paid_once_however_often_it_is_sent,
    sending::fifty_sends_at_once_pass_no_limit,
    sending::a_wallet_is_created_once,
    faults::without_a_node_nothing_is_paid_and_nothing_counts,
    faults::a_transaction_that_never_arrived_is_sent_again_with_the_same_bytes,
    faults::a_transaction_whose_answer_was_lost_is_found_and_not_sent_again,
    faults::a_transaction_that_is_stuck_is_unknown_until_a_block_has_it,
    faults::a_transaction_that_the_node_dropped_is_sent_again,
    faults::a_late_receipt_is_waited_for_within_the_limit,
    faults::a_payment_of_a_block_that_vanished_is_made_again_by_the_same_transaction,
    faults::a_payment_is_confirmed_only_deep_enough,
    faults::a_number_that_another_program_took_ends_the_payment,
    faults::without_ether_for_the_fee_nothing_is_signed,
    faults::a_fee_above_the_approved_one_is_refused,
    faults::more_than_the_wallet_has_is_refused_before_it_is_signed,
    faults::a_chain_that_restarts_goes_on_and_another_one_is_refused,
    faults::a_reservation_that_no_process_goes_on_with_is_given_up,
    faults::a_payment_that_the_token_refuses_on_the_chain_fails,
    faults::ether_that_another_program_took_delays_a_payment_and_sends_none_twice,
    faults::a_node_that_ends_after_a_payment_was_sent_leaves_it_unknown,
    faults::bytes_that_were_changed_are_not_sent_and_keep_no_other_payment_back,
    fetching::a_page_is_paid_once_and_read,
    fetching::a_price_above_a_limit_is_not_paid,
    fetching::a_site_that_changes_its_terms_gets_nothing,
    fetching::a_site_that_was_paid_and_asks_again_gets_no_second_payment,
    fetching::a_payment_that_a_site_does_not_redeem_is_freed_after_its_end,
    fetching::an_address_that_may_not_be_reached_is_not_asked_for_its_price,
    killed::a_process_that_is_killed_while_it_pays_pays_everything_once,
    killed::a_process_that_is_killed_with_fifty_payments_at_once_passes_no_limit,
    killed::a_process_that_is_killed_while_it_pays_for_pages_pays_none_twice,
    signers::an_external_signer_pays_for_a_page,
    signers::what_a_lying_signer_signs_is_not_sent,
    signers::what_a_lying_signer_authorizes_is_not_presented,
    killed::two_processes_that_are_killed_pass_no_limit_together,
}
