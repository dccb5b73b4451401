"""A client made with the Python a2a-sdk 1.x. Commands and lines: client_lines.py and ../README.md.

  a2a_client.py --url BASE [--token T] [--binding jsonrpc|rest] COMMAND ...
"""

import asyncio
import uuid

import httpx
from a2a.client import A2ACardResolver, AuthInterceptor, ClientConfig, ClientFactory
from a2a.client.auth import CredentialService
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from google.protobuf.json_format import MessageToDict

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

    async def client(self, streaming=True, polling=False):
        card = self.card or await self.fetch_card()
        config = ClientConfig(
            streaming=streaming,
            polling=polling,
            httpx_client=self.http,
            supported_protocol_bindings=[BINDINGS[self.options.binding]],
        )
        token = self.options.token
        return ClientFactory(config).create(card, [AuthInterceptor(OneToken(token))] if token else [])

    def request(self, text, task=None, context=None):
        message = Message(
            role=Role.ROLE_USER,
            message_id=self.options.message_id or str(uuid.uuid4()),
            task_id=task,
            context_id=context or self.options.context,
            parts=[Part(text=text)],
        )
        return SendMessageRequest(message=message)


def show(event):
    """Prints what a stream or a blocking call gave. Returns the id of its task."""
    raw = MessageToDict(event)
    if event.HasField("task"):
        lines.show_task(raw["task"])
        return event.task.id
    if event.HasField("status_update"):
        lines.show_status(raw["statusUpdate"])
        return event.status_update.task_id
    if event.HasField("artifact_update"):
        lines.show_artifact(raw["artifactUpdate"])
        return event.artifact_update.task_id
    lines.show_message(raw["message"])
    return None


async def stream_and_cut(peer, options):
    """Drops the connection in the middle, and subscribes to the task on another one."""
    events = (await peer.client()).send_message(peer.request(options.text))
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
    async for event in again.subscribe(SubscribeToTaskRequest(id=task)):
        show(event)


async def push(peer, options):
    webhook = lines.Webhook(options.webhook)
    request = peer.request(options.text)
    config = TaskPushNotificationConfig(id="first", url=webhook.url, token=webhook.TOKEN)
    request.configuration.task_push_notification_config.CopyFrom(config)
    client = await peer.client(streaming=False, polling=True)
    async for event in client.send_message(request):
        show(event)
    await asyncio.to_thread(webhook.show_until_the_end)


async def push_configs(client, task):
    """Makes a configuration, reads it, lists it and removes it."""
    wanted = TaskPushNotificationConfig(
        task_id=task, id="second", url="http://127.0.0.1:9/notify", token="token-of-the-second"
    )
    made = await client.create_task_push_notification_config(wanted)
    lines.line("push-config", step="create", raw=MessageToDict(made))
    wanted = GetTaskPushNotificationConfigRequest(task_id=task, id=made.id)
    read = await client.get_task_push_notification_config(wanted)
    lines.line("push-config", step="get", raw=MessageToDict(read))
    wanted = ListTaskPushNotificationConfigsRequest(task_id=task)
    listed = await client.list_task_push_notification_configs(wanted)
    lines.line("push-config", step="list", raw=MessageToDict(listed))
    wanted = DeleteTaskPushNotificationConfigRequest(task_id=task, id=made.id)
    await client.delete_task_push_notification_config(wanted)
    lines.line("push-config", step="delete", raw={})


async def list_tasks(client, page_size):
    """One line for each page."""
    token = ""
    while True:
        page = await client.list_tasks(ListTasksRequest(page_size=page_size, page_token=token))
        lines.line("tasks", tasks=[task.id for task in page.tasks], raw=MessageToDict(page))
        token = page.next_page_token
        if not token:
            return


async def run(options):
    peer = Peer(options)
    async with peer.http:
        await obey(peer, options)


async def obey(peer, options):
    command = options.command
    if command == "card":
        lines.line("card", raw=MessageToDict(await peer.fetch_card()))
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
        async for event in client.send_message(peer.request(options.text)):
            show(event)
    elif command == "answer":
        request = peer.request(options.text, options.task, options.answer_context)
        async for event in client.send_message(request):
            show(event)
    elif command == "cancel":
        lines.show_task(MessageToDict(await client.cancel_task(CancelTaskRequest(id=options.task))))
    elif command == "get":
        lines.show_task(MessageToDict(await client.get_task(GetTaskRequest(id=options.task))))
    elif command == "resubscribe":
        async for event in client.subscribe(SubscribeToTaskRequest(id=options.task)):
            show(event)
    elif command == "push-configs":
        await push_configs(client, options.task)
    elif command == "extended-card":
        card = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
        lines.line("card", raw=MessageToDict(card))
    else:
        await list_tasks(client, options.page_size)


if __name__ == "__main__":
    given = lines.parse(__doc__.splitlines()[0], list(BINDINGS), listing=True)
    try:
        asyncio.run(run(given))
    except Exception as error:  # Whatever it is, the test wants to know its name.
        lines.fail(error, data=getattr(error, "data", None))
