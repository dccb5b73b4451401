//! Loads the values that the templates of a step name.

use lango_store::Statement;
use lango_workflow::{Step, StepResult, Values};
use serde_json::Value;

use super::advance::Advance;
use super::step::{StepState, WHOLE};
use crate::AutomatorError;

/// Returns an item of the list of a step.
pub(super) fn find_item(step: &Step, values: &Values, item: i64) -> Result<Value, AutomatorError> {
    let items = match &step.for_each {
        Some(items) => items.render(values)?,
        None => Value::Null,
    };
    let index = usize::try_from(item).unwrap_or(usize::MAX);
    Ok(items.get(index).cloned().unwrap_or(Value::Null))
}

impl Advance<'_> {
    /// Returns the values of these steps, and the inputs.
    pub(super) async fn load_values(&mut self, steps: Vec<&str>) -> Result<Values, AutomatorError> {
        let mut values = Values { inputs: self.run.inputs.clone(), ..Values::default() };
        for id in steps {
            let Some(position) = self.definition.find_step(id) else { continue };
            let row = &self.rows[&(position, WHOLE)];
            let error = (row.state == StepState::Failed).then(|| row.reason.clone());
            let state = row.state.as_str();
            let output = self.load_output((position, WHOLE)).await?;
            values.steps.insert(id.to_owned(), StepResult { state, output, error });
        }
        Ok(values)
    }

    pub(super) async fn load_output(&self, key: (usize, i64)) -> Result<Value, AutomatorError> {
        let Some(row) = self.rows.get(&key) else { return Ok(Value::Null) };
        if let Some(output) = &row.new_output {
            return Ok(output.clone());
        }
        if row.is_new {
            return Ok(Value::Null);
        }
        let statement = Statement::new(
            "SELECT output FROM workflow_steps WHERE run = $1 AND position = $2 AND item = $3",
        )
        .bind(self.run.id.as_str())
        .bind(i64::try_from(key.0).unwrap_or(i64::MAX))
        .bind(key.1);
        let rows = self.workflows.jobs.database.query(statement).await?;
        let text = rows.first().map_or(Ok(""), |row| row.text(0))?;
        Ok(serde_json::from_str(text).unwrap_or(Value::Null))
    }
}
