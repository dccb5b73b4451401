//! `lango approvals`: pending questions, rules, and explanations of decisions.

use std::path::Path;

use lango_app::{
    InspectOptions, Stores, TeamOptions, expand_path, open_rule_book, parse_rights,
    read_approval_policy,
};
use lango_protocol::{AgentName, ApprovalDecision, EventBody, Rights, Timestamp};
use lango_runtime::{
    Effect, Rule, RuleBook, RuleCase, StepPattern, StoredRule, Verdict, decide_call,
};
use lango_store::{AnswerOutcome, ApprovalAnswerRow, Journal, PendingApproval};
use lango_text::{make_lines_visible, make_visible, to_single_spaced, truncate_characters};
use lango_tool::Proposal;
use serde::Serialize;

use super::sessions::local_time;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{ApprovalsCommand, RuleArguments, RuleEffect};
use lango_terminal::render_table;

/// Limits the characters of an id that a list shows.
const SHORT_ID_CHARACTERS: usize = 8;

pub(crate) async fn approvals(
    context: &CommandContext,
    command: ApprovalsCommand,
) -> Result<ExitStatus, Failure> {
    let Stores { database, journal } = context.app.open_stores().await?;
    let book = open_rule_book(context.config(), database).await?;
    match command {
        ApprovalsCommand::List { json } => list(context.printer, &journal, &book, json).await?,
        ApprovalsCommand::Show { id } => show(context.printer, &journal, &book, &id).await?,
        ApprovalsCommand::Approve { id, always } => {
            return answer_question(
                context.printer,
                &journal,
                &id,
                ApprovalDecision::Approved,
                always,
            )
            .await;
        }
        ApprovalsCommand::Deny { id } => {
            return answer_question(
                context.printer,
                &journal,
                &id,
                ApprovalDecision::Denied,
                false,
            )
            .await;
        }
        ApprovalsCommand::Add(arguments) => add_rule(context.printer, &book, arguments).await?,
        ApprovalsCommand::Revoke { id } => revoke_rule(context.printer, &book, &id).await?,
        ApprovalsCommand::Explain { command, workspace, rights, json } => {
            let rights = parse_rights(&rights, None).map_err(Failure::usage)?;
            let asked = ExplainedCall { command: &command, rights: &rights };
            explain_command(context, &book, asked, workspace.as_deref(), json).await?;
        }
    }
    Ok(ExitStatus::Success)
}

#[derive(Serialize)]
struct ApprovalsView<'a> {
    waiting: Vec<PendingView<'a>>,
    rules: Vec<RuleView>,
}

#[derive(Serialize)]
struct PendingView<'a> {
    id: &'a str,
    session: &'a str,
    agent: &'a str,
    tool: &'a str,
    summary: &'a str,
    digest: &'a str,
    requested_at: Timestamp,
    expires_at: Timestamp,
    state: &'static str,
}

#[derive(Serialize)]
struct RuleView {
    id: String,
    rule: String,
    from: String,
}

fn build_pending_view(pending: &PendingApproval) -> PendingView<'_> {
    let (tool, summary) = match &pending.event.body {
        EventBody::ApprovalRequested { tool, summary, .. } => (tool.as_str(), summary.as_str()),
        _ => ("", ""),
    };
    PendingView {
        id: pending.call.as_str(),
        session: pending.event.session.as_str(),
        agent: pending.event.author.as_deref().unwrap_or_default(),
        tool,
        summary,
        digest: &pending.digest,
        requested_at: pending.event.at,
        expires_at: pending.expires_at,
        state: match &pending.answer {
            Some(answer) if answer.decision == ApprovalDecision::Approved => "approved",
            Some(_) => "denied",
            None if pending.is_expired() => "expired",
            None => "waiting",
        },
    }
}

