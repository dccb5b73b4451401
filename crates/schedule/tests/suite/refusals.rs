use super::{now, parse, zone};
use lango_schedule::{Schedule, ScheduleError, Zone};

fn refusal(text: &str) -> String {
    parse(text).map_or_else(|error| error.to_string(), |schedule| panic!("{text:?}: {schedule:?}"))
}

#[test]
fn what_never_happens_is_refused_with_the_reason() {
    for (text, reason) in [
        ("on 30 February at 9:00", "February has no day 30"),
        ("yearly on 31 April", "April has no day 31"),
        ("0 0 30 2 *", "February has no day 30"),
        ("on 29 February 2027", "February 2027 has no day 29"),
        ("2026-02-30", "there is no date 2026-02-30"),
        ("every day at 25:00", "there is no time of day 25:00"),
        ("tomorrow at 13pm", "there is no time of day 13pm"),
        ("on the 32nd of each month", "no month has a day 32"),
    ] {
        assert!(refusal(text).contains(reason), "{text}: {}", refusal(text));
    }
}

#[test]
fn what_has_passed_is_refused() {
    for text in ["at 2020-01-01T09:00", "today at 8:00", "on 1 March 2024", "2026-11-18T09:20:00Z"]
    {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, ScheduleError::Past(_)), "{text}: {error}");
    }
}

#[test]
fn words_without_a_meaning_are_named() {
    for (text, word) in [
        ("every day at dusk", "dusk"),
        ("every 20 mins till Saturday", "till"),
        ("every few minutes", "few"),
        ("mañana a las 8", "mañana"),
        ("whenever you like", "whenever"),
        ("later", "later"),
    ] {
        assert!(refusal(text).contains(&format!("{word:?}")), "{text}: {}", refusal(text));
    }
}

#[test]
fn what_is_not_clear_is_refused_and_says_what_to_add() {
    for (text, hint) in [
        ("twice a day", "at which times"),
        ("today", "at what time"),
        ("monday and thursday at 8", "\"every Monday"),
        ("every day every week", "two frequencies"),
        ("at 09:00 and again at 15:00", "one time"),
        ("every 7 minutes between 9 and 17", "an interval has"),
        ("every", "does not say when"),
        ("every 5 months", "divide the year"),
        ("", "there is no schedule"),
    ] {
        assert!(refusal(text).contains(hint), "{text}: {}", refusal(text));
    }
}

#[test]
fn what_is_too_often_or_too_long_is_refused() {
    assert!(refusal("every 5 seconds").contains("shortest interval is 10 s"));
    assert!(refusal("every second").contains("shortest interval"));
    assert!(refusal("every 0 minutes").contains("never"));
    assert!(refusal(&"every ".repeat(50)).contains("longer than"));
    assert!(refusal("every 999999 hours").contains("ten years"));
}

#[test]
fn mistakes_in_cron_expressions_are_named() {
    for text in ["61 * * * *", "* * * * * *", "0 0 * * 9", "0 25 * * *"] {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, ScheduleError::Cron { .. }), "{text}: {error}");
    }
}

#[test]
fn zones_that_do_not_exist_are_refused() {
    for name in ["Europe/Atlantis", "", "../etc/passwd", &"x".repeat(100)] {
        assert!(matches!(Zone::find(name), Err(ScheduleError::Zone(_))), "{name}");
    }
}

#[test]
fn a_damaged_stored_form_is_refused() {
    for text in ["", "once", "every x", "days 0 2026-01-01 09:00:00", "cron", "never 1"] {
        assert!(Schedule::read(text, "UTC").is_err(), "{text}");
    }
    let schedule = Schedule::parse("every 10m", &zone("UTC"), now()).unwrap();
    assert!(Schedule::read(&schedule.to_stored(), "Nowhere").is_err());
}
