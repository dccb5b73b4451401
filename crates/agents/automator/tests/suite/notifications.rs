//! Who is notified of what, and how often, with a server on loopback that counts.

use std::sync::Arc;

use lango_automator::{
    DeliveryState, JobAction, JobBook, NewJob, NotificationMeans, NotificationRoutes, Notifier,
};
use lango_egress::{Guard, Rules};
use lango_notification::{Channel, CommandChannel, WebhookChannel};
use lango_protocol::Timestamp;
use lango_store::{DatabaseLocation, ProcessIdentity, Statement, WorkScope, WorkState};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::samples::{after, new_job, open_with, runs, scheduler, settings};

/// Answers every request with one status, and remembers what came.
struct Receiver {
    url: String,
    received: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    async fn start(status: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    while !bytes.ends_with(b"}") && stream.read_buf(&mut bytes).await.unwrap() > 0 {
                    }
                    let text = String::from_utf8(bytes).unwrap();
                    let (_, body) = text.split_once("\r\n\r\n").unwrap();
                    kept.lock().push(serde_json::from_str(body).unwrap());
                    let answer = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    );
                    drop(stream.write_all(answer.as_bytes()).await);
                });
            }
        });
        Self { url, received }
    }

    fn received(&self) -> Vec<Value> {
        self.received.lock().clone()
    }

    /// Webhooks of any name lead here; the channel `run` is a command.
    fn means(&self) -> NotificationMeans {
        let url = self.url.clone();
        NotificationMeans {
            open: Arc::new(move |name| {
                let url = url.clone();
                Box::pin(async move {
                    if name == "run" {
                        return Ok(Channel::Command(CommandChannel {
                            command: vec!["/bin/false".to_owned()],
                            network: false,
                            directory: "/nonexistent".into(),
                            sandbox: lango_sandbox::Sandbox::default(),
                            policy: lango_sandbox::SandboxPolicy::default(),
                        }));
                    }
                    let allow_private = vec!["127.0.0.1".parse().unwrap()];
                    let guard = Guard::new(Rules { allow_private, ..Rules::default() });
                    Ok(Channel::Webhook(WebhookChannel::new(url, None, guard)))
                })
            }),
            scrub: Arc::new(|text| text.replace("hunter2", "[secret]")),
        }
    }

    async fn open(&self, location: &DatabaseLocation, routes: &[&str]) -> JobBook {
        let settings = lango_automator::AutomatorSettings {
            notify: NotificationRoutes::parse(routes.iter().copied()).unwrap(),
            channels: ["hook", "other", "run"].map(str::to_owned).to_vec(),
            notification_means: Some(self.means()),
            ..settings()
        };
        open_with(location, settings).await
    }
}

fn notifier(jobs: &JobBook) -> Notifier {
    let scope = WorkScope { workspace: Some("/work".to_owned()), includes_clients: false };
    Notifier::new(jobs.clone(), scope)
}

/// Lets a job run once, with this end.
async fn run_once(jobs: &JobBook, new: NewJob, state: WorkState, result: &str) -> String {
    let job = jobs.add(new).await.unwrap();
    scheduler(jobs).fire_due(after(job.next_due.unwrap(), 1)).await.unwrap();
    let run = runs(jobs, &job.id).await.pop().unwrap();
    if run.state == WorkState::Waiting {
        assert!(jobs.journal().start_work(&run, 1000).await.unwrap());
        assert!(jobs.journal().end_work(&run.id, state, result).await.unwrap());
    }
    job.id
}

async fn states(jobs: &JobBook) -> Vec<(&'static str, String)> {
    let list = jobs.list_notifications(None, 100).await.unwrap();
    list.into_iter().map(|one| (one.state, one.reason)).collect()
}

