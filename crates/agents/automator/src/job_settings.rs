//! Finds jobs by what belongs to them, and changes their settings.

use lango_store::Statement;

use crate::job::{COLUMNS, Job, read_jobs, write_setting};
use crate::{AutomatorError, JobBook, NotificationRoutes, SpendLimits};

/// Settings of a job that are to be changed. What is absent stays.
#[derive(Debug, Clone, Default)]
pub struct JobChange {
    /// Who is notified; the inner none is what the configuration says.
    pub notify: Option<Option<NotificationRoutes>>,
    /// What each run may spend; the inner none is what the configuration says.
    pub budget: Option<Option<SpendLimits>>,
}

impl JobBook {
    /// Returns a job by its id.
    pub async fn load(&self, id: &str) -> Result<Option<Job>, AutomatorError> {
        let statement =
            Statement::new(format!("SELECT {COLUMNS} FROM jobs WHERE id = $1")).bind(id);
        Ok(read_jobs(&self.database.query(statement).await?)?.pop())
    }

    /// Returns the job that started a run of a workflow, if a job did and is still there.
    pub(crate) async fn load_job_of_run(&self, run: &str) -> Result<Option<Job>, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM jobs WHERE id = (SELECT job FROM workflow_runs WHERE id = $1)"
        ))
        .bind(run);
        Ok(read_jobs(&self.database.query(statement).await?)?.pop())
    }

    /// Changes settings of a job. Returns it as it is then.
    pub async fn change(&self, job: &Job, change: JobChange) -> Result<Job, AutomatorError> {
        let mut job = job.clone();
        if let Some(routes) = change.notify {
            if let Some(routes) = &routes {
                routes.check(&self.settings.channels)?;
            }
            job.notify = routes;
        }
        if let Some(budget) = change.budget {
            job.budget = budget.filter(|budget| !budget.is_empty());
        }
        let statement = Statement::new("UPDATE jobs SET notify = $2, budget = $3 WHERE id = $1")
            .bind(job.id.as_str())
            .bind(write_setting(job.notify.as_ref())?)
            .bind(write_setting(job.budget.as_ref())?);
        self.database.write(statement.into()).await?;
        Ok(job)
    }
}
