"""A client made with the Python a2a-sdk 0.3. Commands and lines: client_lines.py and ../README.md.

  a2a03_client.py --url BASE [--token T] [--binding jsonrpc|rest] COMMAND ...
"""

import asyncio
import uuid

import httpx
from a2a.client import (
    A2ACardResolver,
    AuthInterceptor,
    ClientConfig,
    ClientFactory,
    CredentialService,
)
from a2a.types import (
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)

import client_lines as lines

BINDINGS = {"jsonrpc": "JSONRPC", "rest": "HTTP+JSON"}


class OneToken(CredentialService):
    """The same token for every scheme that the card names."""

    def __init__(self, token):
        self.token = token

    async def get_credentials(self, security_scheme_name, context):
        return self.token


class Peer:
    """One connection: an HTTP client, the card that it got, and the SDK's client for it."""

    def __init__(self, options):
        self.options = options
        self.http = httpx.AsyncClient(timeout=60, headers=lines.headers(options))
        self.card = None

    async def fetch_card(self):
        self.card = await A2ACardResolver(self.http, self.options.url).get_agent_card()
        return self.card

    async def client(self, streaming=True, polling=False, push=None):
        card = self.card or await self.fetch_card()
        config = ClientConfig(
            streaming=streaming,
            polling=polling,
            httpx_client=self.http,
            supported_transports=[BINDINGS[self.options.binding]],
            push_notification_configs=[push] if push else [],
        )
        token = self.options.token
        interceptors = [AuthInterceptor(OneToken(token))] if token else []
        return ClientFactory(config).create(card, interceptors=interceptors)

    def message(self, text, task=None, context=None):
        return Message(
            role=Role.user,
            message_id=self.options.message_id or str(uuid.uuid4()),
            task_id=task,
            context_id=context or self.options.context,
            parts=[Part(root=TextPart(text=text))],
        )


def plain(thing):
    return thing.model_dump(mode="json", by_alias=True, exclude_none=True)


def show(event):
    """Prints what a stream or a blocking call gave. Returns the id of its task."""
    if isinstance(event, Message):
        lines.show_message(plain(event))
        return None
    task, update = event
    if update is None:
        lines.show_task(plain(task))
    elif isinstance(update, TaskArtifactUpdateEvent):
        lines.show_artifact(plain(update))
    else:
        lines.show_status(plain(update))
    return task.id


async def stream_and_cut(peer, options):
    """Drops the connection in the middle, and subscribes to the task on another one."""
    events = (await peer.client()).send_message(peer.message(options.text))
    seen, task = 0, None
    async for event in events:
        task = show(event) or task
        seen += 1
        if seen == options.events:
            break
    await events.aclose()
    await peer.http.aclose()
    lines.line("cut", task=task, events=seen)
    again = await Peer(options).client()
    async for event in again.resubscribe(TaskIdParams(id=task)):
        show(event)


async def push(peer, options):
    webhook = lines.Webhook(options.webhook)
    config = PushNotificationConfig(id="first", url=webhook.url, token=webhook.TOKEN)
    client = await peer.client(streaming=False, polling=True, push=config)
    async for event in client.send_message(peer.message(options.text)):
        show(event)
    await asyncio.to_thread(webhook.show_until_the_end)


async def push_configs(client, task):
    """Makes a configuration and reads it; the SDK's client has no more of them."""
    config = PushNotificationConfig(
        id="second", url="http://127.0.0.1:9/notify", token="token-of-the-second"
    )
    wanted = TaskPushNotificationConfig(task_id=task, push_notification_config=config)
    made = await client.set_task_callback(wanted)
    lines.line("push-config", step="create", raw=plain(made))
    wanted = GetTaskPushNotificationConfigParams(
        id=task, push_notification_config_id=made.push_notification_config.id
    )
    lines.line("push-config", step="get", raw=plain(await client.get_task_callback(wanted)))


async def run(options):
    peer = Peer(options)
    async with peer.http:
        await obey(peer, options)


async def obey(peer, options):
    command = options.command
    if command == "card":
        lines.line("card", raw=plain(await peer.fetch_card()))
        return
    if command == "stream-cut":
        await stream_and_cut(peer, options)
        return
    if command == "push":
        await push(peer, options)
        return
    streaming = command in ["stream", "resubscribe"]
    client = await peer.client(streaming, polling=command == "start")
    if command in ["send", "start", "stream"]:
        async for event in client.send_message(peer.message(options.text)):
            show(event)
    elif command == "answer":
        message = peer.message(options.text, options.task, options.answer_context)
        async for event in client.send_message(message):
            show(event)
    elif command == "cancel":
        lines.show_task(plain(await client.cancel_task(TaskIdParams(id=options.task))))
    elif command == "get":
        lines.show_task(plain(await client.get_task(TaskQueryParams(id=options.task))))
    elif command == "resubscribe":
        async for event in client.resubscribe(TaskIdParams(id=options.task)):
            show(event)
    elif command == "push-configs":
        await push_configs(client, options.task)
    else:
        lines.line("card", raw=plain(await client.get_card()))


if __name__ == "__main__":
    given = lines.parse(__doc__.splitlines()[0], list(BINDINGS), listing=False)
    try:
        asyncio.run(run(given))
    except Exception as error:  # Whatever it is, the test wants to know its name.
        answered = getattr(error, "error", None)
        lines.fail(error, code=getattr(answered, "code", None), data=getattr(answered, "data", None))
