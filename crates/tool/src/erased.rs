//! Defines the typed trait and its erased form.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lango_protocol::{AgentName, CallReport, InstructionText, Space};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::schema::parameters_of;
use crate::{Proposal, SafetyLevel, ToolContext, ToolDeclaration, ToolError};

/// Defines a tool with its own types.
///
/// Argument structs carry `#[serde(deny_unknown_fields)]`: deserialising them is the schema check,
/// and a parameter the tool does not know must not pass silently. Field docs become the schema's
/// descriptions.
pub trait Tool: Send + Sync + 'static {
    /// The parameters.
    type Arguments: DeserializeOwned + JsonSchema + Clone + Send;
    /// The result of a call.
    type Output: Serialize + Send;

    /// Names the tool; the prefix decides which agent owns it.
    const NAME: &'static str;
    /// Describes the tool for a model, in one or two sentences.
    const DESCRIPTION: &'static str;
    /// Tells how much harm a call can do.
    const LEVEL: SafetyLevel;
    /// Tells whether calls only read, and may run in parallel.
    const READ_ONLY: bool;

    /// Runs one call.
    fn run(
        &self,
        arguments: Self::Arguments,
        context: ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// Renders the result for a model: compact JSON unless the tool overrides it.
    fn render(&self, output: &Self::Output) -> String {
        serde_json::to_string(output).unwrap_or_else(|error| format!("(unprintable: {error})"))
    }

    /// Says what a call is about, as the beginning of a sentence: "Reading `notes.md`". None if the
    /// tool's name has to suffice.
    fn describe(&self, arguments: &Self::Arguments) -> Option<String> {
        let _ = arguments;
        None
    }

    /// Reports to users what a call did. None if there is nothing better to show than the text for
    /// the model.
    fn report(&self, arguments: &Self::Arguments, output: &Self::Output) -> Option<CallReport> {
        let _ = (arguments, output);
        None
    }

    /// Describes what a call would do. None if the name and the arguments as they came say it all.
    ///
    /// It has no effect and waits for nothing but a local disk. It is called before a call that
    /// needs a decision, and again right before that call runs.
    fn propose(&self, arguments: &Self::Arguments) -> Option<Proposal> {
        let _ = arguments;
        None
    }

    /// Describes what a call would do for one owner, where that depends on what they have stored. The
    /// rules of [`Tool::propose`] apply.
    fn propose_in(&self, arguments: &Self::Arguments, space: &Space) -> Option<Proposal> {
        let _ = space;
        self.propose(arguments)
    }
}

/// Holds the result of a successful call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text that the model reads.
    pub text: String,
    /// The report of the call, for users.
    pub report: Option<CallReport>,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, report: None }
    }
}

/// The future of an erased call.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// Holds a call whose arguments were checked and which has not been run.
pub struct PreparedCall {
    call: Box<dyn ErasedCall>,
}

impl PreparedCall {
    /// Wraps a call of a tool that has no type of its own.
    pub fn new(call: impl ErasedCall + 'static) -> Self {
        Self { call: Box::new(call) }
    }

    /// Says what the call is about; see [`Tool::describe`].
    pub fn describe(&self) -> Option<String> {
        self.call.describe()
    }

    /// Describes what the call would do; see [`Tool::propose`].
    pub fn propose(&self) -> Option<Proposal> {
        self.call.propose()
    }

    /// Describes what the call would do for one owner; see [`Tool::propose_in`].
    pub fn propose_in(&self, space: &Space) -> Option<Proposal> {
        self.call.propose_in(space)
    }

    /// Runs the call. Consumes it: a prepared call runs at most once.
    pub fn run(self, context: ToolContext) -> ToolFuture {
        self.call.run(context)
    }
}

