use super::{next, now, parse, zone};
use lango_schedule::{Schedule, Zone};

/// Checks the first moments of phrases.
fn check(cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        match parse(text) {
            Ok(_) => {
                let found = next(text, expected.len());
                if found != *expected {
                    wrong.push(format!("{text:?}: {found:?} instead of {expected:?}"));
                }
            }
            Err(error) => wrong.push(format!("{text:?}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cron_expressions_are_read() {
    check(&[
        ("*/15 * * * *", &["Wed 2026-11-18 10:30", "Wed 2026-11-18 10:45"]),
        ("0 6 * * 1-5", &["Thu 2026-11-19 06:00", "Fri 2026-11-20 06:00", "Mon 2026-11-23 06:00"]),
        ("cron 0 4 * * 0", &["Sun 2026-11-22 04:00"]),
        ("30 1 * * SUN", &["Sun 2026-11-22 01:30"]),
        ("@daily", &["Thu 2026-11-19 00:00"]),
        ("0 9 L * *", &["Mon 2026-11-30 09:00", "Thu 2026-12-31 09:00"]),
        ("0 0 29 2 *", &["Tue 2028-02-29 00:00", "Sun 2032-02-29 00:00"]),
    ]);
}

#[test]
fn intervals_are_read() {
    check(&[
        ("every 10m", &["Wed 2026-11-18 10:30", "Wed 2026-11-18 10:40"]),
        ("every two hours", &["Wed 2026-11-18 12:20", "Wed 2026-11-18 14:20"]),
        ("Every five minutes", &["Wed 2026-11-18 10:25"]),
        ("every 1h30m", &["Wed 2026-11-18 11:50"]),
        ("Each 90 minutes", &["Wed 2026-11-18 11:50"]),
        ("every half hour", &["Wed 2026-11-18 10:50"]),
        ("every couple of minutes", &["Wed 2026-11-18 10:22"]),
        ("hourly", &["Wed 2026-11-18 11:20"]),
        ("interval 1h", &["Wed 2026-11-18 11:20"]),
        ("at 5-minute intervals", &["Wed 2026-11-18 10:25"]),
        ("every 30 seconds", &["Wed 2026-11-18 10:20", "Wed 2026-11-18 10:21"]),
        ("every twenty-five minutes", &["Wed 2026-11-18 10:45"]),
        ("every other hour", &["Wed 2026-11-18 12:20"]),
        ("hourly between 9 and 17", &["Wed 2026-11-18 11:00"]),
        ("quarter-hourly during office hours", &["Wed 2026-11-18 10:30"]),
        ("hourly, at minute 5", &["Wed 2026-11-18 11:05"]),
        ("at the top of every hour", &["Wed 2026-11-18 11:00"]),
        ("every 15 minutes on weekdays", &["Wed 2026-11-18 10:30"]),
    ]);
}

#[test]
fn moments_are_read() {
    check(&[
        ("at 2026-12-01T09:00", &["Tue 2026-12-01 09:00"]),
        ("2026-12-01T09:00:00Z", &["Tue 2026-12-01 10:00"]),
        ("on 2026-12-14 at 18:15", &["Mon 2026-12-14 18:15"]),
        ("tomorrow at noon", &["Thu 2026-11-19 12:00"]),
        ("in 40 minutes", &["Wed 2026-11-18 11:00"]),
        ("next friday at 5pm", &["Fri 2026-11-20 17:00"]),
        ("next wednesday at 17:00", &["Wed 2026-11-25 17:00"]),
        ("friday 4pm", &["Fri 2026-11-20 16:00"]),
        ("wednesday at 9", &["Wed 2026-11-25 09:00"]),
        ("wednesday at 11", &["Wed 2026-11-18 11:00"]),
        ("In twenty minutes", &["Wed 2026-11-18 10:40"]),
        ("in 2h", &["Wed 2026-11-18 12:20"]),
        ("in half an hour", &["Wed 2026-11-18 10:50"]),
        ("in a quarter of an hour", &["Wed 2026-11-18 10:35"]),
        ("after 30 minute", &["Wed 2026-11-18 10:50"]),
        ("30 minutes after", &["Wed 2026-11-18 10:50"]),
        ("25 minutes", &["Wed 2026-11-18 10:45"]),
        ("2 hours from now", &["Wed 2026-11-18 12:20"]),
        ("a week from today", &["Wed 2026-11-25 10:20"]),
        ("in 3 days at 8:00", &["Sat 2026-11-21 08:00"]),
        ("tomorrow morning at ten", &["Thu 2026-11-19 10:00"]),
        ("tomorrow morning", &["Thu 2026-11-19 08:00"]),
        ("at 7 tomorrow", &["Thu 2026-11-19 07:00"]),
        ("2moro at 8am", &["Thu 2026-11-19 08:00"]),
        ("day after tomorrow 10:00", &["Fri 2026-11-20 10:00"]),
        ("this afternoon at 4", &["Wed 2026-11-18 16:00"]),
        ("this afternoon at 16h", &["Wed 2026-11-18 16:00"]),
        ("once, tonight at 23:30", &["Wed 2026-11-18 23:30"]),
        ("tonight at 8", &["Wed 2026-11-18 20:00"]),
        ("15:00 today", &["Wed 2026-11-18 15:00"]),
        ("at 16:30", &["Wed 2026-11-18 16:30"]),
        ("at 8", &["Thu 2026-11-19 08:00"]),
        ("6pm", &["Wed 2026-11-18 18:00"]),
        ("at midnight", &["Thu 2026-11-19 00:00"]),
        ("thursday 2pm", &["Thu 2026-11-19 14:00"]),
        ("On Saturday at half past three", &["Sat 2026-11-21 03:30"]),
        ("Next Thursday, quarter to three", &["Thu 2026-11-19 02:45"]),
        ("on 24 December at noon", &["Thu 2026-12-24 12:00"]),
        ("on the 1st of December at 10 in the morning", &["Tue 2026-12-01 10:00"]),
        ("December 24th at 6 in the evening", &["Thu 2026-12-24 18:00"]),
        ("on 1 March 2027", &["Mon 2027-03-01 09:00"]),
        ("2 March", &["Tue 2027-03-02 09:00"]),
        ("on 29 february at 9:00", &["Tue 2028-02-29 09:00"]),
        ("on the 25th", &["Wed 2026-11-25 09:00"]),
        ("2027-02-11 09:00", &["Thu 2027-02-11 09:00"]),
    ]);
}

#[test]
fn recurring_phrases_are_read() {
    check(&[
        (
            "every weekday at 9:00",
            &["Thu 2026-11-19 09:00", "Fri 2026-11-20 09:00", "Mon 2026-11-23 09:00"],
        ),
        ("nightly at half past two", &["Thu 2026-11-19 02:30", "Fri 2026-11-20 02:30"]),
        ("every monday and thursday at 8", &["Thu 2026-11-19 08:00", "Mon 2026-11-23 08:00"]),
        ("on the 1st of each month at 6am", &["Tue 2026-12-01 06:00", "Fri 2027-01-01 06:00"]),
        ("every night at 2", &["Thu 2026-11-19 02:00"]),
        ("every sunday 03:00", &["Sun 2026-11-22 03:00"]),
        ("every friday afternoon at 4", &["Fri 2026-11-20 16:00", "Fri 2026-11-27 16:00"]),
        ("every monday 8:30", &["Mon 2026-11-23 08:30"]),
        ("On the 25th of each month at 16:00", &["Wed 2026-11-25 16:00", "Fri 2026-12-25 16:00"]),
        ("each day at 20:00", &["Wed 2026-11-18 20:00", "Thu 2026-11-19 20:00"]),
        ("every monday 9am", &["Mon 2026-11-23 09:00"]),
        ("every evening at 9", &["Wed 2026-11-18 21:00"]),
        ("every evening at eight", &["Wed 2026-11-18 20:00"]),
        ("5:50, every single day", &["Thu 2026-11-19 05:50"]),
        ("in the morning, half past six, daily", &["Thu 2026-11-19 06:30"]),
        ("3.20pm Monday-Friday", &["Wed 2026-11-18 15:20"]),
        ("Monday to Thursday at ten to nine", &["Thu 2026-11-19 08:50", "Mon 2026-11-23 08:50"]),
        ("at 12:30 from Monday till Friday", &["Wed 2026-11-18 12:30"]),
        ("mondays 8am", &["Mon 2026-11-23 08:00"]),
        ("weekdays 08:50", &["Thu 2026-11-19 08:50"]),
        ("on weekends at 11", &["Sat 2026-11-21 11:00", "Sun 2026-11-22 11:00"]),
        ("every night except weekends at 1:30am", &["Thu 2026-11-19 01:30"]),
        (
            "At 08:00 on the first Monday of each month",
            &["Mon 2026-12-07 08:00", "Mon 2027-01-04 08:00"],
        ),
        ("every second Friday of the month at 13:00", &["Fri 2026-12-11 13:00"]),
        (
            "on the last friday of the month at 17:00",
            &["Fri 2026-11-27 17:00", "Fri 2026-12-25 17:00"],
        ),
        ("on the last working day of the month", &["Mon 2026-11-30 09:00", "Thu 2026-12-31 09:00"]),
        ("Every other Tuesday", &["Tue 2026-11-24 09:00", "Tue 2026-12-08 09:00"]),
        ("alternate Wednesdays at 2pm", &["Wed 2026-11-18 14:00", "Wed 2026-12-02 14:00"]),
        ("every 3 days", &["Thu 2026-11-19 09:00", "Sun 2026-11-22 09:00"]),
        ("every 3 days at 18:00", &["Wed 2026-11-18 18:00", "Sat 2026-11-21 18:00"]),
        ("once a fortnight", &["Thu 2026-11-19 09:00", "Thu 2026-12-03 09:00"]),
        ("all 14 days", &["Thu 2026-11-19 09:00", "Thu 2026-12-03 09:00"]),
        ("at 6:00 and 18:00 daily", &["Wed 2026-11-18 18:00", "Thu 2026-11-19 06:00"]),
        ("every day at 6:30 and 18:00", &["Wed 2026-11-18 18:00", "Thu 2026-11-19 06:30"]),
        ("on the 1st and 15th at 04:00", &["Tue 2026-12-01 04:00", "Tue 2026-12-15 04:00"]),
        ("every month on the 10th", &["Thu 2026-12-10 09:00"]),
        ("yearly on 3 May", &["Mon 2027-05-03 09:00", "Wed 2028-05-03 09:00"]),
        ("every 6 months", &["Fri 2027-01-01 09:00", "Thu 2027-07-01 09:00"]),
        ("weekly, Sunday 23:00", &["Sun 2026-11-22 23:00"]),
        ("weekly on tuesday 10:00", &["Tue 2026-11-24 10:00"]),
        ("weekly, Monday nights", &["Mon 2026-11-23 22:00"]),
        ("on Thursday nights at half eight", &["Thu 2026-11-19 20:30"]),
        ("every weekday at six thirty", &["Thu 2026-11-19 06:30"]),
        ("every friday at 17h", &["Fri 2026-11-20 17:00"]),
        ("evenings around nine", &["Wed 2026-11-18 21:00"]),
        ("each first of month", &["Tue 2026-12-01 09:00"]),
        ("at quarter past four each morning", &["Thu 2026-11-19 04:15"]),
        ("@hourly", &["Wed 2026-11-18 11:00"]),
    ]);
}

#[test]
fn a_phrase_means_the_time_of_its_zone() {
    let text = "every day at 9:00";
    let in_zone =
        |zone: &Zone| Schedule::parse(text, zone, now()).unwrap().next_after(now()).unwrap();
    assert_eq!(in_zone(&zone("Seoul")).to_string(), "2026-11-19T00:00:00Z");
    assert_eq!(in_zone(&zone("america/new_york")).to_string(), "2026-11-18T14:00:00Z");
    assert_eq!(in_zone(&Zone::utc()).to_string(), "2026-11-19T09:00:00Z");
    assert_eq!(zone("Seoul").name(), "Asia/Seoul");
}

#[test]
fn a_schedule_is_described_in_plain_words() {
    let cases = [
        ("every weekday at 9:00", "every weekday (Monday to Friday) at 09:00"),
        ("nightly at half past two", "every day at 02:30"),
        ("0 8 * * 1,4", "every Monday and Thursday at 08:00"),
        ("on the 1st of each month at 6am", "on the 1st of every month at 06:00"),
        ("every 10m", "every 10 minutes"),
        ("every 2h", "every 2 hours"),
        ("every other tuesday", "every 14 days at 09:00, from 2026-11-24"),
        ("tomorrow at noon", "once, on Thursday 2026-11-19 at 12:00"),
        ("yearly on 3 May at 8", "every year on 3 May at 08:00"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).unwrap().describe(), expected, "{text}");
    }
}
