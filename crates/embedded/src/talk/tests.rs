//! Tests which texts get which answer.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const TEAM: [(&str, &str); 2] =
    [("operator", "shell commands, files and skills"), ("navigator", "web pages")];

fn all_kinds() -> Vec<Kind> {
    let languages = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
        Language::Italian,
        Language::Portuguese,
    ];
    let mut kinds = vec![
        Kind::Farewell,
        Kind::Wellbeing,
        Kind::Identity,
        Kind::Abilities,
        Kind::Compliment,
        Kind::Acknowledgement,
        Kind::Joy,
        Kind::Mood,
        Kind::Complaint,
        Kind::Joke,
        Kind::Writing,
        Kind::Opinion,
        Kind::Knowledge,
        Kind::Other,
    ];
    kinds.extend(languages.map(Kind::Greeting));
    kinds.extend(languages.map(Kind::Thanks));
    kinds
}

#[test]
fn small_talk_is_told_apart() {
    for (text, kind) in [
        ("hello there", Kind::Greeting(Language::English)),
        ("Good morning!", Kind::Greeting(Language::English)),
        ("Hallo zusammen", Kind::Greeting(Language::German)),
        ("hola", Kind::Greeting(Language::Spanish)),
        ("hola, ¿qué tal?", Kind::Wellbeing),
        ("thx!!", Kind::Thanks(Language::English)),
        ("wow, that was quick. Cheers", Kind::Thanks(Language::English)),
        ("merci beaucoup", Kind::Thanks(Language::French)),
        ("Right, I'm off home. Have a good one.", Kind::Farewell),
        ("good night, talk tomorrow", Kind::Farewell),
        ("hey, how's it going?", Kind::Wellbeing),
        ("hi, who are you?", Kind::Identity),
        ("what’s your name", Kind::Identity),
        ("What can you do?", Kind::Abilities),
        ("help", Kind::Abilities),
        ("nice one", Kind::Compliment),
        ("perfect, exactly what I wanted", Kind::Compliment),
        ("got it", Kind::Acknowledgement),
        ("never mind, I found it myself", Kind::Acknowledgement),
        ("guess what, I passed my exam!!", Kind::Joy),
        ("I'm so tired", Kind::Mood),
        ("had a rough day at work", Kind::Mood),
        ("I hate you (just kidding)", Kind::Complaint),
        ("tell me a joke", Kind::Joke),
        ("write a haiku about rain", Kind::Writing),
        ("give me another word for happy", Kind::Writing),
        ("what do you think of the weather", Kind::Opinion),
        ("do you like reading?", Kind::Opinion),
        ("is 91 a prime?", Kind::Knowledge),
        ("what does \"to wing it\" mean", Kind::Knowledge),
        ("In films hackers type so fast", Kind::Other),
        ("", Kind::Other),
        ("👍", Kind::Acknowledgement),
    ] {
        assert_eq!(Kind::of(text), kind, "{text}");
    }
}

#[test]
fn what_it_can_do_is_what_this_team_can_do() {
    assert_eq!(
        reply("what can you do?", &TEAM),
        "I transfer requests to these specialists:\n\
         - operator: shell commands, files and skills\n\
         - navigator: web pages"
    );
    assert!(reply("what can you do?", &[]).ends_with("lango agents list"));
    let many = vec![("a", "b"); 50];
    assert!(reply("help", &many).ends_with("(… 30 more: lango agents list)"));
}

#[test]
fn what_it_does_not_know_it_says_and_how_to_get_more() {
    for text in
        ["why is the sky blue?", "write a poem", "tell me a joke", "what do you think of cats?"]
    {
        let said = reply(text, &TEAM);
        assert!(said.contains("the small model that is part of the program"), "{said}");
        assert!(said.contains("export ANTHROPIC_API_KEY=…"), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn what_cannot_be_done_names_the_next_thing_to_type() {
    assert_eq!(
        no_such_agent("vault", "keys, secrets and payments"),
        "That is work for the vault (keys, secrets and payments), which is not part of this team. To \
         see who is: lango agents list"
    );
    for said in [cannot_split(), needs_bigger_model()] {
        assert!(said.contains("`export ANTHROPIC_API_KEY=…`"), "{said}");
    }
}

proptest! {
    #[test]
    fn no_word_of_the_user_is_ever_repeated(text in "\\PC{0,200}") {
        // Every answer is one of the fixed ones.
        let mut possible: HashSet<String> = all_kinds().iter().map(|kind| line(*kind).to_owned()).collect();
        possible.insert(abilities(&TEAM));
        prop_assert!(possible.contains(&reply(&text, &TEAM)));
    }
}
