use super::*;

#[test]
fn times_that_never_come_are_found() {
    for (text, found) in [
        ("set a reminder for 25:00 to go to sleep", "25:00"),
        ("remind me at 12:75", "12:75"),
        ("remind me on 31 February to pay", "31"),
        ("every year on the 31st of April at 9", "31st"),
        ("on June 31 at 8:00", "31"),
        ("at 26 o'clock", "26"),
    ] {
        assert_eq!(find_impossible_time(text), Some(found), "{text}");
    }
    for text in [
        "every day at 08:30",
        "at 24:00",
        "on 29 February",
        "on 31 May at 17:00",
        "in 90 minutes",
        "at 9 am",
        "ratio 16:9",
        "on the 31st",
        "may 24 boats come",
        "12 of 31 march on",
    ] {
        assert_eq!(find_impossible_time(text), None, "{text}");
    }
}
