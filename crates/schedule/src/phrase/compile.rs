//! Puts the parts of a phrase together to a rule.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp, ToSpan as _};

use super::days::{longest_month, month_name, weekday_of};
use super::parts::{MonthEnd, Nth, Parts, SpokenDate};
use super::token::Unit;
use crate::cron::CronRule;
use crate::rule::Rule;
use crate::{ScheduleError, Zone, wall_clock};

/// The time of a day for which none is said.
const USUAL_HOUR: i8 = 9;

/// Makes the rule that the parts mean.
pub(super) fn compile(parts: Parts, zone: &Zone, now: Timestamp) -> Result<Rule, ScheduleError> {
    let local = zone.rules().to_datetime(now);
    Compiler { times: parts.resolve_times(), parts, zone, now, local }.compile()
}

struct Compiler<'a> {
    parts: Parts,
    /// The times of day; empty if none was said.
    times: Vec<Time>,
    zone: &'a Zone,
    now: Timestamp,
    /// The present time on the clock of the zone.
    local: DateTime,
}

impl Parts {
    fn resolve_times(&self) -> Vec<Time> {
        let mut times: Vec<Time> = self.times.iter().map(|time| time.resolve(self.part)).collect();
        times.extend(self.exact_time);
        times.sort_unstable();
        times.dedup();
        if times.is_empty() {
            times.extend(self.part.map(super::days::DayPart::usual_time));
        }
        times
    }
}

