//! Enumerates the frames of the current page, and calls scripts in them.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ANSWER_TIMEOUT, Browser};
use crate::error::NavigatorError;
use crate::page::script;
use crate::protocol::{
    CallArgument, CallError, CallFunctionOn, CrashPage, CreateIsolatedWorld, DescribeNode,
    EvaluationResult, FrameTree, GetFrameTree, GetProperties, ResolveNode, TerminateExecution,
};

/// Limits how many frames of one page are read.
const MAX_FRAME_COUNT: usize = 30;

/// Identifies a frame and the session that reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrameReference {
    pub(crate) session: String,
    pub(crate) frame: String,
    pub(crate) url: String,
    pub(crate) is_main: bool,
}

impl Browser {
    /// Returns the frames of the current page, the page itself first. A frame that does not answer
    /// is left out; a page that does not is stopped.
    pub(crate) async fn list_frames(&self) -> Result<Vec<FrameReference>, NavigatorError> {
        let tab = self.tab()?;
        if tab.is_crashed {
            return Err(NavigatorError::Crashed);
        }
        let mut found = Vec::new();
        let timeout = self.answer_timeout();
        let tree = match self.call_within(&tab.session, GetFrameTree {}, timeout).await {
            Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
                return Err(self.stop_scripts(&tab.session).await);
            }
            other => other?,
        };
        collect_frames(&tree.frame_tree, &tab.session, &mut found);
        if let Some(main) = found.first_mut() {
            main.is_main = true;
        }
        let mut parents = vec![tab.session];
        while let Some(parent) = parents.pop() {
            let below: Vec<String> = self.read_state(|state| {
                let frames = state.frames.iter().filter(|(_, frame)| frame.parent == parent);
                frames.map(|(session, _)| session.clone()).collect()
            });
            for session in below {
                if found.len() >= MAX_FRAME_COUNT {
                    return Ok(found);
                }
                if let Ok(tree) = self.call(&session, GetFrameTree {}).await {
                    collect_frames(&tree.frame_tree, &session, &mut found);
                    parents.push(session);
                }
            }
        }
        found.truncate(MAX_FRAME_COUNT);
        Ok(found)
    }

    /// Limits how long a page may take to answer. A large one is busy for a while.
    fn answer_timeout(&self) -> Duration {
        self.timeout().max(ANSWER_TIMEOUT)
    }

    /// Stops the scripts of a page that does not answer; if that does not help, crashes the page.
    pub(crate) async fn stop_scripts(&self, session: &str) -> NavigatorError {
        if self.is_gone() {
            return NavigatorError::Ended;
        }
        let stopped = self.call(session, TerminateExecution {}).await.is_ok()
            && self.call(session, GetFrameTree {}).await.is_ok();
        if stopped {
            return NavigatorError::Hangs;
        }
        // There is no answer once the page is gone.
        let _ = self.call(session, CrashPage {}).await;
        NavigatorError::Crashed
    }

    /// Calls a function of our script in a frame and returns its value.
    pub(crate) async fn call_in_frame<T: DeserializeOwned>(
        &self,
        frame: &FrameReference,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<T, NavigatorError> {
        let context = self.create_isolated_world(frame).await?;
        let evaluated =
            self.evaluate(frame, CallTarget::World(context), function, arguments, true).await?;
        parse_value(evaluated, function)
    }

    /// Calls a function of our script on an element and returns its value.
    pub(crate) async fn call_on_element<T: DeserializeOwned>(
        &self,
        frame: &FrameReference,
        object: &str,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<T, NavigatorError> {
        let target = CallTarget::Object(object.to_owned());
        let evaluated = self.evaluate(frame, target, function, arguments, true).await?;
        parse_value(evaluated, function)
    }

    /// Calls a function of our script that returns one element or none.
    pub(crate) async fn find_element(
        &self,
        frame: &FrameReference,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<Option<String>, NavigatorError> {
        let context = self.create_isolated_world(frame).await?;
        let evaluated =
            self.evaluate(frame, CallTarget::World(context), function, arguments, false).await?;
        Ok(evaluated.result.object_id)
    }

    /// Calls a function of our script that returns elements and words in turn. The elements are
    /// returned as the browser's node numbers.
    pub(crate) async fn find_elements(
        &self,
        frame: &FrameReference,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<Vec<(i64, String)>, NavigatorError> {
        let Some(list) = self.find_element(frame, function, arguments).await? else {
            return Ok(Vec::new());
        };
        let properties = GetProperties { object_id: list, own_properties: true };
        let mut items = std::collections::BTreeMap::new();
        for property in self.call(&frame.session, properties).await?.result {
            if let (Ok(index), Some(value)) = (property.name.parse::<usize>(), property.value) {
                items.insert(index, value);
            }
        }
        let mut found = Vec::new();
        let mut items = items.into_values();
        while let (Some(element), Some(words)) = (items.next(), items.next()) {
            let Some(object) = element.object_id else { continue };
            // An element that was removed in the meantime is skipped.
            if let Ok(node) = self.call(&frame.session, DescribeNode { object_id: object }).await {
                let words = words.value.as_str().unwrap_or_default().to_owned();
                found.push((node.node.backend_node_id, words));
            }
        }
        Ok(found)
    }

    /// Returns the browser's number of an element.
    pub(crate) async fn element_number(
        &self,
        frame: &FrameReference,
        object: &str,
    ) -> Result<i64, NavigatorError> {
        let command = DescribeNode { object_id: object.to_owned() };
        Ok(self.call(&frame.session, command).await?.node.backend_node_id)
    }

    /// Resolves an element by its number in our isolated world; `None` once it is gone.
    pub(crate) async fn resolve_element(
        &self,
        frame: &FrameReference,
        number: i64,
    ) -> Result<Option<String>, NavigatorError> {
        let Ok(context) = self.create_isolated_world(frame).await else {
            return if self.is_gone() { Err(NavigatorError::Ended) } else { Ok(None) };
        };
        let command = ResolveNode { backend_node_id: number, execution_context_id: Some(context) };
        match self.call(&frame.session, command).await {
            Ok(resolved) => Ok(resolved.object.object_id),
            Err(NavigatorError::Call(CallError::Refused(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn create_isolated_world(&self, frame: &FrameReference) -> Result<i64, NavigatorError> {
        let command = CreateIsolatedWorld { frame_id: frame.frame.clone(), world_name: "lango" };
        let world = self.call_within(&frame.session, command, self.answer_timeout()).await;
        match world {
            Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
                Err(self.stop_scripts(&frame.session).await)
            }
            other => Ok(other?.execution_context_id),
        }
    }

    async fn evaluate(
        &self,
        frame: &FrameReference,
        target: CallTarget,
        function: &str,
        arguments: Vec<Value>,
        by_value: bool,
    ) -> Result<EvaluationResult, NavigatorError> {
        let (object_id, execution_context_id) = match target {
            CallTarget::World(context) => (None, Some(context)),
            CallTarget::Object(object) => (Some(object), None),
        };
        let command = CallFunctionOn {
            function_declaration: script::function_calling(function),
            object_id,
            execution_context_id,
            arguments: arguments.into_iter().map(|value| CallArgument { value }).collect(),
            return_by_value: by_value,
            await_promise: false,
        };
        let evaluated = self.call_within(&frame.session, command, self.answer_timeout()).await;
        match evaluated {
            Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
                Err(self.stop_scripts(&frame.session).await)
            }
            other => other,
        }
    }
}

enum CallTarget {
    World(i64),
    Object(String),
}

fn collect_frames(tree: &FrameTree, session: &str, found: &mut Vec<FrameReference>) {
    if found.len() >= MAX_FRAME_COUNT {
        return;
    }
    found.push(FrameReference {
        session: session.to_owned(),
        frame: tree.frame.id.clone(),
        url: tree.frame.url.clone(),
        is_main: false,
    });
    for child in &tree.child_frames {
        collect_frames(child, session, found);
    }
}

fn parse_value<T: DeserializeOwned>(
    evaluated: EvaluationResult,
    function: &str,
) -> Result<T, NavigatorError> {
    if let Some(details) = evaluated.exception_details {
        let text = details.exception.and_then(|e| e.description).unwrap_or(details.text);
        let first = text.lines().next().unwrap_or_default().to_owned();
        return Err(NavigatorError::Failed(format!("the page cannot be looked at: {first}")));
    }
    serde_json::from_value(evaluated.result.value)
        .map_err(|error| NavigatorError::Failed(format!("{function} gave no answer: {error}")))
}
