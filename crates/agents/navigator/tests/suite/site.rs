//! Serves a site on this machine, with everything that sites do to browsers.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Body = BoxBody<Bytes, Infallible>;

/// Runs a site. It ends with the runtime of its test.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    /// Another site that pages link to and embed.
    other: String,
    connections: AtomicUsize,
    requests: Mutex<Vec<String>>,
}

impl Site {
    /// Starts a site that knows the address of another one.
    pub(crate) async fn linking_to(other: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            other: other.to_owned(),
            connections: AtomicUsize::new(0),
            requests: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serving.connections.fetch_add(1, Ordering::SeqCst);
                let serving = Arc::clone(&serving);
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(request, Arc::clone(&serving)));
                    // How a connection ends does not matter to the test.
                    let _ =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, shared }
    }

    pub(crate) async fn start() -> Self {
        Self::linking_to("http://127.0.0.1:1").await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the host and port, as rules name them.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Returns method, path and body of every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let line = format!("{} {path} {}", parts.method, String::from_utf8_lossy(&body));
    shared.requests.lock().unwrap().push(line.trim_end().to_owned());
    let cookie = parts.headers.get("cookie").and_then(|c| c.to_str().ok()).unwrap_or_default();
    let other = &shared.other;
    Ok(match parts.uri.path() {
        "/shop" => page("Shop", include_str!("pages/shop.html")),
        "/form" => page("Form", include_str!("pages/form.html")),
        "/login" => page("Login", include_str!("pages/login.html")),
        "/turncoat" => page("Turncoat", include_str!("pages/turncoat.html")),
        "/pay" => page("Pay", include_str!("pages/pay.html")),
        "/session" => {
            let mut response = redirect("/account");
            response.headers_mut().insert("set-cookie", "user=ada; Path=/".parse().unwrap());
            response
        }
        "/account" if cookie.contains("user=ada") => page("Account", "<h1>Hello Ada</h1>"),
        "/account" => page("Account", "<h1>Please sign in</h1>"),
        "/frames" => page(
            "Frames",
            &format!(
                "<h1>Outside</h1><iframe src=\"{other}/inside\" width=400 height=200></iframe>\
             <iframe srcdoc=\"<p>Same site frame</p>\" height=50></iframe>"
            ),
        ),
        "/inside" => page("Inside", include_str!("pages/inside.html")),
        "/popup" => page("Popup", include_str!("pages/popup.html")),
        "/many" => page("Many", include_str!("pages/many.html")),
        "/dialogs" => page("Dialogs", include_str!("pages/dialogs.html")),
        "/scroll" => page("Scroll", include_str!("pages/scroll.html")),
        "/covered" => page("Covered", include_str!("pages/covered.html")),
        "/system" => page("System", include_str!("pages/system.html")),
        "/loop" => page("Loop", "<h1>Before</h1><p>Loop page</p><script>while (true) {}</script>"),
        "/schemes" => page("Schemes", include_str!("pages/schemes.html")),
        "/reach" => page("Reach", &include_str!("pages/reach.html").replace("OTHER", other)),
        "/worker.js" => script(&format!(
            "fetch('{other}/from-worker').catch(() => 0); self.addEventListener('install', () => self.skipWaiting());"
        )),
        "/leaving" => page("Leaving", &include_str!("pages/leaving.html").replace("OTHER", other)),
        "/to-other" => redirect(&format!("{other}/secret")),
        "/to-https" => redirect(&format!("{}/secret", other.replace("http:", "https:"))),
        "/to-metadata" => redirect("http://169.254.169.254/latest/meta-data/"),
        "/circle" => redirect("/circle?"),
        "/hop" => redirect("/shop"),
        "/huge" => huge(),
        "/slow" => endless(),
        "/nasty" => nasty(&"x".repeat(1000)),
        "/large-file" => nasty(&"x".repeat(3_000_000)),
        "/text" => typed("text/plain", "just text"),
        "/number" => page("Number", &format!("<h1>Page {path}</h1><p>{}</p>", "word ".repeat(200))),
        _ => {
            let mut response = page("Not found", "<h1>Nothing here</h1>");
            *response.status_mut() = hyper::StatusCode::NOT_FOUND;
            response
        }
    })
}

fn typed(kind: &str, body: &str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_owned())).boxed());
    response.headers_mut().insert("content-type", kind.parse().unwrap());
    response
}

fn page(title: &str, body: &str) -> Response<Body> {
    typed("text/html; charset=utf-8", &format!("<!doctype html><title>{title}</title>{body}"))
}

fn script(text: &str) -> Response<Body> {
    typed("text/javascript", text)
}

fn redirect(to: &str) -> Response<Body> {
    let mut response = typed("text/plain", "");
    *response.status_mut() = hyper::StatusCode::FOUND;
    response.headers_mut().insert("location", to.parse().unwrap());
    response
}

fn nasty(body: &str) -> Response<Body> {
    let mut response = typed("application/octet-stream", body);
    let name = "attachment; filename=\"../../.bashrc; rm -rf ~.sh\"";
    response.headers_mut().insert("content-disposition", name.parse().unwrap());
    response
}

/// Returns fifty megabytes of paragraphs.
fn huge() -> Response<Body> {
    let paragraph = format!("<p>{}</p>", "long text ".repeat(100));
    let piece = Bytes::from(paragraph.repeat(100));
    let count = 50_000_000 / piece.len();
    let begin =
        Bytes::from("<!doctype html><title>Huge</title><h1>Huge</h1><button>Use me</button>");
    let pieces = std::iter::once(begin).chain(std::iter::repeat_n(piece, count));
    streamed(stream::iter(pieces.map(|piece| Ok(Frame::data(piece)))))
}

/// Returns a page that sends a little and then waits forever.
fn endless() -> Response<Body> {
    let begin =
        Bytes::from("<!doctype html><title>Slow</title><h1>Beginning</h1><p>First part</p>");
    let pieces = stream::unfold(Some(begin), async |piece| match piece {
        Some(piece) => Some((Ok(Frame::data(piece)), None)),
        None => std::future::pending().await,
    });
    streamed(pieces)
}

fn streamed(
    pieces: impl futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + Sync + 'static,
) -> Response<Body> {
    let mut response = Response::new(StreamBody::new(pieces).boxed());
    response.headers_mut().insert("content-type", "text/html; charset=utf-8".parse().unwrap());
    response
}