impl Compiler<'_> {
    fn compile(self) -> Result<Rule, ScheduleError> {
        let parts = &self.parts;
        if let Some(moment) = parts.moment {
            return Ok(Rule::Once(moment));
        }
        if !parts.delay.is_empty() {
            return self.compile_delay();
        }
        if let Some(seconds) = parts.interval {
            return self.compile_interval(seconds);
        }
        if parts.minute.is_some() || parts.hours.is_some() {
            return Err(unclear("say how often, such as \"every 15 minutes between 9 and 17\""));
        }
        if let Some(date) = parts.exact_date {
            return self.once_on(date);
        }
        if let Some(date) = parts.date {
            return self.compile_date(date);
        }
        if let Some(days) = parts.days_ahead {
            return self.compile_days_ahead(days);
        }
        if parts.nth_weekday.is_some() || parts.month_end.is_some() {
            return self.compile_of_month();
        }
        if !parts.month_days.is_empty() {
            return self.compile_month_days();
        }
        if parts.weekdays != 0 {
            return self.compile_weekdays();
        }
        self.compile_repeat()
    }

    fn compile_delay(&self) -> Result<Rule, ScheduleError> {
        let mut at = self.now.to_zoned(self.zone.rules().clone());
        let mut is_of_days = false;
        for (count, unit) in &self.parts.delay {
            let count = i64::from(*count);
            let span = match unit {
                Unit::Second => Span::new().try_seconds(count),
                Unit::Minute => Span::new().try_minutes(count),
                Unit::Hour => Span::new().try_hours(count),
                Unit::Day => Span::new().try_days(count),
                Unit::Week => Span::new().try_weeks(count),
                Unit::Month => Span::new().try_months(count),
                Unit::Year => Span::new().try_years(count),
            };
            is_of_days |= unit.seconds().is_none();
            let too_far = |_| unclear("that is too far away");
            at = at.checked_add(span.map_err(too_far)?).map_err(too_far)?;
        }
        if self.times.is_empty() {
            return Ok(Rule::Once(at.timestamp()));
        }
        if is_of_days {
            self.once_on(at.date())
        } else {
            Err(unclear("a delay has no time of day"))
        }
    }

    /// Makes a rule of an interval: of real time, or by the clock if hours, days or minutes are said.
    fn compile_interval(&self, seconds: u64) -> Result<Rule, ScheduleError> {
        let parts = &self.parts;
        if !self.times.is_empty() {
            return Err(unclear("an interval has no time of day. Say \"every day at …\""));
        }
        if parts.hours.is_none() && parts.weekdays == 0 && parts.minute.is_none() {
            return Rule::every(seconds, self.now);
        }
        let minutes = seconds / 60;
        let (from, to) = parts.hours.map_or((0, 23), |hours| hours);
        let hours = if parts.hours.is_some() { format!("{from}-{to}") } else { "*".to_owned() };
        let minute = parts.minute.unwrap_or(0);
        let fields = match minutes {
            1..=30 if seconds.is_multiple_of(60) && 60 % minutes == 0 && parts.minute.is_none() => {
                format!("*/{minutes} {hours}")
            }
            60 => format!("{minute} {hours}"),
            _ if seconds.is_multiple_of(3600) && 24 % (seconds / 3600) == 0 => {
                format!("{minute} {hours}/{}", seconds / 3600)
            }
            _ => {
                return Err(unclear(
                    "with hours or days, an interval has 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60 \
                     minutes, or a number of hours that divides 24",
                ));
            }
        };
        cron(&[format!("{fields} * * {}", weekday_field(parts.weekdays))])
    }

    fn compile_date(&self, date: SpokenDate) -> Result<Rule, ScheduleError> {
        let SpokenDate { day, month, year } = date;
        let day = u8::try_from(day).ok().filter(|day| (1..=longest_month(month)).contains(day));
        let name = month_name(month);
        let day =
            day.ok_or_else(|| ScheduleError::Never(format!("{name} has no day {}", date.day)))?;
        if self.parts.is_recurring && year.is_none() {
            return self.cron_at(&format!("{day} {month} *"));
        }
        let (day, month) = (day.cast_signed(), month.cast_signed());
        if let Some(year) = year {
            let never = |_| ScheduleError::Never(format!("{name} {year} has no day {day}"));
            return self.once_on(Date::new(year, month, day).map_err(never)?);
        }
        // 29 February is at most eight years away.
        let years =
            (0..9).filter_map(|ahead| Date::new(self.local.year() + ahead, month, day).ok());
        self.once_on_first(years)
    }

    fn compile_days_ahead(&self, days: u32) -> Result<Rule, ScheduleError> {
        if self.parts.is_recurring {
            return Err(unclear("it says a day and \"every\". Say one of both"));
        }
        let span = Span::new().try_days(i64::from(days)).map_err(|_| unclear("that is too far"))?;
        let date = self.local.date().checked_add(span).map_err(|_| unclear("that is too far"))?;
        if days == 0 && self.times.is_empty() {
            return Err(unclear("say at what time today"));
        }
        self.once_on(date)
    }

    fn compile_of_month(&self) -> Result<Rule, ScheduleError> {
        let months = self.months()?;
        let parts = &self.parts;
        if let Some(end) = parts.month_end {
            let day = if end == MonthEnd::LastDay { "L" } else { "LW" };
            return self.cron_at(&format!("{day} {months} *"));
        }
        match parts.nth_weekday {
            Some((Nth::First(number), weekday)) => {
                self.cron_at(&format!("* {months} {weekday}#{number}"))
            }
            Some((Nth::Last, weekday)) => self.cron_at(&format!("* {months} {weekday}L")),
            None => self.compile_repeat(),
        }
    }

    fn compile_month_days(&self) -> Result<Rule, ScheduleError> {
        let mut days = self.parts.month_days.clone();
        days.sort_unstable();
        days.dedup();
        if self.parts.is_recurring || days.len() > 1 {
            let days: Vec<String> = days.iter().map(ToString::to_string).collect();
            return self.cron_at(&format!("{} {} *", days.join(","), self.months()?));
        }
        let day = days.first().and_then(|day| i8::try_from(*day).ok()).unwrap_or(1);
        let months = (0..13).filter_map(|ahead| {
            let month = self.local.date().first_of_month().checked_add(ahead.months()).ok()?;
            Date::new(month.year(), month.month(), day).ok()
        });
        self.once_on_first(months)
    }

    fn compile_weekdays(&self) -> Result<Rule, ScheduleError> {
        let parts = &self.parts;
        let weeks = match parts.repeat {
            None | Some((_, Unit::Day)) => 1,
            Some((weeks, Unit::Week)) => weeks,
            Some(_) => {
                return Err(unclear(
                    "a weekday and months. Say \"on the first Monday of each month\"",
                ));
            }
        };
        let is_single = parts.weekdays.is_power_of_two();
        if parts.is_recurring && weeks == 1 {
            return self.cron_at(&format!("* * {}", weekday_field(parts.weekdays)));
        }
        if !is_single {
            let reason = "several weekdays need \"every\": \"every Monday and Thursday at 8:00\"";
            return Err(unclear(reason));
        }
        let is_it = |date: &Date| parts.weekdays & (1 << weekday_of(*date)) != 0;
        let skipped = i32::from(parts.is_next);
        let dates =
            (skipped..15).filter_map(|ahead| self.local.date().checked_add(ahead.days()).ok());
        let mut dates = dates.filter(is_it);
        if parts.is_recurring {
            let first = self.first_to_come(dates)?;
            return Ok(Rule::Days { days: weeks * 7, first, times: self.times_or_usual() });
        }
        self.once_on_first(&mut dates)
    }

    /// Makes a rule of what has no day: "daily at 8", "every 3 days", "monthly", "at 16:30".
    fn compile_repeat(&self) -> Result<Rule, ScheduleError> {
        match self.parts.repeat {
            Some((1, Unit::Day)) => self.cron_at("* * *"),
            Some((days, Unit::Day)) => self.every_days(days),
            Some((1, Unit::Week)) => self.cron_at("* * 1"),
            Some((weeks, Unit::Week)) => {
                self.every_days(weeks.checked_mul(7).ok_or_else(|| unclear("that is too long"))?)
            }
            Some((_, Unit::Month)) => self.cron_at(&format!("1 {} *", self.months()?)),
            Some((1, Unit::Year)) => self.cron_at("1 1 *"),
            Some(_) => Err(unclear("several years apart. Add a job for each date")),
            None if self.times.is_empty() => {
                Err(unclear("it does not say when. Say a day, a time or an interval"))
            }
            None if self.parts.is_recurring => self.cron_at("* * *"),
            None => {
                let days =
                    [self.local.date(), self.local.date().tomorrow().unwrap_or(self.local.date())];
                self.once_on_first(days.into_iter())
            }
        }
    }

    fn every_days(&self, days: u32) -> Result<Rule, ScheduleError> {
        if days > 3660 {
            return Err(unclear("the interval is longer than ten years"));
        }
        let today = self.local.date();
        let first = self.first_to_come([today, today.tomorrow().unwrap_or(today)].into_iter())?;
        Ok(Rule::Days { days, first, times: self.times_or_usual() })
    }

    /// Returns the field of the months: all of them, or every second, third, ….
    fn months(&self) -> Result<String, ScheduleError> {
        match self.parts.repeat {
            Some((count @ (2 | 3 | 4 | 6), Unit::Month)) => Ok(format!("*/{count}")),
            Some((12, Unit::Month) | (1, Unit::Year)) => Ok("1".to_owned()),
            None | Some((1, Unit::Month | Unit::Day)) => Ok("*".to_owned()),
            _ => Err(unclear("months apart must divide the year: 1, 2, 3, 4, 6 or 12")),
        }
    }

    fn times_or_usual(&self) -> Vec<Time> {
        if self.times.is_empty() {
            vec![Time::constant(USUAL_HOUR, 0, 0, 0)]
        } else {
            self.times.clone()
        }
    }

    /// Makes cron expressions of the times and the fields for days, months and weekdays.
    fn cron_at(&self, days: &str) -> Result<Rule, ScheduleError> {
        let times = self.times_or_usual();
        let mut minutes: Vec<i8> = times.iter().map(|time| time.minute()).collect();
        minutes.sort_unstable();
        minutes.dedup();
        let expression = |minute: &i8| {
            let hours = times.iter().filter(|time| time.minute() == *minute);
            let hours: Vec<String> = hours.map(|time| time.hour().to_string()).collect();
            format!("{minute} {} {days}", hours.join(","))
        };
        cron(&minutes.iter().map(expression).collect::<Vec<String>>())
    }

    fn single_time(&self) -> Result<Time, ScheduleError> {
        match self.times_or_usual().as_slice() {
            [time] => Ok(*time),
            _ => {
                Err(unclear("something that happens once has one time. Say \"every\", or one time"))
            }
        }
    }

    fn moment(&self, date: Date, time: Time) -> Option<Timestamp> {
        wall_clock::resolve(self.zone.rules(), date.to_datetime(time))
    }

    fn once_on(&self, date: Date) -> Result<Rule, ScheduleError> {
        let moment = self.moment(date, self.single_time()?);
        moment.map(Rule::Once).ok_or_else(|| unclear("that is too far away"))
    }

    /// Makes a rule of the first of some dates that is still to come.
    fn once_on_first(&self, dates: impl Iterator<Item = Date>) -> Result<Rule, ScheduleError> {
        self.single_time()?;
        self.once_on(self.first_to_come(dates)?)
    }

    /// Returns the first of some dates whose last time is still to come.
    fn first_to_come(&self, mut dates: impl Iterator<Item = Date>) -> Result<Date, ScheduleError> {
        let times = self.times_or_usual();
        let is_to_come = |date: &Date| {
            let moments = times.iter().filter_map(|time| self.moment(*date, *time));
            moments.max().is_some_and(|moment| moment > self.now)
        };
        dates.find(is_to_come).ok_or_else(|| ScheduleError::Never("no such date comes".to_owned()))
    }
}

fn cron(expressions: &[String]) -> Result<Rule, ScheduleError> {
    let rules: Result<_, _> = expressions.iter().map(|text| CronRule::parse(text)).collect();
    Ok(Rule::Cron(rules?))
}

fn unclear(reason: &str) -> ScheduleError {
    ScheduleError::Unclear(reason.to_owned())
}

fn weekday_field(weekdays: u8) -> String {
    match weekdays {
        0 | 0b111_1111 => "*".to_owned(),
        super::parts::WORKING_DAYS => "1-5".to_owned(),
        _ => {
            let days = (0..7).filter(|day| weekdays & (1 << day) != 0);
            days.map(|day| day.to_string()).collect::<Vec<_>>().join(",")
        }
    }
}
