//! Signs in to servers with OAuth.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::config::{HttpConfig, ServerConfig, TransportConfig};
use super::http::{GuardedHttp, guard_for, scope_in};
use super::tokens::StoredTokens;
use super::{ClientEnvironment, ClientError};

/// Limits the size of a request to the callback endpoint.
const MAX_CALLBACK_BYTES: usize = 16 * 1024;
/// Limits how long one step of the login may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends requests to a server with its token, if there is one.
pub(crate) type AuthorizedHttp = AuthClient<GuardedHttp>;

/// Creates a client for one server.
pub(crate) async fn client(
    config: &ServerConfig,
    address: &HttpConfig,
    environment: &ClientEnvironment,
) -> Result<AuthorizedHttp, ClientError> {
    let http = guarded(config, address, environment)?;
    let tokens = StoredTokens::new(config, address, &environment.key_store)?;
    let has_tokens = tokens.open().await?.is_some();
    let mut manager = manager(config, address, &http, tokens).await?;
    // A token cannot be renewed without the address of the authorization server. Without a token
    // there is nothing to renew, and no request is sent.
    if has_tokens {
        manager.initialize_from_store().await.map_err(|error| login_failed(config, &error))?;
    }
    Ok(AuthClient::new(http, manager))
}

fn guarded(
    config: &ServerConfig,
    address: &HttpConfig,
    environment: &ClientEnvironment,
) -> Result<GuardedHttp, ClientError> {
    let wrong = |reason: String| ClientError::Start { server: config.name.to_string(), reason };
    let guard =
        guard_for(&address.url, &environment.rules).map_err(|error| wrong(error.to_string()))?;
    GuardedHttp::new(guard).map_err(|error| wrong(error.to_string()))
}

async fn manager(
    config: &ServerConfig,
    address: &HttpConfig,
    http: &GuardedHttp,
    tokens: StoredTokens,
) -> Result<AuthorizationManager, ClientError> {
    let client: Arc<dyn OAuthHttpClient> = Arc::new(http.clone());
    let mut manager =
        AuthorizationManager::new_with_oauth_http_client(address.url.as_str(), client)
            .await
            .map_err(|error| login_failed(config, &error))?;
    manager.set_credential_store(tokens);
    Ok(manager)
}

fn login_failed(config: &ServerConfig, error: &AuthError) -> ClientError {
    ClientError::Login {
        server: config.name.to_string(),
        reason: lango_text::make_visible_short(&error.to_string()),
    }
}

/// Sends every request of the login through the same guard as those to the server itself.
impl OAuthHttpClient for GuardedHttp {
    fn execute(&self, wanted: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let limit = wanted.timeout.unwrap_or(STEP_TIMEOUT).min(STEP_TIMEOUT);
        Box::pin(async move {
            let (parts, body) = wanted.request.into_parts();
            let headers: Vec<_> =
                parts.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            let body = (!body.is_empty()).then_some(body);
            let exchange = async {
                let address = parts.uri.to_string();
                let response = self.send_once(parts.method, &address, &headers, body).await?;
                let (status, headers) = (response.status(), response.headers().clone());
                let body = Self::body(response).await?;
                Ok::<_, super::http::HttpError>((status, headers, body))
            };
            let (status, headers, body) = tokio::time::timeout(limit, exchange).await??;
            let mut answer = http::Response::new(body);
            *answer.status_mut() = status;
            *answer.headers_mut() = headers;
            Ok(answer)
        })
    }
}

/// Represents a login in progress: a person opens `url`, and the callback finishes it.
pub struct Login {
    server: ServerConfig,
    session: AuthorizationSession,
    listener: TcpListener,
}

