"""Streamable HTTP for hostile_mcp.py: /mcp, with a stream of events for every request."""

import http.server
import json
import queue

SESSION = "session-of-the-hostile-server"


def serve(server, authorization):
    """Serves until it is ended. `authorization` makes the guard of the endpoint, if there is one."""

    # The streams that clients hold open for what belongs to no request.
    listeners = []

    def announce(message):
        for listener in list(listeners):
            listener.put(message)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self):
            try:
                super().handle_one_request()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # The client has had enough.

        def do_POST(self):
            self.answer()

        def do_GET(self):
            self.answer()

        def do_DELETE(self):
            self.answer()

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            entry = {"request": f"{self.command} {self.path}", "headers": headers}
            server.log({**entry, "body": body.decode("utf-8", "replace")[:2000]})
            if guard and guard.answer(self, body):
                return
            if self.path.split("?")[0] != "/mcp":
                self.reply(404)
            elif self.command == "GET":
                self.listen()
            elif self.command == "DELETE":
                self.reply(200)
            else:
                self.take(json.loads(body))

        def take(self, message):
            if "method" not in message or "id" not in message:
                server.receive(message, self.wfile.write, announce)
                self.reply(202)
                return
            self.begin_stream(session=message["method"] == "initialize")
            if not server.receive(message, Events(self.wfile).write, announce):
                self.connection.recv(1)  # Silent until the client goes away.

        def listen(self):
            mine = queue.Queue()
            listeners.append(mine)
            self.begin_stream()
            events = Events(self.wfile)
            try:
                while True:
                    events.write(json.dumps(mine.get()).encode() + b"\n")
            finally:
                listeners.remove(mine)

        def begin_stream(self, session=False):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            if session:
                self.send_header("Mcp-Session-Id", SESSION)
            self.end_headers()
            self.close_connection = True

        def reply(self, status, body=None, headers=()):
            data = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            if data:
                self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    port = server.options.http
    web = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    web.daemon_threads = True
    base = f"http://127.0.0.1:{web.server_address[1]}"
    guard = authorization(base, server.options) if authorization else None
    print(f"listening on {web.server_address[1]}", flush=True)
    web.serve_forever()


class Events:
    """Bytes with lines in them, as events of a stream: each line is one."""

    def __init__(self, file):
        self.file = file
        self.in_line = False

    def write(self, data):
        for piece in data.splitlines(keepends=True) if len(data) < 100_000 else [data]:
            if not self.in_line:
                self.file.write(b"event: message\ndata: ")
            self.in_line = not piece.endswith(b"\n")
            self.file.write(piece if self.in_line else piece + b"\n")
        self.file.flush()
