"""An agent made with the Python a2a-sdk 0.3, on JSON-RPC.

  a2a03_agent.py [--port 0] [--token T] [--log FILE]

What it does with messages is in behaviour.py.
"""

import httpx
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentSkill,
    HTTPAuthSecurityScheme,
    Part,
    SecurityScheme,
    TaskState,
    TextPart,
)
from a2a.utils import new_agent_text_message, new_task

import behaviour
import listening

ASKED = [TaskState.input_required, TaskState.auth_required]


class Updater(TaskUpdater):
    """In 0.3 the last event of a stream says that it is, also where the task waits for an answer."""

    async def requires_input(self, message=None, final=True):
        await super().requires_input(message, final=final)

    async def requires_auth(self, message=None, final=True):
        await super().requires_auth(message, final=final)


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        if text.strip() == "message":
            message = new_agent_text_message("A bare message.", context_id=context.context_id)
            await event_queue.enqueue_event(message)
            return
        task = context.current_task
        if task is None:
            task = new_task(context.message)
            await event_queue.enqueue_event(task)
        continues = task.status.state in ASKED
        updater = Updater(event_queue, task.id, task.context_id)
        headers = context.call_context.state.get("headers", {})
        await behaviour.act(text, continues, headers, updater, text_part)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def text_part(text):
    return Part(root=TextPart(text=text))


def card(base, options):
    card = AgentCard(
        name="Python 0.3 peer",
        description="Does what the first word of a message says.",
        version="1.0.0",
        url=f"{base}/",
        preferred_transport="JSONRPC",
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(id="echo", name="Echo", description="Says it again.", tags=["echo", "test"])
        ],
    )
    if options.token:
        card.security_schemes = {"bearer": SecurityScheme(HTTPAuthSecurityScheme(scheme="bearer"))}
        card.security = [{"bearer": []}]
    return card


def application(base, options):
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    return A2AStarletteApplication(agent_card=card(base, options), http_handler=handler).build()


if __name__ == "__main__":
    given = listening.arguments(__doc__.splitlines()[0]).parse_args()
    listening.serve(lambda base: application(base, given), given)
