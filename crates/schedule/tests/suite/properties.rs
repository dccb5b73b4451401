use jiff::{SignedDuration, Timestamp};
use lango_schedule::{Schedule, Zone};
use proptest::prelude::*;

use super::zone;

const WORDS: &[&str] = &[
    "every",
    "each",
    "at",
    "on",
    "the",
    "of",
    "and",
    "to",
    "in",
    "after",
    "half",
    "past",
    "quarter",
    "monday",
    "fridays",
    "weekday",
    "weekend",
    "morning",
    "night",
    "noon",
    "tomorrow",
    "tonight",
    "next",
    "last",
    "first",
    "second",
    "other",
    "day",
    "week",
    "month",
    "year",
    "hour",
    "hours",
    "minutes",
    "10m",
    "1h30m",
    "17h",
    "9:30",
    "5pm",
    "8",
    "31",
    "1st",
    "30th",
    "february",
    "2027",
    "december",
    "daily",
    "nightly",
    "hourly",
    "monthly",
    "once",
    "twice",
    "a",
    "an",
    "from",
    "between",
    "am",
    "pm",
    "2026-12-01",
    "2026-12-01T09:00",
    "working",
    "except",
    "weekends",
    "minute",
    "now",
    "*",
    "*/5",
    "0",
    "L",
    "@daily",
    "24",
    "25:61",
    "interval",
    "twenty",
    "five",
    "couple",
    "top",
];

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Seoul",
    "Pacific/Apia",
    "Asia/Kathmandu",
];

fn any_moment() -> impl Strategy<Value = Timestamp> {
    (1_700_000_000_i64..2_100_000_000).prop_map(|second| Timestamp::from_second(second).unwrap())
}

fn any_zone() -> impl Strategy<Value = Zone> {
    prop::sample::select(ZONES).prop_map(zone)
}

fn any_cron() -> impl Strategy<Value = String> {
    let minute = prop::sample::select(vec!["0", "30", "*/15", "5,35", "59"]);
    let hour = prop::sample::select(vec!["*", "2", "0-5", "1,2,3", "*/4", "23"]);
    let day = prop::sample::select(vec!["*", "1", "L", "29", "15,31"]);
    let month = prop::sample::select(vec!["*", "3", "2", "10", "*/3"]);
    let weekday = prop::sample::select(vec!["*", "0", "1-5", "1#1", "5L"]);
    (minute, hour, day, month, weekday).prop_map(|(a, b, c, d, e)| format!("{a} {b} {c} {d} {e}"))
}

fn any_schedule() -> impl Strategy<Value = String> {
    let phrases = prop::sample::select(vec![
        "every 10m",
        "every 7 hours",
        "every 3 days at 2:30",
        "every other tuesday at 2:15",
        "every day at 2:30 and 3:15",
        "on the last working day of the month at 1:00",
        "every 28 days",
        "every weekday at 2:00",
        "hourly between 1 and 4",
    ]);
    prop_oneof![any_cron(), phrases.prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,60}", now in any_moment()) {
        let _ = Schedule::parse(&text, &Zone::utc(), now);
    }

    #[test]
    fn no_order_of_words_makes_the_reader_panic(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..9),
        now in any_moment(),
        zone in any_zone(),
    ) {
        if let Ok(schedule) = Schedule::parse(&words.join(" "), &zone, now) {
            prop_assert!(schedule.next_after(now).is_some_and(|next| next > now));
            prop_assert!(!schedule.describe().is_empty());
        }
    }

    #[test]
    fn moments_come_in_order_and_each_once(
        text in any_schedule(), now in any_moment(), zone in any_zone(),
    ) {
        let schedule = Schedule::parse(&text, &zone, now).unwrap();
        let moments: Vec<Timestamp> = schedule.upcoming(now).take(12).collect();
        prop_assert!(moments.len() == 12 && moments[0] > now);
        prop_assert!(moments.windows(2).all(|pair| pair[0] < pair[1]), "{moments:?}");
    }

    #[test]
    fn the_next_moment_does_not_depend_on_when_one_looks(
        text in any_schedule(), now in any_moment(), zone in any_zone(), share in 0_i64..1000,
    ) {
        let schedule = Schedule::parse(&text, &zone, now).unwrap();
        for pair in schedule.upcoming(now).take(6).collect::<Vec<_>>().windows(2) {
            let gap = pair[1].duration_since(pair[0]).as_secs();
            let between = pair[0] + SignedDuration::from_secs((gap - 1) * share / 1000);
            prop_assert_eq!(schedule.next_after(between), Some(pair[1]));
        }
    }

    #[test]
    fn a_stored_schedule_means_the_same(
        text in any_schedule(), now in any_moment(), later in any_moment(), zone in any_zone(),
    ) {
        let schedule = Schedule::parse(&text, &zone, now).unwrap();
        let read = Schedule::read(&schedule.to_stored(), zone.name()).unwrap();
        prop_assert_eq!(read.next_after(later), schedule.next_after(later));
        prop_assert_eq!(read, schedule);
    }

    #[test]
    fn what_was_missed_is_counted(text in any_schedule(), now in any_moment(), count in 1_usize..8) {
        let schedule = Schedule::parse(&text, &Zone::utc(), now).unwrap();
        let moments: Vec<Timestamp> = schedule.upcoming(now).take(count).collect();
        let missed = schedule.missed(moments[0], moments[count - 1]);
        prop_assert_eq!(missed.last, moments[count - 1]);
        prop_assert_eq!(missed.count as usize, count);
    }
}
