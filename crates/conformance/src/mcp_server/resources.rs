//! The resources that the suite reads.

use rmcp::ErrorData;
use rmcp::model::{ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult};
use serde_json::json;

use super::{PICTURE, shaped};

pub(super) fn list() -> Result<ListResourcesResult, ErrorData> {
    let resource = |uri: &str, kind: &str| json!({ "uri": uri, "name": uri, "description": "For the suite.", "mimeType": kind });
    shaped(json!({ "resources": [
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource("test://watched-resource", "text/plain"),
    ] }))
}

pub(super) fn templates() -> Result<ListResourceTemplatesResult, ErrorData> {
    shaped(json!({ "resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data", "name": "template",
        "description": "For the suite.", "mimeType": "application/json",
    }] }))
}

pub(super) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        (_, Some(id)) => {
            let text = json!({
                "id": id, "templateTest": true, "data": format!("Data for ID: {id}"),
            });
            json!({ "uri": uri, "mimeType": "application/json", "text": text.to_string() })
        }
        ("test://static-text", _) => json!({
            "uri": uri, "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        ("test://watched-resource", _) => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "It does not change." })
        }
        ("test://static-binary", _) => {
            json!({ "uri": uri, "mimeType": "image/png", "blob": PICTURE })
        }
        _ => return Err(ErrorData::resource_not_found("there is no such resource", None)),
    };
    shaped(json!({ "contents": [content] }))
}
