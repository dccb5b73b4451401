//! Memories.

use super::told;

#[test]
fn a_memory_is_stored_in_the_users_words() {
    let result = r#"{"id":"m_f2cs6d","content":"My cat is called Minka"}"#;
    let arguments = r#"{"content":"My cat is called Minka","kind":"fact"}"#;
    assert_eq!(told("memory_store", arguments, result), "I'll remember: My cat is called Minka");
    let result =
        r#"{"id":"m_f2cs6d","content":"My cat is called Minka","instead_of":["m_aaaaaa"]}"#;
    assert_eq!(
        told("memory_store", arguments, result),
        "I'll remember: My cat is called Minka\n\nIt takes the place of 1 earlier memory: `m_aaaaaa`"
    );
}

#[test]
fn memories_come_with_their_dates() {
    let result = r#"[{"id":"m_f2cs6d","kind":"fact","content":"My cat is called Minka","score":0.119,"date":"2026-11-15","from":"stored on request","session":"s"}]"#;
    assert_eq!(
        told("memory_search", r#"{"query":"cat"}"#, result),
        "1 memory that may fit `cat`, the best first:\n\n- 2026-11-15: My cat is called Minka"
    );
    assert_eq!(
        told("memory_search", r#"{"query":"cat"}"#, "There is no memory of this."),
        "There is no memory of `cat`."
    );
}

#[test]
fn what_is_forgotten_is_not_repeated() {
    let result = r#"{"forgotten":"m_f2cs6d","kind":"fact","date":"2026-11-15","memories":1,"notes":2,"places_in_conversations":1,"remark":"its words go from this conversation when this turn ends; do not repeat them"}"#;
    let told_it = told("memory_forget", r#"{"query":"Minka"}"#, result);
    assert_eq!(
        told_it,
        "Forgotten: the memory `m_f2cs6d` (fact, 2026-11-15). It also goes from 1 place in conversations."
    );
    let several = r#"{"nothing_was_forgotten":"several memories fit; ask the user which, and call again with its id","memories":[{"id":"m_a","kind":"fact","content":"A","score":0.1,"date":"2026-11-15","from":"stored on request"},{"id":"m_b","kind":"fact","content":"B","score":0.1,"date":"2026-11-14","from":"stored on request"}]}"#;
    assert_eq!(
        told("memory_forget", r#"{"query":"Minka"}"#, several),
        "Nothing was forgotten: 2 memories fit. Which one?\n\n\
         - 2026-11-15: A (`m_a`)\n- 2026-11-14: B (`m_b`)"
    );
}

#[test]
fn observations_and_reflections_are_listed() {
    assert_eq!(
        told(
            "observe_event",
            r#"{"at":"2026-11-01","content":"My cat is called Minka"}"#,
            r#"{"id":"o_5zcfmd"}"#
        ),
        "Written down for 2026-11-01, as `o_5zcfmd`: My cat is called Minka"
    );
    assert_eq!(
        told("memory_list_observations", "{}", "[]"),
        "There are no observations of this conversation."
    );
    let observations = r#"[{"id":"o_5zcfmd","date":"2026-11-01","priority":"high","content":"My cat is called Minka","extractive":false,"messages":[1]}]"#;
    assert_eq!(
        told("memory_list_observations", "{}", observations),
        "1 observation:\n\n- 2026-11-01: My cat is called Minka"
    );
    assert_eq!(
        told("observe_session", "{}", r#"{"observations":[],"new_memories":0}"#),
        "There was nothing new to observe; 0 new memories."
    );
    let reflection = r#"{"id":"r_yyb6qq","date":"2026-11-15","content":"- 2026-11-01: My cat is called Minka","generation":1,"extractive":true,"observations":["o_5zcfmd"]}"#;
    assert_eq!(
        told("reflect_summary", "{}", reflection),
        "In short (2026-11-15):\n\n> - 2026-11-01: My cat is called Minka"
    );
}