pub(crate) async fn an_end_is_told_once_however_many_look(location: DatabaseLocation) {
    let receiver = Receiver::start(204).await;
    let jobs = receiver.open(&location, &["failure=hook,other", "reminder=hook"]).await;
    for number in 0..5 {
        let new = new_job("in 40 minutes", &format!("look {number}"));
        run_once(&jobs, new, WorkState::Failed, "the password hunter2\nwas wrong").await;
    }
    let reminder = NewJob { action: JobAction::Remind, ..new_job("in 40 minutes", "stretch") };
    run_once(&jobs, reminder, WorkState::Done, "").await;
    run_once(&jobs, new_job("in 40 minutes", "fine"), WorkState::Done, "all is well").await;
    let mut looking = Vec::new();
    for _ in 0..5 {
        let jobs = receiver.open(&location, &["failure=hook,other", "reminder=hook"]).await;
        looking.push(tokio::spawn(async move {
            let notifier = notifier(&jobs);
            for _ in 0..3 {
                notifier.settle().await;
            }
        }));
    }
    for one in looking {
        one.await.unwrap();
    }
    let told = receiver.received();
    // Two channels for each failure, one for the reminder, none for what was done.
    assert_eq!(told.len(), 11, "{told:?}");
    let reminders: Vec<&Value> = told.iter().filter(|one| one["event"] == "reminder").collect();
    assert_eq!((reminders.len(), &reminders[0]["text"]), (1, &"stretch".into()), "{told:?}");
    let text = told.iter().find(|one| one["event"] == "failure").unwrap()["text"].clone();
    assert_eq!(text, "the password [secret] was wrong");
    assert!(states(&jobs).await.iter().all(|(state, _)| *state == "sent"));
}

pub(crate) async fn a_job_says_who_is_notified_of_it(location: DatabaseLocation) {
    let receiver = Receiver::start(204).await;
    let jobs = receiver.open(&location, &["failure=hook"]).await;
    let routes = |text| Some(NotificationRoutes::parse([text]).unwrap());
    let silent = NewJob { notify: routes("none"), ..new_job("in 40 minutes", "silent") };
    run_once(&jobs, silent, WorkState::Failed, "x").await;
    let proud = NewJob { notify: routes("success=hook"), ..new_job("in 40 minutes", "proud") };
    run_once(&jobs, proud, WorkState::Done, "well").await;
    notifier(&jobs).settle().await;
    let told = receiver.received();
    let titles: Vec<&str> = told.iter().map(|one| one["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Done: proud"]);
    let unknown = NewJob { notify: routes("success=pager"), ..new_job("in 40 minutes", "x") };
    let error = jobs.add(unknown).await.unwrap_err().to_string();
    assert!(error.contains("pager"), "{error}");
}

pub(crate) async fn a_failed_delivery_waits_or_is_given_up(location: DatabaseLocation) {
    for (status, state) in [(503, "waiting"), (404, "failed")] {
        let receiver = Receiver::start(status).await;
        let jobs = receiver.open(&location, &["failure=hook"]).await;
        let id = run_once(&jobs, new_job("in 40 minutes", "look"), WorkState::Failed, "x").await;
        notifier(&jobs).settle().await;
        // The next attempt waits for its time.
        notifier(&jobs).settle().await;
        assert_eq!(receiver.received().len(), 1, "{status}");
        let list = jobs.list_notifications(None, 100).await.unwrap();
        let one = list.iter().find(|one| one.id.starts_with(&id)).unwrap();
        assert_eq!((one.state, one.attempts), (state, 1), "{one:?}");
        assert_eq!(one.reason, format!("the server answered with HTTP {status}"));
    }
}

pub(crate) async fn a_delivery_of_a_dead_process_is_taken_over(location: DatabaseLocation) {
    let receiver = Receiver::start(204).await;
    let jobs = receiver.open(&location, &["failure=hook,run"]).await;
    run_once(&jobs, new_job("in 40 minutes", "look"), WorkState::Failed, "x").await;
    notifier(&jobs).decide().await.unwrap();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let claim = |pid: u32| {
        Statement::new(
            "UPDATE notifications SET state = 'sending', claim = 'c', attempt = 1, claim_pid = $1, \
             claim_host = $2, claimed_until = $3",
        )
        .bind(pid)
        .bind(ProcessIdentity::current().host.as_str())
        .bind(after(Timestamp::now(), 600).as_microseconds())
    };
    let database = lango_store::testing::open(&location).await;
    // A process that lives keeps its claim.
    database.write(claim(std::process::id()).into()).await.unwrap();
    notifier(&jobs).settle().await;
    assert!(receiver.received().is_empty());
    database.write(claim(child.id()).into()).await.unwrap();
    notifier(&jobs).settle().await;
    notifier(&jobs).settle().await;
    assert_eq!(receiver.received().len(), 1);
    // A command may have had its effect, and is not run again.
    let unknown = jobs.list_notifications(Some(DeliveryState::Unknown), 10).await.unwrap();
    assert_eq!(unknown.iter().map(|one| one.channel.as_str()).collect::<Vec<_>>(), ["run"]);
}
