"""An MCP server that misbehaves, with nothing but Python's standard library.

  hostile_mcp.py --mode M [--http PORT] [--log FILE] [OPTION...]

On stdin and stdout, or with `--http` at http://127.0.0.1:PORT/mcp (0 takes a free port; prints
`listening on PORT`). The modes are in hostile_mcp_modes.py, those that begin with `oauth` in
hostile_oauth.py; ../README.md has a table. `--log FILE` gets a JSON line for each message received, and
for each HTTP request.
"""

import argparse
import itertools
import json
import os
import queue
import sys
import threading

import hostile_mcp_http
from hostile_mcp_modes import MODES, Answered, Session, Silence
from hostile_oauth import OAUTH

NEWEST = "2025-11-25"
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST]


class Waiting:
    """Requests to the client that are not answered yet. Numbers are made by any thread."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.answers = {}

    def expect(self):
        identity = f"server-{next(self.numbers)}"
        self.answers[identity] = queue.Queue()
        return identity, self.answers[identity]

    def answered(self, message):
        place = self.answers.pop(message.get("id"), None)
        if place:
            place.put(message)


class Server:
    def __init__(self, options):
        self.options = options
        self.mode = MODES.get(options.mode, MODES["plain"])(options)
        self.waiting = Waiting()
        self.file = open(options.log, "a", buffering=1) if options.log else None

    def log(self, entry):
        if self.file:
            print(json.dumps(entry), file=self.file)

    def receive(self, message, write, announce):
        """Takes any message. What it answers goes through `write`, before it returns; whether there was
        anything to say."""
        self.log({"message": message})
        if "method" not in message:
            self.waiting.answered(message)
            return True
        if "id" not in message:
            return True
        session = Session(write, announce, self.waiting, message)
        try:
            answer = self.answer(message, session)
        except Silence:
            return False
        except Answered:
            return True
        session.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        return True

    def answer(self, message, session):
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            self.mode.at("initialize", session)
            asked = params.get("protocolVersion")
            return {
                "result": {
                    "protocolVersion": asked if asked in VERSIONS else NEWEST,
                    "capabilities": self.mode.capabilities,
                    "serverInfo": {"name": f"hostile {self.options.mode}", "version": "1.0.0"},
                }
            }
        if method == "tools/list":
            self.mode.at("list", session)
            return {"result": {"tools": self.mode.tools(session)}}
        if method == "tools/call":
            self.mode.at("call", session)
            arguments = params.get("arguments") or {}
            return {"result": self.mode.call(params.get("name"), arguments, session)}
        if method in ["ping", "logging/setLevel"]:
            return {"result": {}}
        return {"error": {"code": -32601, "message": f"no method {method}"}}


def serve_lines(server):
    """Speaks on stdin and stdout, a thread for each request: a tool may wait for the client."""
    lock = threading.Lock()

    def write(data):
        try:
            with lock:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)  # The client is gone.

    def announce(message):
        write(json.dumps(message).encode() + b"\n")

    server.mode.at("start", Session(write, announce, server.waiting))
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        arguments = [json.loads(line), write, announce]
        threading.Thread(target=server.receive, args=arguments, daemon=True).start()
    server.log({"end": "stdin closed"})
    os._exit(0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", required=True, choices=[*MODES, *OAUTH])
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--log", metavar="FILE")
    moments = ["start", "initialize", "list", "call"]
    parser.add_argument("--at", choices=moments, default="call", help="when it begins")
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--state", metavar="FILE")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--to", metavar="URL")
    return parser.parse_args()


if __name__ == "__main__":
    given = parse()
    made = Server(given)
    if given.http is None:
        serve_lines(made)
    else:
        hostile_mcp_http.serve(made, OAUTH.get(given.mode))
