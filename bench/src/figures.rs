//! The table of results.

use std::fmt;

/// Rows of figures with their limits.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: String,
    limit: Option<Limit>,
    median: f64,
    least: f64,
    most: f64,
}

/// The limit of a median.
#[derive(Debug, Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn is_broken_by(self, median: f64) -> bool {
        match self {
            Self::AtMost(limit) => median > limit,
            Self::AtLeast(limit) => median < limit,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "{limit}"),
            Self::AtLeast(limit) => write!(f, "≥ {limit}"),
        }
    }
}

impl Table {
    /// A cost, and what it may be at most.
    pub(crate) fn add(&mut self, what: &str, limit: Option<f64>, values: Vec<f64>) {
        self.add_row(what, limit.map(Limit::AtMost), values);
    }

    /// A rate, and what it must be at least.
    pub(crate) fn add_rate(&mut self, what: &str, floor: Option<f64>, values: Vec<f64>) {
        self.add_row(what, floor.map(Limit::AtLeast), values);
    }

    fn add_row(&mut self, what: &str, limit: Option<Limit>, mut values: Vec<f64>) {
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let last = values.len().saturating_sub(1);
        let what = what.to_owned();
        self.rows.push(Row { what, limit, median: at(last / 2), least: at(0), most: at(last) });
    }

    /// Returns whether a median is beyond its limit.
    pub(crate) fn is_over(&self) -> bool {
        self.rows.iter().any(|row| row.limit.is_some_and(|limit| limit.is_broken_by(row.median)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | least | median | most | limit |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        for row in &self.rows {
            let limit = row.limit.map_or_else(|| "–".to_owned(), |limit| format!("{limit}"));
            writeln!(
                f,
                "| {} | {:.2} | {:.2} | {:.2} | {limit} |",
                row.what, row.least, row.median, row.most
            )?;
        }
        Ok(())
    }
}
