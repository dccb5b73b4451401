//! Nights on which clocks are set, leap days, and zones that change, as the running scheduler acts on them.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use lango_automator::{AutomatorSettings, JobBook, NewJob, Overlap};
use lango_protocol::Timestamp;
use lango_schedule::Zone;
use lango_store::DatabaseLocation;

use crate::samples::{after, new_job, open, open_with, runs, scheduler, settings};

/// Lets two schedulers act on so many occurrences of a job, and returns their moments.
async fn follow(jobs: &JobBook, new: NewJob, count: usize) -> Vec<Timestamp> {
    let job = jobs.add(NewJob { overlap: Some(Overlap::Queue), ..new }).await.unwrap();
    let (one, other) = (scheduler(jobs), scheduler(jobs));
    for _ in 0..count {
        let Some(due) = jobs.load(&job.id).await.unwrap().unwrap().next_due else { break };
        // At the moment itself, a little later, and again.
        one.fire_due(due).await.unwrap();
        other.fire_due(after(due, 1)).await.unwrap();
        one.fire_due(after(due, 2)).await.unwrap();
    }
    runs(jobs, &job.id).await.into_iter().map(|run| run.due_at).collect()
}

fn local_days(moments: &[Timestamp], zone: &str) -> Vec<jiff::civil::Date> {
    let zone = TimeZone::get(zone).unwrap();
    let day = |moment: &Timestamp| {
        let moment = jiff::Timestamp::from_microsecond(moment.as_microseconds()).unwrap();
        moment.to_zoned(zone.clone()).date()
    };
    moments.iter().map(day).collect()
}

pub(crate) async fn r20_each_night_has_one_run_in_three_zones(location: DatabaseLocation) {
    // A year has a night without the time and one with it twice in each of them; in the last one
    // clocks are set by half an hour.
    for (zone, time) in
        [("Europe/Berlin", "2:30"), ("America/New_York", "1:30"), ("Australia/Lord_Howe", "1:45")]
    {
        let jobs = open(&location).await;
        let new = NewJob {
            zone: Some(zone.to_owned()),
            ..new_job(&format!("every day at {time}"), "back up")
        };
        let moments = follow(&jobs, new, 370).await;
        let days = local_days(&moments, zone);
        assert_eq!(days.len(), 370, "{zone}");
        assert_eq!(days.iter().collect::<BTreeSet<_>>().len(), 370, "{zone}");
        for pair in days.windows(2) {
            assert_eq!(pair[0].tomorrow().unwrap(), pair[1], "{zone}");
        }
    }
}

pub(crate) async fn r20_a_leap_day_comes_in_leap_years(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let moments = follow(&jobs, new_job("0 9 29 2 *", "celebrate"), 3).await;
    let days = local_days(&moments, "UTC");
    assert_eq!(days.len(), 3, "{days:?}");
    for pair in days.windows(2) {
        assert_eq!((pair[1].month(), pair[1].day()), (2, 29));
        assert_eq!(pair[1].year() - pair[0].year(), 4, "{days:?}");
    }
}

pub(crate) async fn a_job_keeps_its_zone_when_that_of_the_machine_changes(
    location: DatabaseLocation,
) {
    let jobs = open(&location).await;
    let new =
        NewJob { zone: Some("Asia/Tokyo".to_owned()), ..new_job("every day at 9:00", "look") };
    let job = jobs.add(new).await.unwrap();
    let in_lima = AutomatorSettings { zone: Zone::find("America/Lima").unwrap(), ..settings() };
    let moved = open_with(&location, in_lima).await;
    let due = job.next_due.unwrap();
    scheduler(&moved).fire_due(after(due, 1)).await.unwrap();
    let again = moved.load(&job.id).await.unwrap().unwrap();
    assert_eq!(again.schedule.zone().name(), "Asia/Tokyo");
    assert_eq!(again.next_due, Some(after(due, 24 * 3600)));
    assert_eq!(runs(&moved, &job.id).await.len(), 1);
}
