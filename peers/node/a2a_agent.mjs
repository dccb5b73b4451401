// An agent made with @a2a-js/sdk 1.x, on JSON-RPC (at /) and HTTP+JSON (under /rest).
//
//   a2a_agent.mjs [--port 0] [--token T] [--log FILE] [--binding jsonrpc|rest|both] [--legacy]
//                 [--proper-card]
//
// What it does with messages is in behaviour.mjs. `--binding` says what the card offers, `--legacy` lets
// the SDK answer protocol 0.3 at the same place. The card is served as the SDK's documentation does it,
// which in this version writes `securitySchemes` in its internal form ("scheme": {"$case": ...});
// `--proper-card` writes them as the protocol has them. Prints `listening on PORT` once it does; with
// `--log FILE` it writes a JSON line for each request there.

import { randomUUID } from 'node:crypto';

import { act } from './behaviour.mjs';
import { commandLine } from './command_line.mjs';
import { CARD, guard } from './access.mjs';
import { load } from './packages.mjs';

const express = (await load('express')).default;
const sdk = await load('@a2a-js/sdk');
const server = await load('@a2a-js/sdk/server');
const web = await load('@a2a-js/sdk/server/express');

const ASKED = [sdk.TaskState.TASK_STATE_INPUT_REQUIRED, sdk.TaskState.TASK_STATE_AUTH_REQUIRED];

class Executor {
  // What ends the waits of each running task.
  running = new Map();

  async execute(context, bus) {
    const text = context.userMessage.parts.map((part) => part.content?.value ?? '').join('\n');
    if (text.trim() === 'message') {
      const { contextId } = context;
      bus.publish(server.AgentEvent.message(message('A bare message.', { contextId })));
      bus.finished();
      return;
    }
    const continues = ASKED.includes(context.task?.status?.state);
    bus.publish(server.AgentEvent.task(context.task ?? newTask(context)));
    const ending = new AbortController();
    this.running.set(context.taskId, { ending, contextId: context.contextId });
    const headers = context.context.state.get(server.STATE_HEADERS_KEY) ?? {};
    try {
      await act(text, continues, headers, events(bus, context), ending.signal);
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    } finally {
      this.running.delete(context.taskId);
    }
  }

  async cancelTask(taskId, bus) {
    const task = this.running.get(taskId);
    events(bus, { taskId, contextId: task?.contextId ?? '' }).status('CANCELED');
    task?.ending.abort();
  }
}

function newTask({ taskId, contextId, userMessage }) {
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date().toISOString() };
  const task = sdk.Task.fromJSON({ id: taskId, contextId, status });
  return { ...task, history: [userMessage] };
}

function message(text, ids) {
  const fields = { ...ids, messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text }] };
  return sdk.Message.fromJSON(fields);
}

// The events of a task, as behaviour.mjs makes them.
function events(bus, { taskId, contextId }) {
  return {
    status(state, text) {
      const update = sdk.TaskStatusUpdateEvent.fromJSON({
        taskId,
        contextId,
        status: { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() },
      });
      if (text) update.status.message = message(text, { taskId, contextId });
      bus.publish(server.AgentEvent.statusUpdate(update));
    },
    artifact(text, { id = randomUUID(), append = false, last = false }) {
      const artifact = { artifactId: id, name: 'result', parts: [{ text }] };
      const fields = { taskId, contextId, artifact, append, lastChunk: last };
      bus.publish(server.AgentEvent.artifactUpdate(sdk.TaskArtifactUpdateEvent.fromJSON(fields)));
    },
  };
}

function card(base, { binding = 'both', token, legacy }) {
  const offers = {
    jsonrpc: [{ url: base, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    rest: [{ url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
  };
  const old = { url: base, protocolBinding: 'JSONRPC', protocolVersion: '0.3' };
  const fields = {
    name: 'JavaScript peer',
    description: 'Does what the first word of a message says.',
    version: '1.0.0',
    supportedInterfaces: [
      ...(binding === 'both' ? [...offers.jsonrpc, ...offers.rest] : offers[binding]),
      ...(legacy ? [old] : []),
    ],
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'Echo', description: 'Says it again.', tags: ['echo', 'test'] }],
  };
  if (token) {
    fields.securitySchemes = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } };
    fields.securityRequirements = [{ schemes: { bearer: { list: [] } } }];
  }
  return sdk.AgentCard.fromJSON(fields);
}

const { options } = commandLine(['port', 'token', 'binding', 'log'], ['legacy', 'proper-card']);
const application = express();
const listener = application.listen(Number(options.port ?? 0), '127.0.0.1', () => {
  const { port } = listener.address();
  const described = card(`http://127.0.0.1:${port}`, options);
  const configs = new server.InMemoryPushNotificationStore();
  const requestHandler = new server.DefaultRequestHandler(
    described,
    new server.InMemoryTaskStore(),
    new Executor(),
    undefined,
    configs,
    new server.DefaultPushNotificationSender(configs),
  );
  const legacyCompat = { enabled: Boolean(options.legacy) };
  const shared = { requestHandler, userBuilder: web.UserBuilder.noAuthentication, legacyCompat };
  application.use(guard(options));
  const proper = async () => sdk.AgentCard.toJSON(described);
  const agentCardProvider = options['proper-card'] ? proper : requestHandler;
  application.use(CARD, web.agentCardHandler({ agentCardProvider, legacyCompat }));
  application.use('/rest', web.restHandler(shared));
  application.use('/', web.jsonRpcHandler(shared));
  process.stdout.write(`listening on ${port}\n`);
});
