//! The typed trait and its erased form.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lango_protocol::{AgentName, CallReport};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{Proposal, SafetyLevel, ToolContext, ToolDeclaration, ToolError};

/// A tool, written with its own types.
///
/// Argument structs carry `#[serde(deny_unknown_fields)]`: deserialising them is the schema check,
/// and a parameter the tool does not know must not pass silently. Field docs become the schema's
/// descriptions.
pub trait Tool: Send + Sync + 'static {
    /// The parameters.
    type Arguments: DeserializeOwned + JsonSchema + Clone + Send;
    /// What a call returns.
    type Output: Serialize + Send;

    /// The name; its prefix decides which agent owns it.
    const NAME: &'static str;
    /// One or two sentences for a model.
    const DESCRIPTION: &'static str;
    /// How much harm a call can do.
    const LEVEL: SafetyLevel;
    /// Whether calls only read, and may run in parallel.
    const READ_ONLY: bool;

    /// Runs one call.
    fn run(
        &self,
        arguments: Self::Arguments,
        context: ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// The result as a model reads it. Compact JSON unless the tool knows better.
    fn render(&self, output: &Self::Output) -> String {
        serde_json::to_string(output).unwrap_or_else(|error| format!("(unprintable: {error})"))
    }

    /// Says what a call is about, as the beginning of a sentence: "Reading `notes.md`". None where
    /// the tool's name has to do.
    fn describe(&self, arguments: &Self::Arguments) -> Option<String> {
        let _ = arguments;
        None
    }

    /// Tells a person what a call did. None where there is nothing better to show than the text for
    /// the model.
    fn report(&self, arguments: &Self::Arguments, output: &Self::Output) -> Option<CallReport> {
        let _ = (arguments, output);
        None
    }

    /// What a call would do. None where the name and the arguments as they came say it all.
    ///
    /// Has no effect and does not wait for anything but a local disk. It is asked for before a
    /// call that needs a decision, and again right before that call runs.
    fn propose(&self, arguments: &Self::Arguments) -> Option<Proposal> {
        let _ = arguments;
        None
    }
}

/// Holds the result of a call that worked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text that the model reads.
    pub text: String,
    /// What the call did, for a person.
    pub report: Option<CallReport>,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, report: None }
    }
}

/// The future of an erased call.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// A call whose arguments were checked and which has not been run.
pub struct Prepared {
    call: Box<dyn PreparedCall>,
}

impl Prepared {
    /// A call of a tool that has no type of its own.
    pub fn new(call: impl PreparedCall + 'static) -> Self {
        Self { call: Box::new(call) }
    }

    /// Says what the call is about; see [`Tool::describe`].
    pub fn describe(&self) -> Option<String> {
        self.call.describe()
    }

    /// What it would do.
    pub fn propose(&self) -> Option<Proposal> {
        self.call.propose()
    }

    /// Runs the call. Consumes it: a prepared call runs at most once.
    pub fn run(self, context: ToolContext) -> ToolFuture {
        self.call.run(context)
    }
}

/// What is behind a [`Prepared`] call.
pub trait PreparedCall: Send {
    /// See [`Tool::describe`].
    fn describe(&self) -> Option<String> {
        None
    }
    /// See [`Tool::propose`].
    fn propose(&self) -> Option<Proposal>;
    /// See [`Tool::run`].
    fn run(self: Box<Self>, context: ToolContext) -> ToolFuture;
}

/// A tool that is known only when the program runs, such as a skill. Others implement [`Tool`],
/// which brings this with it.
pub trait AnyTool: Send + Sync + 'static {
    /// Checks arguments. Nothing has run when this returns.
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<Prepared, ToolError>;

    /// How much harm a call can do as things stand; none where that never changes.
    fn level(&self) -> Option<SafetyLevel> {
        None
    }

    /// The tool that a call with these arguments really is, with the arguments it gets. None for
    /// most: they are what they are called. Rules, levels and checks are those of the real one.
    fn stands_for(&self, arguments: &str) -> Option<(Arc<RegisteredTool>, String)> {
        let _ = arguments;
        None
    }
}

struct TypedCall<T: Tool> {
    tool: Arc<T>,
    arguments: T::Arguments,
}

impl<T: Tool> PreparedCall for TypedCall<T> {
    fn describe(&self) -> Option<String> {
        self.tool.describe(&self.arguments)
    }

    fn propose(&self) -> Option<Proposal> {
        self.tool.propose(&self.arguments)
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
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<Prepared, ToolError> {
        // Some models send nothing at all where a tool takes no arguments.
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        // A list would be taken for the fields in their order; a model must name what it sets.
        if !text.trim_start().starts_with('{') {
            return Err(ToolError::Arguments("expected a JSON object".to_owned()));
        }
        let arguments: T::Arguments =
            serde_json::from_str(text).map_err(|error| ToolError::Arguments(error.to_string()))?;
        Ok(Prepared::new(TypedCall { tool: self, arguments }))
    }
}

/// A tool in the registry.
#[derive(Clone)]
pub struct RegisteredTool {
    /// What models see.
    pub declaration: ToolDeclaration,
    /// Whether calls only read.
    pub read_only: bool,
    /// The agent it belongs to, where that is not decided by its name.
    pub owner: Option<AgentName>,
    /// What it is for, in a few words for listings, where its name does not tell.
    pub capability: Option<Arc<str>>,
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

    /// A tool that was described at run time.
    pub fn dynamic(
        declaration: ToolDeclaration,
        read_only: bool,
        implementation: Arc<dyn AnyTool>,
    ) -> Self {
        let (owner, capability) = (None, None);
        Self { declaration, read_only, owner, capability, implementation }
    }

    /// The same tool, given to an agent by name; `None` leaves it to its prefix.
    #[must_use]
    pub fn owned_by(mut self, owner: Option<AgentName>) -> Self {
        self.owner = owner;
        self
    }

    /// The same tool, with words for what it is for.
    #[must_use]
    pub fn capable_of(mut self, capability: impl Into<Arc<str>>) -> Self {
        self.capability = Some(capability.into());
        self
    }

    /// See [`AnyTool::stands_for`].
    pub fn stands_for(&self, arguments: &str) -> Option<(Arc<Self>, String)> {
        self.implementation.stands_for(arguments)
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// How much harm a call can do as things stand.
    pub fn level(&self) -> SafetyLevel {
        self.implementation.level().unwrap_or(self.declaration.level)
    }

    /// Checks arguments against the tool's types. Nothing has run when this returns.
    pub fn prepare(&self, arguments: &str) -> Result<Prepared, ToolError> {
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
    /// The declaration of a typed tool, without an instance of it.
    pub fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME.into(),
            description: T::DESCRIPTION.into(),
            parameters: parameters_of::<T::Arguments>(),
            level: T::LEVEL,
        }
    }

    /// The declaration of a tool that exists only as one: nothing can call it.
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

/// The schema of `A`, without the keys that cost tokens and tell a model nothing.
fn parameters_of<A: JsonSchema>() -> Arc<RawValue> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    schema.remove("description");
    let text = serde_json::to_string(&schema).unwrap_or_else(|_| r#"{"type":"object"}"#.into());
    RawValue::from_string(text).map_or_else(|_| Arc::from(RawValue::NULL.to_owned()), Arc::from)
}

#[cfg(test)]
mod tests {
    use lango_protocol::{CallId, SessionId, TurnId};
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
            cancel: CancellationToken::new(),
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
