//! Tests the known servers on both database engines.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod known_servers;

lango_store::on_both_engines! {
    known_servers::the_first_sight_is_agreed_to_and_what_differs_later_is_frozen,
    known_servers::what_was_agreed_to_is_known_to_the_next_process,
    known_servers::the_servers_of_two_projects_are_two,
    known_servers::an_entry_of_a_project_is_approved_by_its_content,
}
