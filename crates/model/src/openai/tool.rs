//! Declares a tool for this API, and for others that adopted its format.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::ModelRequest;

/// Declares a function that the model may call.
#[derive(Serialize)]
pub(crate) struct WireTool<'a> {
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

impl<'a> WireTool<'a> {
    /// Returns the tools of a request, in its order.
    pub(crate) fn all(request: &'a ModelRequest) -> Vec<Self> {
        let tools = request.tools.iter().map(|tool| Self {
            r#type: "function",
            function: WireFunction {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.parameters,
            },
        });
        tools.collect()
    }
}
