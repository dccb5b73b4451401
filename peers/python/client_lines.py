"""What the test clients of A2A have in common: their commands, and the lines that they print.

Every line is a JSON object with a `kind`: card, task, status, artifact, message, tasks, push-config,
cut, notification, error. States are written as in protocol 0.3 in all of them ("completed",
"input-required"); `raw` is what the SDK made of the answer, in its own version's JSON.
"""

import argparse
import http.server
import json
import queue
import sys
import threading

ENDED = ["completed", "failed", "canceled", "rejected"]

# No test waits longer for a notification.
TIMEOUT_SECONDS = 60


def parse(description, bindings, listing):
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", required=True, help="the base, under which the card is")
    parser.add_argument("--token", help="the bearer token, sent where the card asks for one")
    parser.add_argument("--header", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--binding", choices=bindings, default=bindings[0])
    parser.add_argument("--message-id", help="the messageId, otherwise a new one")
    parser.add_argument("--context", help="the contextId to send in")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("card")
    commands.add_parser("extended-card")
    for name in ["send", "start", "stream"]:
        commands.add_parser(name).add_argument("text")
    cut = commands.add_parser("stream-cut")
    cut.add_argument("text")
    cut.add_argument("events", type=int)
    answer = commands.add_parser("answer")
    for name in ["task", "answer_context", "text"]:
        answer.add_argument(name)
    for name in ["cancel", "get", "resubscribe", "push-configs"]:
        commands.add_parser(name).add_argument("task")
    push = commands.add_parser("push")
    push.add_argument("text")
    push.add_argument("--webhook", type=int, default=0, metavar="PORT")
    if listing:
        commands.add_parser("list").add_argument("--page-size", type=int, default=50)
    return parser.parse_args()


def headers(options):
    return dict(header.split("=", 1) for header in options.header)


def line(kind, **fields):
    print(json.dumps({"kind": kind, **fields}), flush=True)


def fail(error, **fields):
    """The last line of a client that did not get what it asked for. Its exit status is 1."""
    line("error", **{"class": type(error).__name__, "message": str(error), **fields})
    sys.exit(1)


def same_state(state):
    """TASK_STATE_INPUT_REQUIRED and input-required as one word."""
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def text_of(parts):
    return "".join(part.get("text", "") for part in parts or [])


def show_task(task):
    """A task as JSON of either version."""
    status = task.get("status", {})
    line(
        "task",
        task=task["id"],
        context=task.get("contextId"),
        state=same_state(status.get("state", "")),
        text=text_of(status.get("message", {}).get("parts")),
        artifacts=[text_of(artifact.get("parts")) for artifact in task.get("artifacts", [])],
        raw=task,
    )


def show_message(message):
    line(
        "message",
        context=message.get("contextId"),
        text=text_of(message.get("parts")),
        raw=message,
    )


def show_status(update):
    status = update["status"]
    line(
        "status",
        task=update["taskId"],
        context=update.get("contextId"),
        state=same_state(status["state"]),
        text=text_of(status.get("message", {}).get("parts")),
        raw=update,
    )


def show_artifact(update):
    artifact = update["artifact"]
    line(
        "artifact",
        task=update["taskId"],
        context=update.get("contextId"),
        artifact=artifact["artifactId"],
        text=text_of(artifact.get("parts")),
        append=update.get("append", False),
        last=update.get("lastChunk", False),
        raw=update,
    )


class Webhook:
    """A place for notifications on 127.0.0.1."""

    TOKEN = "token-of-the-webhook"

    def __init__(self, port):
        self.received = queue.Queue()
        received = self.received

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                received.put(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/notify"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def show_until_the_end(self):
        """Prints the notifications until one says that the task has ended, or waits for an answer."""
        while True:
            try:
                sent_headers, body = self.received.get(timeout=TIMEOUT_SECONDS)
            except queue.Empty as nothing:
                fail(nothing, waited=TIMEOUT_SECONDS)
            notification = json.loads(body)
            state = state_in(notification)
            line(
                "notification",
                token=sent_headers.get("x-a2a-notification-token"),
                state=state,
                headers=sent_headers,
                raw=notification,
            )
            if state in ENDED or state in ["input-required", "auth-required"]:
                return


def state_in(notification):
    """The state in a notification: a bare task in 0.3, one of several things in 1.0."""
    for holder in [notification, notification.get("task"), notification.get("statusUpdate")]:
        if holder and "status" in holder:
            return same_state(holder["status"]["state"])
    return None