/// Implements what a [`PreparedCall`] does.
pub trait ErasedCall: Send {
    /// Says what the call is about; see [`Tool::describe`].
    fn describe(&self) -> Option<String> {
        None
    }
    /// Describes what the call would do; see [`Tool::propose`].
    fn propose(&self) -> Option<Proposal>;
    /// Describes what the call would do for one owner; see [`Tool::propose_in`].
    fn propose_in(&self, space: &Space) -> Option<Proposal> {
        let _ = space;
        self.propose()
    }
    /// Runs the call; see [`Tool::run`].
    fn run(self: Box<Self>, context: ToolContext) -> ToolFuture;
}

/// Defines a tool that is known only at run time, such as a skill. Other tools implement [`Tool`],
/// which implies this trait.
pub trait AnyTool: Send + Sync + 'static {
    /// Checks arguments. Nothing has run when this returns.
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError>;

    /// Returns how much harm a call can do at present; none if that never changes.
    fn level(&self) -> Option<SafetyLevel> {
        None
    }

    /// Returns the tool that a call with these arguments really is, with the arguments it gets.
    /// Most tools return none: they are no aliases. Rules, levels and checks are those of the real
    /// tool.
    fn resolve_alias(&self, arguments: &str) -> Option<(Arc<RegisteredTool>, String)> {
        let _ = arguments;
        None
    }
}

struct TypedCall<T: Tool> {
    tool: Arc<T>,
    arguments: T::Arguments,
}

impl<T: Tool> ErasedCall for TypedCall<T> {
    fn describe(&self) -> Option<String> {
        self.tool.describe(&self.arguments)
    }

    fn propose(&self) -> Option<Proposal> {
        self.tool.propose(&self.arguments)
    }

    fn propose_in(&self, space: &Space) -> Option<Proposal> {
        self.tool.propose_in(&self.arguments, space)
    }

    fn run(self: Box<Self>, context: ToolContext) -> ToolFuture {
        let Self { tool, arguments } = *self;
        Box::pin(async move {
            let output = tool.run(arguments.clone(), context).await?;
            let report = tool.report(&arguments, &output).map(CallReport::bounded);
            Ok(ToolOutput { text: tool.render(&output), report })
        })
    }
}

impl<T: Tool> AnyTool for T {
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError> {
        // Some models send an empty text if a tool takes no arguments.
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        // A list would be read as the fields in their order; a model must name what it sets.
        if !text.trim_start().starts_with('{') {
            return Err(ToolError::Arguments("expected a JSON object".to_owned()));
        }
        let arguments: T::Arguments =
            serde_json::from_str(text).map_err(|error| ToolError::Arguments(error.to_string()))?;
        Ok(PreparedCall::new(TypedCall { tool: self, arguments }))
    }
}

/// Describes a tool in the registry.
#[derive(Clone)]
pub struct RegisteredTool {
    /// The declaration that models see.
    pub declaration: ToolDeclaration,
    /// True if calls only read.
    pub read_only: bool,
    /// The agent it belongs to, if that is not decided by its name.
    pub owner: Option<AgentName>,
    /// Its purpose in a few words for listings, if its name does not tell.
    pub capability: Option<InstructionText>,
    implementation: Arc<dyn AnyTool>,
}

impl RegisteredTool {
    /// Erases a typed tool.
    pub fn new<T: Tool>(tool: T) -> Self {
        Self {
            declaration: ToolDeclaration::of::<T>(),
            read_only: T::READ_ONLY,
            owner: None,
            capability: None,
            implementation: Arc::new(tool),
        }
    }

    /// Creates a tool that was described at run time.
    pub fn dynamic(
        declaration: ToolDeclaration,
        read_only: bool,
        implementation: Arc<dyn AnyTool>,
    ) -> Self {
        let (owner, capability) = (None, None);
        Self { declaration, read_only, owner, capability, implementation }
    }

    /// Assigns the tool to an agent by name; `None` leaves it to its prefix.
    #[must_use]
    pub fn with_owner(mut self, owner: Option<AgentName>) -> Self {
        self.owner = owner;
        self
    }

    /// Adds words for what the tool is for. They stand in instructions.
    #[must_use]
    pub fn with_capability(mut self, capability: impl Into<InstructionText>) -> Self {
        self.capability = Some(capability.into());
        self
    }

