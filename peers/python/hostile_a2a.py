"""An A2A agent (protocol 1.0, JSON-RPC) that misbehaves, with nothing but Python's standard library.

  hostile_a2a.py --mode M [--port 0] [--at card|call] [--to URL] [--after N] [--bytes N] [--log FILE]

Prints `listening on PORT`. The modes are in hostile_a2a_modes.py; ../README.md has a table.
`--log FILE` gets a JSON line for each request: {"request", "headers", "body"}.
"""

import argparse
import http.server
import json
import select

from hostile_a2a_modes import MODES

CARD = "/.well-known/agent-card.json"

# More of a request is not read.
LARGEST_BODY = 10_000_000


def handler_of(mode, log):
    """The class that answers requests in a mode."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self):
            try:
                super().handle_one_request()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # The client has had enough.

        def do_GET(self):
            self.answer()

        def do_POST(self):
            self.answer()

        def answer(self):
            length = min(int(self.headers.get("Content-Length") or 0), LARGEST_BODY)
            body = self.rfile.read(length).decode("utf-8", "replace")
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = f"{self.command} {self.path}"
            log({"request": request, "headers": headers, "body": body})
            if self.path == CARD:
                mode.card(self)
            elif self.command == "POST":
                mode.call(self, json.loads(body))
            else:
                self.reply(404, b"{}")

        def reply(self, status, body, kind="application/json", headers=()):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def begin(self, kind):
            """The head of an answer without a length, that lasts until the connection ends."""
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True

        def event(self, message):
            self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")
            self.wfile.flush()

        def wait(self, seconds=None):
            """Waits, or until the client goes away. Whether it is still there."""
            gone, _, _ = select.select([self.connection], [], [], seconds)
            if gone:
                self.close_connection = True
            return not gone

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", required=True, choices=list(MODES))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--at", choices=["card", "call"], default="call", help="where it misbehaves")
    parser.add_argument("--to", metavar="URL", default="http://127.0.0.1:9")
    parser.add_argument("--after", type=int, default=1, help="cards before it changes")
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--log", metavar="FILE")
    options = parser.parse_args()
    file = open(options.log, "a", buffering=1) if options.log else None

    def log(entry):
        if file:
            print(json.dumps(entry), file=file)

    mode = MODES[options.mode](options)
    handler = handler_of(mode, log)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    server.daemon_threads = True
    mode.base = f"http://127.0.0.1:{server.server_address[1]}"
    print(f"listening on {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
