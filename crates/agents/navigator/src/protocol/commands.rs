//! Declares the commands that are used, and the parts of their answers that are read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Command;

/// Represents an answer without content.
#[derive(Debug, Deserialize)]
pub(crate) struct EmptyReply {}

/// Declares commands: fields in, a method, a reply.
macro_rules! commands {
    ($($method:literal => $name:ident { $($field:ident: $type:ty),* $(,)? } -> $reply:ty;)*) => {$(
        #[derive(Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name {
            $(
                #[serde(skip_serializing_if = "is_absent")]
                pub(crate) $field: $type,
            )*
        }

        impl Command for $name {
            const METHOD: &'static str = $method;
            type Reply = $reply;
        }
    )*};
}

/// Tells whether a parameter is left out: an option without a value.
fn is_absent<T: Serialize>(value: &T) -> bool {
    // The protocol refuses `null` for an absent parameter.
    matches!(serde_json::to_value(value), Ok(Value::Null))
}

commands! {
    "Browser.getVersion" => GetVersion {} -> EmptyReply;
    "Browser.close" => CloseBrowser {} -> EmptyReply;
    "Browser.setDownloadBehavior" => SetDownloadBehavior {
        behavior: &'static str, download_path: String, events_enabled: bool,
    } -> EmptyReply;
    "Browser.cancelDownload" => CancelDownload { guid: String } -> EmptyReply;
    "Target.setDiscoverTargets" => SetDiscoverTargets { discover: bool } -> EmptyReply;
    "Target.createTarget" => CreateTarget { url: String } -> EmptyReply;
    "Target.closeTarget" => CloseTarget { target_id: String } -> EmptyReply;
    "Target.setAutoAttach" => SetAutoAttach {
        auto_attach: bool, wait_for_debugger_on_start: bool, flatten: bool,
        filter: Vec<TargetFilter>,
    } -> EmptyReply;
    "Fetch.enable" => EnableFetch {
        handle_auth_requests: bool, patterns: Option<Vec<RequestPattern>>,
    } -> EmptyReply;
    "Fetch.failRequest" => FailRequest {
        request_id: String, error_reason: &'static str,
    } -> EmptyReply;
    "Fetch.disable" => DisableFetch {} -> EmptyReply;
    "Fetch.continueRequest" => ContinueRequest { request_id: String } -> EmptyReply;
    "Fetch.continueWithAuth" => ContinueWithAuth {
        request_id: String, auth_challenge_response: AuthResponse,
    } -> EmptyReply;
    "Page.enable" => EnablePage {} -> EmptyReply;
    "Page.setLifecycleEventsEnabled" => SetLifecycleEvents { enabled: bool } -> EmptyReply;
    "Page.setInterceptFileChooserDialog" => InterceptFileChooser { enabled: bool } -> EmptyReply;
    "Page.navigate" => Navigate { url: String } -> NavigationResult;
    "Page.stopLoading" => StopLoading {} -> EmptyReply;
    "Page.crash" => CrashPage {} -> EmptyReply;
    "Page.getFrameTree" => GetFrameTree {} -> FrameTreeReply;
    "Page.createIsolatedWorld" => CreateIsolatedWorld { frame_id: String, world_name: &'static str }
        -> CreatedWorld;
    "Page.getNavigationHistory" => GetNavigationHistory {} -> NavigationHistory;
    "Page.navigateToHistoryEntry" => NavigateToHistoryEntry { entry_id: i64 } -> EmptyReply;
    "Page.resetNavigationHistory" => ResetNavigationHistory {} -> EmptyReply;
    "Page.handleJavaScriptDialog" => HandleDialog { accept: bool } -> EmptyReply;
    "Page.captureScreenshot" => CaptureScreenshot {
        format: &'static str, capture_beyond_viewport: bool, clip: Option<Clip>,
    } -> Screenshot;
    "Page.getLayoutMetrics" => GetLayoutMetrics {} -> LayoutMetrics;
    "Runtime.runIfWaitingForDebugger" => RunIfWaiting {} -> EmptyReply;
    "Runtime.terminateExecution" => TerminateExecution {} -> EmptyReply;
    "Runtime.callFunctionOn" => CallFunctionOn {
        function_declaration: String, object_id: Option<String>, execution_context_id: Option<i64>,
        arguments: Vec<CallArgument>, return_by_value: bool, await_promise: bool,
    } -> EvaluationResult;
    "Runtime.getProperties" => GetProperties { object_id: String, own_properties: bool } -> Properties;
    "DOM.describeNode" => DescribeNode { object_id: String } -> DescribedNode;
    "DOM.resolveNode" => ResolveNode { backend_node_id: i64, execution_context_id: Option<i64> }
        -> ResolvedNode;
    "DOM.getContentQuads" => GetContentQuads { backend_node_id: i64 } -> ContentQuads;
    "DOM.getFrameOwner" => GetFrameOwner { frame_id: String } -> FrameOwner;
    "Accessibility.getFullAXTree" => GetFullTree { frame_id: String } -> AccessibilityTree;
    "Input.dispatchMouseEvent" => MouseEvent {
        r#type: &'static str, x: f64, y: f64, button: &'static str, buttons: u8, click_count: u8,
    } -> EmptyReply;
    "Input.dispatchKeyEvent" => KeyEvent {
        r#type: &'static str, key: Option<String>, code: Option<&'static str>,
        text: Option<String>, windows_virtual_key_code: Option<u32>, modifiers: Option<u8>,
    } -> EmptyReply;
    "Input.insertText" => InsertText { text: String } -> EmptyReply;
}

#[derive(Debug, Serialize)]
pub(crate) struct TargetFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r#type: Option<&'static str>,
    pub(crate) exclude: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPattern {
    pub(crate) resource_type: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthResponse {
    pub(crate) response: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CallArgument {
    pub(crate) value: Value,
}

#[derive(Debug, Serialize)]
pub(crate) struct Clip {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) scale: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetInfo {
    pub(crate) target_id: String,
    pub(crate) r#type: String,
    pub(crate) title: String,
    pub(crate) url: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NavigationResult {
    pub(crate) loader_id: Option<String>,
    pub(crate) error_text: Option<String>,
    #[serde(default)]
    pub(crate) is_download: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameTreeReply {
    pub(crate) frame_tree: FrameTree,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameTree {
    pub(crate) frame: Frame,
    #[serde(default)]
    pub(crate) child_frames: Vec<FrameTree>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    pub(crate) id: String,
    pub(crate) parent_id: Option<String>,
    pub(crate) loader_id: String,
    pub(crate) url: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedWorld {
    pub(crate) execution_context_id: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NavigationHistory {
    pub(crate) current_index: usize,
    pub(crate) entries: Vec<HistoryEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HistoryEntry {
    pub(crate) id: i64,
    pub(crate) url: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Screenshot {
    pub(crate) data: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LayoutMetrics {
    pub(crate) css_content_size: Size,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvaluationResult {
    pub(crate) result: RemoteObject,
    pub(crate) exception_details: Option<ExceptionDetails>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoteObject {
    pub(crate) object_id: Option<String>,
    #[serde(default)]
    pub(crate) value: Value,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExceptionDetails {
    pub(crate) text: String,
    pub(crate) exception: Option<Exception>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Exception {
    pub(crate) description: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Properties {
    pub(crate) result: Vec<Property>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) value: Option<RemoteObject>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DescribedNode {
    pub(crate) node: Node,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Node {
    pub(crate) backend_node_id: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ResolvedNode {
    pub(crate) object: RemoteObject,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ContentQuads {
    pub(crate) quads: Vec<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameOwner {
    pub(crate) backend_node_id: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AccessibilityTree {
    pub(crate) nodes: Vec<AccessibilityNode>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessibilityNode {
    pub(crate) node_id: String,
    #[serde(default)]
    pub(crate) ignored: bool,
    pub(crate) role: Option<AccessibilityValue>,
    pub(crate) name: Option<AccessibilityValue>,
    pub(crate) value: Option<AccessibilityValue>,
    #[serde(default)]
    pub(crate) properties: Vec<AccessibilityProperty>,
    #[serde(default)]
    pub(crate) child_ids: Vec<String>,
    pub(crate) parent_id: Option<String>,
    #[serde(rename = "backendDOMNodeId")]
    pub(crate) backend_node_id: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AccessibilityValue {
    #[serde(default)]
    pub(crate) value: Value,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AccessibilityProperty {
    pub(crate) name: String,
    pub(crate) value: AccessibilityValue,
}