    /// Returns the tool that a call really is; see [`AnyTool::resolve_alias`].
    pub fn resolve_alias(&self, arguments: &str) -> Option<(Arc<Self>, String)> {
        self.implementation.resolve_alias(arguments)
    }

    /// Returns the tool's name.
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// Returns how much harm a call can do at present.
    pub fn level(&self) -> SafetyLevel {
        self.implementation.level().unwrap_or(self.declaration.level)
    }

    /// Checks arguments against the tool's types. Nothing has run when this returns.
    pub fn prepare(&self, arguments: &str) -> Result<PreparedCall, ToolError> {
        Arc::clone(&self.implementation).prepare(arguments)
    }
}

impl std::fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegisteredTool")
            .field("name", &self.declaration.name)
            .finish_non_exhaustive()
    }
}

impl ToolDeclaration {
    /// Returns the declaration of a typed tool, without an instance of it.
    pub fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME.into(),
            description: T::DESCRIPTION.into(),
            parameters: parameters_of::<T::Arguments>(),
            level: T::LEVEL,
        }
    }

    /// Creates the declaration of a tool that exists only as one: it cannot be called.
    pub fn new<A: JsonSchema>(
        name: &'static str,
        description: &'static str,
        level: SafetyLevel,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: parameters_of::<A>(),
            level,
        }
    }
}

#[cfg(test)]
mod tests {
    use lango_protocol::{CallId, SessionId, SpaceAccess, TurnId};
    use serde::Deserialize;
    use tokio_util::sync::CancellationToken;

    use super::*;

    struct Add;

    #[derive(Clone, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Terms {
        /// The first number.
        a: i64,
        #[serde(default)]
        b: i64,
    }

    impl Tool for Add {
        type Arguments = Terms;
        type Output = i64;
        const NAME: &'static str = "add";
        const DESCRIPTION: &'static str = "Adds two numbers.";
        const LEVEL: SafetyLevel = SafetyLevel::Safe;
        const READ_ONLY: bool = true;

        async fn run(&self, terms: Terms, _: ToolContext) -> Result<i64, ToolError> {
            Ok(terms.a + terms.b)
        }

        fn report(&self, terms: &Terms, sum: &i64) -> Option<CallReport> {
            Some(CallReport::new(format!("{} and {} make {sum}.", terms.a, terms.b)))
        }
    }

    fn context() -> ToolContext {
        ToolContext {
            session: SessionId::generate(),
            turn: TurnId::generate(),
            call: CallId::generate(),
            agent: "operator".parse().unwrap(),
            space: SpaceAccess::to(Space::Owner),
            cancel: CancellationToken::new(),
            excluded: crate::ExcludedPaths::default(),
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_typed_tool_runs_through_its_erased_form() {
        let tool = RegisteredTool::new(Add);
        let prepared = tool.prepare(r#"{"a": 2, "b": 3}"#).unwrap();
        let output = prepared.run(context()).await.unwrap();
        assert_eq!(output.text, "5");
        assert_eq!(output.report, Some(CallReport::new("2 and 3 make 5.")));
    }

    #[test]
    fn arguments_that_do_not_fit_never_become_a_prepared_call() {
        let tool = RegisteredTool::new(Add);
        for bad in
            ["", "{}", "[]", "[1, 2]", "nonsense", r#"{"a":"2"}"#, r#"{"a":1,"c":2}"#, r#"{"a":1"#]
        {
            assert!(matches!(tool.prepare(bad), Err(ToolError::Arguments(_))), "{bad}");
        }
    }

    #[test]
    fn the_schema_is_closed_and_carries_the_field_docs() {
        let schema = RegisteredTool::new(Add).declaration.parameters;
        let value: serde_json::Value = serde_json::from_str(schema.get()).unwrap();
        assert_eq!(value["additionalProperties"], false);
        assert_eq!(value["properties"]["a"]["description"], "The first number.");
        assert_eq!(value["required"], serde_json::json!(["a"]));
        assert!(value.get("$schema").is_none() && value.get("title").is_none());
    }
}