impl Login {
    /// Discovers how to sign in, registers a client if needed, and listens on a local port for the
    /// callback. `challenge` is the server's challenge, if there was one; `scopes` are requested in
    /// addition to those that were granted before.
    pub async fn begin(
        config: &ServerConfig,
        environment: &ClientEnvironment,
        challenge: Option<&str>,
        scopes: &[String],
    ) -> Result<Self, ClientError> {
        let TransportConfig::Http(address) = &config.transport else {
            let reason = "it is a program on this machine and has no login".to_owned();
            return Err(ClientError::Login { server: config.name.to_string(), reason });
        };
        let failed = |error: AuthError| login_failed(config, &error);
        let http = guarded(config, address, environment)?;
        let tokens = StoredTokens::new(config, address, &environment.key_store)?;
        let more = challenge.filter(|challenge| challenge.contains("insufficient_scope"));
        let more = more.and_then(scope_in).unwrap_or_default();
        let mut scopes = scopes.to_vec();
        scopes.extend(more.split_whitespace().map(str::to_owned));
        // A request for more scopes keeps the granted ones.
        let known = tokens.open().await?.filter(|_| !scopes.is_empty());
        let known_scopes = known.map(|known| known.granted_scopes).unwrap_or_default();
        let mut manager = manager(config, address, &http, tokens).await?;
        let resolved = match challenge {
            Some(_) => manager.resolve_metadata_from_challenge(challenge).await,
            None => manager.resolve_metadata().await,
        };
        let resolved = resolved.map_err(failed)?;
        let methods = resolved.metadata.code_challenge_methods_supported.as_deref();
        let has_pkce = methods.unwrap_or_default().iter().any(|method| method == "S256");
        // According to the protocol, a server that does not announce PKCE does not check it.
        if resolved.source.is_discovered() && !has_pkce {
            return Err(failed(AuthError::PkceUnsupported));
        }
        manager.set_metadata(resolved.metadata);
        let no_listener = |error: io::Error| ClientError::Login {
            server: config.name.to_string(),
            reason: format!("no local port could be opened for the callback: {error}"),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(no_listener)?;
        let port = listener.local_addr().map_err(no_listener)?.port();
        let mut request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}/callback"))
            .with_client_name("Lango")
            .with_initial_scope_selection();
        let oauth = &address.oauth;
        let scopes = scopes.iter().chain(&oauth.scopes).cloned();
        let mut scopes: Vec<String> = scopes.chain(known_scopes).collect();
        scopes.sort();
        scopes.dedup();
        if !scopes.is_empty() {
            request = request.with_scopes(scopes);
        }
        if let Some(document) = &oauth.client_metadata_url {
            request = request.with_client_metadata_url(document.clone());
        }
        if let Some(client) = &oauth.client_id {
            request = request.with_preregistered_client(client.clone());
        }
        if let Some(secret) = &oauth.client_secret {
            request = request.with_client_secret(secret.clone());
        }
        let session = AuthorizationSession::new(manager, request)
            .await
            .map_err(|(_, error)| failed(error))?;
        Ok(Self { server: config.clone(), session, listener })
    }

    /// Returns the URL that a person opens in a browser.
    pub fn url(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits for the callback of the browser and fetches the token.
    pub async fn wait(self, limit: Duration) -> Result<(), ClientError> {
        let failed =
            |reason: String| ClientError::Login { server: self.server.name.to_string(), reason };
        let callback = tokio::time::timeout(limit, self.callback()).await;
        let callback =
            callback.map_err(|_| failed(format!("no answer came within {} s", limit.as_secs())))?;
        let callback = callback.map_err(|error| failed(error.to_string()))?;
        self.finish(&callback).await
    }

    /// Fetches the token with the callback URL. Wrong issuers and states are refused.
    pub async fn finish(&self, callback: &str) -> Result<(), ClientError> {
        let finished = self.session.handle_callback_url(callback).await;
        finished.map_err(|error| login_failed(&self.server, &error))?;
        Ok(())
    }

    async fn callback(&self) -> io::Result<String> {
        let origin = format!("http://{}", self.listener.local_addr()?);
        loop {
            let (stream, _) = self.listener.accept().await?;
            // A client that connects and sends nothing must not block the browser.
            let read = tokio::time::timeout(Duration::from_secs(5), answer(stream)).await;
            if let Ok(Ok(Some(path))) = read {
                return Ok(format!("{origin}{path}"));
            }
        }
    }
}

/// Reads one request and answers it. Returns the path if it is the callback.
async fn answer(mut stream: TcpStream) -> io::Result<Option<String>> {
    let mut request = Vec::new();
    while !request.windows(4).any(|four| four == b"\r\n\r\n") && request.len() < MAX_CALLBACK_BYTES
    {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let text = String::from_utf8_lossy(&request);
    let mut words = text.split_ascii_whitespace();
    let path = words.next().filter(|method| *method == "GET").and_then(|_| words.next());
    let path = path.filter(|path| path.starts_with("/callback?")).map(str::to_owned);
    let (status, body) = match &path {
        Some(_) => ("200 OK", "Lango has its answer. This page can be closed.\n"),
        None => ("404 Not Found", "Nothing is here.\n"),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(path)
}

/// Deletes the tokens of a server. Returns false if there were none.
pub async fn logout(
    config: &ServerConfig,
    environment: &ClientEnvironment,
) -> Result<bool, ClientError> {
    let TransportConfig::Http(address) = &config.transport else { return Ok(false) };
    Ok(StoredTokens::new(config, address, &environment.key_store)?.remove().await?)
}

/// Tells whether there are tokens for a server. It works in a locked vault.
pub async fn is_signed_in(
    config: &ServerConfig,
    environment: &ClientEnvironment,
) -> Result<bool, ClientError> {
    let TransportConfig::Http(address) = &config.transport else { return Ok(false) };
    Ok(StoredTokens::new(config, address, &environment.key_store)?.exist().await?)
}
