//! Tests which texts get which answer.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const TEAM: [(&str, &str); 2] =
    [("operator", "shell commands, files and skills"), ("navigator", "web pages")];

fn all_kinds() -> Vec<SmallTalkKind> {
    let languages = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
        Language::Italian,
        Language::Portuguese,
    ];
    let mut kinds = vec![
        SmallTalkKind::Farewell,
        SmallTalkKind::Wellbeing,
        SmallTalkKind::Identity,
        SmallTalkKind::Abilities,
        SmallTalkKind::Compliment,
        SmallTalkKind::Acknowledgement,
        SmallTalkKind::Joy,
        SmallTalkKind::Mood,
        SmallTalkKind::Complaint,
        SmallTalkKind::Joke,
        SmallTalkKind::Writing,
        SmallTalkKind::Opinion,
        SmallTalkKind::Knowledge,
        SmallTalkKind::Statement,
        SmallTalkKind::Other,
    ];
    kinds.extend(languages.map(SmallTalkKind::Greeting));
    kinds.extend(languages.map(SmallTalkKind::Thanks));
    kinds
}

#[test]
fn small_talk_is_told_apart() {
    for (text, kind) in [
        ("hello there", SmallTalkKind::Greeting(Language::English)),
        ("Good morning!", SmallTalkKind::Greeting(Language::English)),
        ("Hallo zusammen", SmallTalkKind::Greeting(Language::German)),
        ("hola", SmallTalkKind::Greeting(Language::Spanish)),
        ("hola, ¿qué tal?", SmallTalkKind::Wellbeing),
        ("thx!!", SmallTalkKind::Thanks(Language::English)),
        ("wow, that was quick. Cheers", SmallTalkKind::Thanks(Language::English)),
        ("merci beaucoup", SmallTalkKind::Thanks(Language::French)),
        ("Right, I'm off home. Have a good one.", SmallTalkKind::Farewell),
        ("good night, talk tomorrow", SmallTalkKind::Farewell),
        ("hey, how's it going?", SmallTalkKind::Wellbeing),
        ("hi, who are you?", SmallTalkKind::Identity),
        ("what’s your name", SmallTalkKind::Identity),
        ("What can you do?", SmallTalkKind::Abilities),
        ("help", SmallTalkKind::Abilities),
        ("nice one", SmallTalkKind::Compliment),
        ("perfect, exactly what I wanted", SmallTalkKind::Compliment),
        ("got it", SmallTalkKind::Acknowledgement),
        ("never mind, I found it myself", SmallTalkKind::Acknowledgement),
        ("guess what, I passed my exam!!", SmallTalkKind::Joy),
        ("I'm so tired", SmallTalkKind::Mood),
        ("had a rough day at work", SmallTalkKind::Mood),
        ("I hate you (just kidding)", SmallTalkKind::Complaint),
        ("tell me a joke", SmallTalkKind::Joke),
        ("write a haiku about rain", SmallTalkKind::Writing),
        ("give me another word for happy", SmallTalkKind::Writing),
        ("what do you think of the weather", SmallTalkKind::Opinion),
        ("do you like reading?", SmallTalkKind::Opinion),
        ("is 91 a prime?", SmallTalkKind::Knowledge),
        ("what does \"to wing it\" mean", SmallTalkKind::Knowledge),
        ("In films hackers type so fast", SmallTalkKind::Other),
        ("", SmallTalkKind::Other),
        ("👍", SmallTalkKind::Acknowledgement),
    ] {
        assert_eq!(SmallTalkKind::of(text), kind, "{text}");
    }
}

#[test]
fn what_it_can_do_is_what_this_team_can_do() {
    assert_eq!(
        answer_small_talk("what can you do?", &TEAM),
        "I transfer requests to these specialists:\n\
         - operator: shell commands, files and skills\n\
         - navigator: web pages"
    );
    assert!(answer_small_talk("what can you do?", &[]).ends_with("lango agents list"));
    let many = vec![("a", "b"); 50];
    assert!(answer_small_talk("help", &many).ends_with("(… 30 more: lango agents list)"));
}

#[test]
fn what_it_does_not_know_it_says_and_how_to_get_more() {
    for text in
        ["why is the sky blue?", "write a poem", "tell me a joke", "what do you think of cats?"]
    {
        let said = answer_small_talk(text, &TEAM);
        assert!(said.contains("the small model that is part of the program"), "{said}");
        assert!(said.contains("export ANTHROPIC_API_KEY=…"), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn what_cannot_be_done_names_the_next_thing_to_type() {
    assert_eq!(
        describe_missing_agent("vault", "keys, secrets and payments"),
        "I cannot do that: it is work for the vault (keys, secrets and payments), which is not part of \
         this team. To see who is: lango agents list"
    );
    for said in [cannot_split_line(), needs_bigger_model()] {
        assert!(said.contains("`export ANTHROPIC_API_KEY=…`"), "{said}");
    }
}

proptest! {
    #[test]
    fn no_word_of_the_user_is_ever_repeated(text in "\\PC{0,200}") {
        // Every answer is one of the fixed ones.
        let mut possible: HashSet<String> = all_kinds().iter().map(|kind| canned_line(*kind).to_owned()).collect();
        possible.insert(describe_abilities(&TEAM));
        prop_assert!(possible.contains(&answer_small_talk(&text, &TEAM)));
    }
}