async fn build_rule_views(book: &RuleBook) -> Result<Vec<RuleView>, Failure> {
    let stored = book.list_stored_rules().await?;
    let described = |rule: &Rule| {
        let by = |stored: &&StoredRule| stored.rule.id == rule.id;
        let from = match stored.iter().find(by) {
            Some(stored) => format!("{}, {}", stored.created_by, local_time(stored.created_at)),
            None => "the configuration".to_owned(),
        };
        RuleView { id: rule.id.clone(), rule: rule.to_string(), from }
    };
    Ok(book.load_rules().await?.iter().map(described).collect())
}

async fn list(
    printer: Printer,
    journal: &Journal,
    book: &RuleBook,
    json: bool,
) -> Result<(), Failure> {
    let pending = journal.list_pending_approvals().await?;
    let waiting: Vec<PendingView<'_>> = pending.iter().map(build_pending_view).collect();
    let rules = build_rule_views(book).await?;
    if json {
        return Ok(printer.json(&ApprovalsView { waiting, rules })?);
    }
    let mut text = String::new();
    if waiting.is_empty() {
        text.push_str("Nothing waits for an answer.\n");
    } else {
        let row = |question: &PendingView<'_>| {
            let effect = to_single_spaced(question.summary);
            vec![
                question.id.to_owned(),
                question.state.to_owned(),
                local_time(question.expires_at),
                question.agent.to_owned(),
                question.tool.to_owned(),
                truncate_characters(&effect, 60).to_owned(),
            ]
        };
        let rows: Vec<Vec<String>> = waiting.iter().map(row).collect();
        text += &render_table(&["QUESTION", "STATE", "EXPIRES", "AGENT", "TOOL", "EFFECT"], &rows);
        text += "Read it whole with: lango approvals show QUESTION\n";
    }
    if rules.is_empty() {
        text += "\nThere are no rules. Store one with: lango approvals add allow -- COMMAND\n";
    } else {
        let row = |rule: &RuleView| vec![rule.id.clone(), rule.from.clone(), rule.rule.clone()];
        let rows: Vec<Vec<String>> = rules.iter().map(row).collect();
        text.push('\n');
        text += &render_table(&["RULE", "FROM", "WHAT"], &rows);
    }
    Ok(printer.print(&text)?)
}

/// Returns the one question whose id begins with `given`.
async fn find_question(journal: &Journal, given: &str) -> Result<PendingApproval, Failure> {
    let mut found = journal.list_pending_approvals().await?;
    found.retain(|pending| !given.is_empty() && pending.call.as_str().starts_with(given));
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::usage(format!(
            "no question {given:?} waits for an answer: it was answered, it expired, or there \
             never was one. See: lango approvals list"
        ))),
        count => Err(Failure::usage(format!("{given:?} could be {count} questions; type more"))),
    }
}

async fn show(
    printer: Printer,
    journal: &Journal,
    book: &RuleBook,
    given: &str,
) -> Result<(), Failure> {
    if let Some(rule) =
        build_rule_views(book).await?.into_iter().find(|rule| rule.id.starts_with(given))
    {
        return Ok(
            printer.print(&format!("rule {} (from {})\n{}\n", rule.id, rule.from, rule.rule))?
        );
    }
    let pending = find_question(journal, given).await?;
    let question = build_pending_view(&pending);
    let always = match &pending.event.body {
        EventBody::ApprovalRequested { always, .. } if !always.is_empty() => {
            format!("\n--always would store:\n{}\n", make_lines_visible(&always.join("\n"), "    "))
        }
        _ => String::new(),
    };
    Ok(printer.print(&format!(
        "{} wants to use {} ({}, expires {}):\n{}\n{always}\nsession {}\ndigest  {}\n\n\
         Answer with: lango approvals approve {id}\n         or: lango approvals deny {id}\n",
        question.agent,
        question.tool,
        question.state,
        local_time(question.expires_at),
        // The summary was escaped when it was asked; the line breaks are ours.
        question.summary.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n"),
        question.session,
        question.digest,
        id = &question.id[..question.id.len().min(SHORT_ID_CHARACTERS.max(given.len()))],
    ))?)
}

