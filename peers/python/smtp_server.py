"""An SMTP server on 127.0.0.1, made with aiosmtpd, for the tests of e-mail.

Prints `listening on PORT` once connections are accepted. With `--user` and `--password`, demands a
sign-in; with `--certificate` and `--key`, offers STARTTLS and demands it before the sign-in; with
`--implicit`, the connection is protected from its beginning. `--log FILE` appends a JSON line for each
message: {"from": ..., "to": [...], "subject": ..., "id": ..., "body": ..., "headers": [...]}.
"""

import argparse
import asyncio
import json
import socket
import ssl
from email import message_from_bytes, policy

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Mailbox:
    """Writes down what is accepted."""

    def __init__(self, log, refuse):
        self.log = open(log, "a", buffering=1) if log else None
        self.refuse = refuse

    async def handle_DATA(self, server, session, envelope):
        if self.refuse:
            return self.refuse
        message = message_from_bytes(envelope.content, policy=policy.default)
        line = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "subject": message["subject"],
            "id": message["message-id"],
            "body": message.get_content(),
            "headers": [name.lower() for name in message.keys()],
        }
        if self.log:
            print(json.dumps(line), file=self.log)
        return "250 OK"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--implicit", action="store_true")
    parser.add_argument("--refuse", help="the answer to every message")
    parser.add_argument("--log", metavar="FILE")
    options = parser.parse_args()
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    asyncio.run(serve(options, context))


async def serve(options, context):
    mailbox = Mailbox(options.log, options.refuse)

    def authenticate(server, session, envelope, mechanism, given):
        wanted = LoginPassword(options.user.encode(), options.password.encode())
        success = isinstance(given, LoginPassword) and given == wanted
        # The server itself answers.
        return AuthResult(success=success, handled=False)

    def make():
        starttls = context if context and not options.implicit else None
        return SMTP(
            mailbox,
            hostname="localhost",
            tls_context=starttls,
            require_starttls=starttls is not None,
            authenticator=authenticate if options.user else None,
            auth_required=options.user is not None,
            auth_require_tls=context is not None and not options.implicit,
        )

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    loop = asyncio.get_running_loop()
    outer = context if options.implicit else None
    server = await loop.create_server(make, sock=listener, ssl=outer)
    print(f"listening on {listener.getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    main()
