"""Serves an ASGI application on 127.0.0.1, for the agents of the tests.

Prints `listening on PORT` once connections are accepted. With a token, everything but the agent's card
demands it. With `--log FILE`, writes a JSON line for each request:
{"request": "POST /", "headers": {...}}.
"""

import argparse
import json
import socket

import uvicorn

CARD = "/.well-known/agent-card.json"


def arguments(description):
    """The options that all agents have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--token", help="the bearer token to demand")
    parser.add_argument("--log", metavar="FILE", help="where to write a line for each request")
    return parser


def serve(make_application, options):
    """Binds the port, makes the application for its address, and serves until it is ended."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(128)
    port = listener.getsockname()[1]
    application = make_application(f"http://127.0.0.1:{port}")
    guard = Guard(application, options.token, options.log)
    print(f"listening on {port}", flush=True)
    config = uvicorn.Config(guard, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


class Guard:
    """Demands the token and writes down the requests, before the application sees them."""

    def __init__(self, application, token, log):
        self.application = application
        self.token = token
        self.log = open(log, "a", buffering=1) if log else None

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
            if self.log:
                line = {"request": f"{scope['method']} {scope['path']}", "headers": headers}
                print(json.dumps(line), file=self.log)
            if not self.admits(scope["path"], headers):
                await refuse(send)
                return
        await self.application(scope, receive, send)

    def admits(self, path, headers):
        known = headers.get("authorization") == f"Bearer {self.token}"
        return self.token is None or path == CARD or known


async def refuse(send):
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"error": "a bearer token is needed"}'})
