"""An agent made with the Python a2a-sdk 1.x, on JSON-RPC (at /) and HTTP+JSON (under /rest).

  a2a_agent.py [--port 0] [--token T] [--log FILE] [--binding jsonrpc|rest|both] [--legacy]

What it does with messages is in behaviour.py. `--binding` says what the card offers, `--legacy` lets
the SDK answer protocol 0.3 at the same place. Push notifications are sent wherever it is asked to.
"""

import httpx
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    TaskState,
)
from starlette.applications import Starlette

import behaviour
import listening

ASKED = [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED]


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        if text.strip() == "message":
            message = new_text_message("A bare message.", context_id=context.context_id)
            await event_queue.enqueue_event(message)
            return
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        continues = task.status.state in ASKED
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        headers = context.call_context.state.get("headers", {})
        await behaviour.act(text, continues, headers, updater, new_text_part)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(base, options):
    offers = {
        "jsonrpc": AgentInterface(url=base, protocol_binding="JSONRPC", protocol_version="1.0"),
        "rest": AgentInterface(
            url=f"{base}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"
        ),
    }
    chosen = list(offers.values()) if options.binding == "both" else [offers[options.binding]]
    card = AgentCard(
        name="Python peer",
        description="Does what the first word of a message says.",
        version="1.0.0",
        supported_interfaces=chosen,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(id="echo", name="Echo", description="Says it again.", tags=["echo", "test"])
        ],
    )
    if options.token:
        bearer = HTTPAuthSecurityScheme(scheme="Bearer")
        card.security_schemes["bearer"].CopyFrom(SecurityScheme(http_auth_security_scheme=bearer))
        card.security_requirements.append(SecurityRequirement(schemes={"bearer": StringList()}))
    return card


def application(base, options):
    described = card(base, options)
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        agent_card=described,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    legacy = options.legacy
    routes = create_agent_card_routes(described)
    routes += create_jsonrpc_routes(handler, "/", enable_v0_3_compat=legacy)
    routes += create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=legacy)
    return Starlette(routes=routes)


if __name__ == "__main__":
    parser = listening.arguments(__doc__.splitlines()[0])
    parser.add_argument("--binding", choices=["jsonrpc", "rest", "both"], default="both")
    parser.add_argument("--legacy", action="store_true", help="answer protocol 0.3, too")
    given = parser.parse_args()
    listening.serve(lambda base: application(base, given), given)
