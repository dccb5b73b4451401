//! The nights in which clocks are set, in zones that do it differently, and leap days.

use jiff::Timestamp;
use jiff::civil::date;
use lango_schedule::Schedule;

use super::zone;

/// The moments of a schedule in a zone, between two moments.
fn between(text: &str, zone_name: &str, from: &str, to: &str) -> Vec<String> {
    let (from, to): (Timestamp, Timestamp) = (from.parse().unwrap(), to.parse().unwrap());
    let schedule = Schedule::parse(text, &zone(zone_name), from).unwrap();
    let moments = schedule.upcoming(from).take_while(|moment| *moment <= to);
    moments.map(|moment| moment.to_string()).collect()
}

#[test]
fn r20_a_time_that_does_not_exist_happens_when_the_clock_is_set() {
    // Berlin: 02:00 to 03:00 is left out on 28 March 2027, at 01:00 UTC.
    let days = between(
        "every day at 2:30",
        "Europe/Berlin",
        "2027-03-26T12:00:00Z",
        "2027-03-30T00:00:00Z",
    );
    assert_eq!(days, ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]);
    // New York: 14 March 2027, at 07:00 UTC.
    let days = between(
        "every day at 2:30",
        "America/New_York",
        "2027-03-13T00:00:00Z",
        "2027-03-16T00:00:00Z",
    );
    assert_eq!(days, ["2027-03-13T07:30:00Z", "2027-03-14T07:00:00Z", "2027-03-15T06:30:00Z"]);
    // Lord Howe: the clock goes forward by half an hour, on 3 October 2027 at 15:30 UTC of the day before.
    let days = between(
        "every day at 2:15",
        "Australia/Lord_Howe",
        "2027-10-01T12:00:00Z",
        "2027-10-03T23:00:00Z",
    );
    assert_eq!(days, ["2027-10-01T15:45:00Z", "2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"]);
}

#[test]
fn r20_a_time_that_happens_twice_happens_once() {
    // Berlin: 02:00 to 03:00 comes twice on 31 October 2027.
    let days = between(
        "every day at 2:30",
        "Europe/Berlin",
        "2027-10-29T12:00:00Z",
        "2027-11-02T00:00:00Z",
    );
    assert_eq!(days, ["2027-10-30T00:30:00Z", "2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"]);
    let days = between(
        "every day at 1:30",
        "America/New_York",
        "2027-11-06T00:00:00Z",
        "2027-11-08T12:00:00Z",
    );
    assert_eq!(days, ["2027-11-06T05:30:00Z", "2027-11-07T05:30:00Z", "2027-11-08T06:30:00Z"]);
}

#[test]
fn r20_several_times_of_a_gap_are_one_moment() {
    let moments =
        between("0,30 2,3 * * *", "Europe/Berlin", "2027-03-27T22:00:00Z", "2027-03-28T12:00:00Z");
    assert_eq!(moments, ["2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"]);
}

#[test]
fn r20_what_repeats_through_the_day_goes_by_the_clock() {
    let spring =
        between("*/30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "2027-03-28T02:00:00Z");
    assert_eq!(
        spring,
        [
            "2027-03-28T00:30:00Z",
            "2027-03-28T01:00:00Z",
            "2027-03-28T01:30:00Z",
            "2027-03-28T02:00:00Z"
        ]
    );
    let autumn =
        between("0 * * * *", "Europe/Berlin", "2027-10-30T23:30:00Z", "2027-10-31T03:00:00Z");
    assert_eq!(
        autumn,
        [
            "2027-10-31T00:00:00Z",
            "2027-10-31T01:00:00Z",
            "2027-10-31T02:00:00Z",
            "2027-10-31T03:00:00Z"
        ]
    );
}

#[test]
fn r20_intervals_go_by_real_time() {
    let moments =
        between("every 6h", "Europe/Berlin", "2027-03-27T18:00:00Z", "2027-03-28T18:00:00Z");
    assert_eq!(
        moments,
        [
            "2027-03-28T00:00:00Z",
            "2027-03-28T06:00:00Z",
            "2027-03-28T12:00:00Z",
            "2027-03-28T18:00:00Z"
        ]
    );
}

#[test]
fn r20_leap_days_happen_in_leap_years() {
    let days = between(
        "every year on 29 february at noon",
        "UTC",
        "2027-01-01T00:00:00Z",
        "2037-01-01T00:00:00Z",
    );
    assert_eq!(days, ["2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z", "2036-02-29T12:00:00Z"]);
    let last = between(
        "on the last day of the month at 23:00",
        "UTC",
        "2028-02-01T00:00:00Z",
        "2028-03-31T23:00:00Z",
    );
    assert_eq!(last, ["2028-02-29T23:00:00Z", "2028-03-31T23:00:00Z"]);
    // 2100 is no leap year.
    let days = between("0 12 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2105-01-01T00:00:00Z");
    assert_eq!(days, ["2104-02-29T12:00:00Z"]);
}

#[test]
fn r20_a_day_that_a_zone_skips_is_the_moment_at_which_it_does() {
    // Samoa left out 30 December 2011.
    let days = between(
        "every day at 9:00",
        "Pacific/Apia",
        "2011-12-29T00:00:00Z",
        "2011-12-31T23:00:00Z",
    );
    assert_eq!(
        days,
        [
            "2011-12-29T19:00:00Z",
            "2011-12-30T10:00:00Z",
            "2011-12-30T19:00:00Z",
            "2011-12-31T19:00:00Z"
        ]
    );
}

#[test]
fn r20_every_day_of_a_year_has_one_moment_in_every_zone() {
    for zone_name in [
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Seoul",
        "Africa/Casablanca",
    ] {
        for time in ["0:00", "1:30", "2:00", "2:30", "3:00", "23:59"] {
            let from: Timestamp = "2026-12-31T00:00:00Z".parse().unwrap();
            let schedule =
                Schedule::parse(&format!("every day at {time}"), &zone(zone_name), from).unwrap();
            let mut day = date(2027, 1, 1);
            let moments = schedule
                .upcoming(from)
                .skip_while(|moment| schedule.show_moment(*moment)[4..14] < *"2027-01-01");
            for moment in moments.take(365) {
                let shown = schedule.show_moment(moment);
                assert_eq!(shown[4..14], day.to_string(), "{zone_name} {time}");
                day = day.tomorrow().unwrap();
            }
        }
    }
}
