//! Lists a caller's tasks in pages. A page begins where the last one ended, whatever was added
//! since.

use a2a::{ListTasksRequest, ListTasksResponse};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use lango_protocol::Caller;

use super::clock;
use super::tables::TaskListQuery;
use super::tasks::{Tasks, check_history, internal_error, trim_task};
use crate::wire::error::ProtocolError;

const DEFAULT_PAGE_SIZE: u32 = 50;
const MAX_PAGE_SIZE: u32 = 100;
/// Limits the size of a page; a page that reaches it ends, even with few tasks.
const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

impl Tasks {
    /// Returns a page of the caller's tasks, the latest change first.
    pub(crate) async fn list_tasks(
        &self,
        caller: &Caller,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, ProtocolError> {
        check_history(request.history_length)?;
        let size = check_page_size(request.page_size)?;
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let after = given(request.page_token).map(|token| decode_page_token(&token)).transpose()?;
        let listing = TaskListQuery {
            caller: caller.clone(),
            context: given(request.context_id),
            state: request.status.filter(|state| *state != a2a::TaskState::Unspecified),
            since: request.status_timestamp_after.map(clock::from_wire),
            after,
            limit: size + 1,
        };
        if listing.context.as_deref().is_some_and(|context| context.contains('\0')) {
            return Err(ProtocolError::invalid_field("contextId", "must not contain NUL"));
        }
        let (mut rows, total) = self.tables.list_tasks(&listing).await.map_err(internal_error)?;
        let more = rows.len() > size as usize;
        rows.truncate(size as usize);
        let mut tasks = Vec::with_capacity(rows.len());
        let artifacts = request.include_artifacts == Some(true);
        // A list is an overview: the history of a task is included only on request.
        let history = request.history_length.or(Some(0));
        let mut bytes = 0;
        for row in &rows {
            let task = trim_task(self.load_current_task(row).await?, history, artifacts);
            bytes += serde_json::to_vec(&task).map_or(0, |text| text.len());
            tasks.push(task);
            if bytes > MAX_PAGE_BYTES {
                break;
            }
        }
        let last = tasks.len().checked_sub(1).and_then(|last| rows.get(last));
        let last = last.filter(|_| more || tasks.len() < rows.len());
        let next_page_token =
            last.map(|row| encode_page_token(row.status_at, &row.id)).unwrap_or_default();
        Ok(ListTasksResponse {
            tasks,
            next_page_token,
            page_size: i32::try_from(size).unwrap_or(i32::MAX),
            total_size: i32::try_from(total).unwrap_or(i32::MAX),
        })
    }
}

/// Returns the number of tasks on a page.
pub(super) fn check_page_size(asked: Option<i32>) -> Result<u32, ProtocolError> {
    match asked.map(u32::try_from) {
        None => Ok(DEFAULT_PAGE_SIZE),
        Some(Ok(size)) if (1..=MAX_PAGE_SIZE).contains(&size) => Ok(size),
        Some(_) => {
            let rule = format!("must be between 1 and {MAX_PAGE_SIZE}");
            Err(ProtocolError::invalid_field("pageSize", rule))
        }
    }
}

/// Returns an opaque token for the position where a page ended.
fn encode_page_token(at: i64, id: &str) -> String {
    BASE64.encode(format!("{at} {id}"))
}

fn decode_page_token(token: &str) -> Result<(i64, String), ProtocolError> {
    let invalid = || ProtocolError::invalid_field("pageToken", "is not a token of this server");
    let text = BASE64.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(invalid)?;
    let (at, id) = text.split_once(' ').ok_or_else(invalid)?;
    uuid::Uuid::try_parse(id).map_err(|_| invalid())?;
    Ok((at.parse().map_err(|_| invalid())?, id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_position_and_a_made_up_one_nowhere() {
        let id = uuid::Uuid::now_v7().to_string();
        assert_eq!(decode_page_token(&encode_page_token(42, &id)), Ok((42, id)));
        for bad in ["", "!", "eA", &BASE64.encode("1 x"), &BASE64.encode("x y")] {
            assert!(decode_page_token(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pages_have_bounds() {
        assert_eq!(check_page_size(None), Ok(50));
        assert_eq!(check_page_size(Some(100)), Ok(100));
        for bad in [0, -1, 101, i32::MAX] {
            assert!(check_page_size(Some(bad)).is_err(), "{bad}");
        }
    }
}
