//! Tests properties that hold for every text.

use proptest::prelude::*;

use super::generate::{any_text, composition};
use lango_shell_command::read_command;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn no_text_is_too_much(text in prop_oneof!["\\PC{0,120}", any_text()]) {
        let reading = read_command(&text);
        // The kept text is limited as well.
        let words = reading.steps.iter().flat_map(|step| &step.words);
        prop_assert!(words.map(String::len).sum::<usize>() <= 40 * text.len());
    }

    #[test]
    fn every_command_of_a_composition_is_a_step(composed in composition(true)) {
        let reading = read_command(&composed.text);
        for command in &composed.commands {
            let found = reading.steps.iter().any(|step| {
                step.words.windows(command.len()).any(|words| words == command)
            });
            prop_assert!(found, "{:?} is not in {:?}", command, reading);
        }
    }

    #[test]
    fn a_composition_without_expansions_is_readable(composed in composition(false)) {
        prop_assert_eq!(read_command(&composed.text).unreadable, None, "{}", composed.text);
    }
}