async fn answer_question(
    printer: Printer,
    journal: &Journal,
    given: &str,
    decision: ApprovalDecision,
    always: bool,
) -> Result<ExitStatus, Failure> {
    let pending = find_question(journal, given).await?;
    let can_be_remembered = matches!(
        &pending.event.body,
        EventBody::ApprovalRequested { always, .. } if !always.is_empty()
    );
    if always && !can_be_remembered {
        return Err(Failure::usage(
            "this cannot be allowed for always: it is not known whole, or has to be seen each \
             time. Answer it once, without --always",
        ));
    }
    let by = "the user, with lango approvals".to_owned();
    let answer = ApprovalAnswerRow { decision, always, by };
    match journal.answer_approval(&pending.call, &pending.digest, &answer).await? {
        AnswerOutcome::Accepted => {
            let word = match decision {
                ApprovalDecision::Approved => "Approved",
                ApprovalDecision::Denied => "Denied",
            };
            let session = &pending.event.session;
            let running = journal.list_unfinished_turns(Some(session)).await?;
            let next = match running.first() {
                Some(turn) if turn.running.is_none() => {
                    format!(" Its turn was interrupted; go on with: lango resume {session}")
                }
                _ => String::new(),
            };
            printer.print(&format!("{word}.{next}\n"))?;
            Ok(ExitStatus::Success)
        }
        AnswerOutcome::TooLate => Err(Failure::usage(format!(
            "too late: {} was answered before, or has expired. See: lango approvals list",
            pending.call
        ))),
    }
}

async fn add_rule(
    printer: Printer,
    book: &RuleBook,
    arguments: RuleArguments,
) -> Result<(), Failure> {
    let RuleArguments { effect, tool, agent, directory, cwd, exact, rights, words } = arguments;
    let is_about_rights = effect != RuleEffect::Allow && !rights.is_empty();
    if tool.is_none() && words.is_empty() && !is_about_rights {
        return Err(Failure::usage(
            "a rule is about a tool (--tool NAME) or a command (-- WORDS), or both; one that denies or \
             asks can also be about a right alone (--with RIGHT)",
        ));
    }
    let rights = parse_rights(&rights, tool.as_deref());
    let rights = rights.map_err(|error| Failure::usage(format!("--with: {error}")))?;
    let agent: Option<AgentName> = match agent.as_deref().map(str::parse).transpose() {
        Ok(agent) => agent,
        Err(error) => return Err(Failure::usage(format!("--agent: {error}"))),
    };
    let here =
        || std::env::current_dir().map(|path| path.display().to_string()).map_err(Failure::from);
    let directory = directory.map_or_else(here, Ok)?;
    let directory = expand_path(&directory).map_err(Failure::usage)?;
    let step_directory = cwd.as_deref().map(expand_path).transpose().map_err(Failure::usage)?;
    let rule = Rule {
        id: String::new(),
        effect: match effect {
            RuleEffect::Allow => Effect::Allow,
            RuleEffect::Ask => Effect::Ask,
            RuleEffect::Deny => Effect::Deny,
        },
        // The rule covers every tool that runs commands: a denied command must not run in the
        // background either.
        tool: Some(tool.unwrap_or_else(|| "exec_*".to_owned())),
        agent,
        directory: (directory != Path::new("/")).then_some(directory),
        step_directory,
        words: match (words.is_empty(), exact) {
            (true, _) => StepPattern::Any,
            (false, true) => StepPattern::Exact(words),
            (false, false) => StepPattern::Pattern(words),
        },
        bound: None,
        rights,
    };
    let id = book.add(&rule, "the user, with lango approvals").await?;
    Ok(printer.print(&format!("{id}  {rule}\n"))?)
}

async fn revoke_rule(printer: Printer, book: &RuleBook, given: &str) -> Result<(), Failure> {
    let mut found = book.list_stored_rules().await?;
    found.retain(|stored| !given.is_empty() && stored.rule.id.starts_with(given));
    match found.as_slice() {
        [one] => {
            book.revoke(&one.rule.id).await?;
            Ok(printer.print(&format!("Revoked: {}\n", one.rule))?)
        }
        [] if given.starts_with("config:") => Err(Failure::usage(format!(
            "{given} stands in the configuration file. Take it out of approvals.rules there; the \
             file is shown by: lango config path"
        ))),
        [] => Err(Failure::usage(format!(
            "there is no stored rule {given:?}. See: lango approvals list"
        ))),
        many => Err(Failure::usage(format!("{given:?} could be {} rules; type more", many.len()))),
    }
}

