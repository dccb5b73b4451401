//! Describes rules in words.

use jiff::tz::TimeZone;

use crate::cron::CronRule;
use crate::phrase::days::{longest_month, month_name};
use crate::rule::Rule;

/// Describes a rule. The zone is that of its times.
pub(crate) fn describe(rule: &Rule, zone: &TimeZone) -> String {
    match rule {
        Rule::Once(at) => {
            let local = at.to_zoned(zone.clone());
            format!("once, on {}", local.strftime("%A %Y-%m-%d at %H:%M"))
        }
        Rule::Every { seconds, .. } => format!("every {}", describe_seconds(*seconds)),
        Rule::Cron(rules) => {
            let texts: Vec<String> = rules.iter().map(describe_cron).collect();
            texts.join(", and ")
        }
        Rule::Days { days, first, times } => {
            let times: Vec<String> =
                times.iter().map(|time| time.strftime("%H:%M").to_string()).collect();
            format!("every {days} days at {}, from {first}", times.join(" and "))
        }
    }
}

fn describe_seconds(seconds: u64) -> String {
    for (unit, length) in [("day", 86_400), ("hour", 3600), ("minute", 60)] {
        if seconds.is_multiple_of(length) {
            let count = seconds / length;
            return if count == 1 { unit.to_owned() } else { format!("{count} {unit}s") };
        }
    }
    format!("{seconds} seconds")
}

/// The days of the week, as cron counts them.
const WEEKDAYS: [&str; 8] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Describes the common expressions in our words, and others in those of the library.
fn describe_cron(rule: &CronRule) -> String {
    let fields: Vec<&str> = rule.fields().collect();
    let [minute, hours, day, month, weekday] = fields.as_slice() else { return rule.describe() };
    let times = minute.parse::<u8>().ok().and_then(|minute| {
        let hour =
            |hour: &str| hour.parse::<u8>().ok().map(|hour| format!("{hour:02}:{minute:02}"));
        hours.split(',').map(hour).collect::<Option<Vec<String>>>()
    });
    let days = describe_days(day, month, weekday);
    if let (Some(times), Some(days)) = (times, days) {
        return format!("{days} at {}", times.join(" and "));
    }
    let text = rule.describe();
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn describe_days(day: &str, month: &str, weekday: &str) -> Option<String> {
    let numbers = |field: &str| -> Option<Vec<u8>> {
        field.split(',').map(|number| number.parse().ok()).collect()
    };
    Some(match (day, month, weekday) {
        ("*", "*", "*") => "every day".to_owned(),
        ("*", "*", "1-5") => "every weekday (Monday to Friday)".to_owned(),
        ("*", "*", days) => {
            let names: Option<Vec<&str>> =
                numbers(days)?.iter().map(|day| WEEKDAYS.get(usize::from(*day)).copied()).collect();
            format!("every {}", names?.join(" and "))
        }
        ("L", "*", "*") => "on the last day of every month".to_owned(),
        ("LW", "*", "*") => "on the last working day of every month".to_owned(),
        (days, "*", "*") => {
            let days: Vec<String> = numbers(days)?.into_iter().map(ordinal).collect();
            format!("on the {} of every month", days.join(" and "))
        }
        (days, months, "*") => {
            let (days, months) = (numbers(days)?, numbers(months)?);
            let ([day], [month]) = (days.as_slice(), months.as_slice()) else { return None };
            format!("every year on {day} {}", month_name(*month))
        }
        _ => return None,
    })
}

fn ordinal(number: u8) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Names a date of a cron expression that no year has.
pub(crate) fn missing_date(day: &str, month: &str) -> Option<String> {
    let (day, month): (u8, u8) = (day.parse().ok()?, month.parse().ok()?);
    (day > longest_month(month)).then(|| format!("{} has no day {day}", month_name(month)))
}