/// The call that is explained.
#[derive(Clone, Copy)]
struct ExplainedCall<'a> {
    command: &'a str,
    rights: &'a Rights,
}

#[derive(Serialize)]
struct Explanation<'a> {
    verdict: &'static str,
    because: Vec<String>,
    steps: Vec<ExplainedStep<'a>>,
    rights: &'a Rights,
    unreadable: Option<&'a str>,
    rests_on: Vec<String>,
}

#[derive(Serialize)]
struct ExplainedStep<'a> {
    words: &'a [String],
    exact_only: Option<&'a str>,
}

async fn explain_command(
    context: &CommandContext,
    book: &RuleBook,
    asked: ExplainedCall<'_>,
    workspace: Option<&Path>,
    json: bool,
) -> Result<(), Failure> {
    let ExplainedCall { command, rights } = asked;
    let team = TeamOptions { workspace: workspace.map(Path::to_owned), ..TeamOptions::default() };
    let options = InspectOptions { team, ..InspectOptions::default() };
    let inspection = context.app.inspect(options).await?;
    let missing = || Failure::usage("there is no tool exec_shell here");
    let tool = inspection.roster.tools.get("exec_shell").ok_or_else(missing)?;
    let arguments = serde_json::json!({ "command": command, "rights": rights }).to_string();
    let prepared = tool.prepare(&arguments)?;
    let proposal = prepared.propose().unwrap_or_else(|| Proposal::plain(command));
    let agent = "operator".parse().map_err(|_| missing())?;
    let directory = &inspection.workspace;
    let case = RuleCase { tool: "exec_shell", agent: &agent, directory, proposal: &proposal };
    let policy = read_approval_policy(context.config());
    let (verdict, because) = match decide_call(policy, true, &book.load_rules().await?, &case) {
        Verdict::Run { because } => ("runs without asking", because),
        Verdict::Ask { because } => ("is asked about", vec![because]),
        Verdict::Refuse { because } => ("does not run", vec![because]),
    };
    let explanation = Explanation {
        verdict,
        because,
        steps: proposal
            .steps
            .iter()
            .map(|step| ExplainedStep {
                words: &step.words,
                exact_only: step.exact_only.as_deref(),
            })
            .collect(),
        rights,
        unreadable: proposal.unreadable.as_deref(),
        rests_on: proposal
            .bound
            .iter()
            .map(|bound| format!("{} {}", bound.what, bound.digest))
            .collect(),
    };
    if json {
        return Ok(context.printer.json(&explanation)?);
    }
    Ok(context.printer.print(&explanation.render())?)
}

impl Explanation<'_> {
    fn render(&self) -> String {
        let mut text =
            format!("It {}: {}.\n", self.verdict, make_visible(&self.because.join("; ")));
        if !self.rights.is_empty() {
            text +=
                &format!("\nIt asks for the rights: {}\n", make_visible(&self.rights.to_string()));
        }
        if !self.steps.is_empty() {
            text.push_str("\nIt would run:\n");
            for step in &self.steps {
                let words: Vec<String> = step.words.iter().map(|word| make_visible(word)).collect();
                text += &format!("  {}\n", words.join(" "));
                if let Some(why) = step.exact_only {
                    text += &format!(
                        "      only an exact rule can allow this: {}\n",
                        make_visible(why)
                    );
                }
            }
        }
        if let Some(why) = self.unreadable {
            text += &format!("\nNot all of it is known: {}.\n", make_visible(why));
        }
        for what in &self.rests_on {
            text += &format!("\nIt rests on the content of {}\n", make_visible(what));
        }
        text
    }
}
