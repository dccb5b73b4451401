// An agent made with @a2a-js/sdk 0.3, on JSON-RPC.
//
//   a2a03_agent.mjs [--port 0] [--token T] [--log FILE]
//
// What it does with messages is in behaviour.mjs.

import { randomUUID } from 'node:crypto';

import { act } from './behaviour.mjs';
import { commandLine } from './command_line.mjs';
import { CARD, guard } from './access.mjs';
import { load } from './packages.mjs';

const express = (await load('express')).default;
const server = await load('a2a-sdk-03/server');
const web = await load('a2a-sdk-03/server/express');

// In 0.3 the last event of a stream says that it is, also where the task waits for an answer.
const RESTS = ['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required'];

class Executor {
  // What ends the waits of each running task.
  running = new Map();

  constructor(headersOf) {
    this.headersOf = headersOf;
  }

  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const text = userMessage.parts.map((part) => part.text ?? '').join('\n');
    if (text.trim() === 'message') {
      bus.publish(message('A bare message.', { contextId }));
      bus.finished();
      return;
    }
    const continues = ['input-required', 'auth-required'].includes(context.task?.status.state);
    if (!context.task) {
      const status = { state: 'submitted', timestamp: new Date().toISOString() };
      bus.publish({ kind: 'task', id: taskId, contextId, status, history: [userMessage] });
    }
    const ending = new AbortController();
    this.running.set(taskId, { ending, contextId });
    try {
      const headers = this.headersOf(userMessage.messageId);
      await act(text, continues, headers, events(bus, context), ending.signal);
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    } finally {
      this.running.delete(taskId);
      bus.finished();
    }
  }

  async cancelTask(taskId, bus) {
    const task = this.running.get(taskId);
    events(bus, { taskId, contextId: task?.contextId ?? '' }).status('CANCELED');
    task?.ending.abort();
  }
}

function message(text, ids) {
  const parts = [{ kind: 'text', text }];
  return { kind: 'message', messageId: randomUUID(), role: 'agent', parts, ...ids };
}

// The events of a task, as behaviour.mjs makes them.
function events(bus, { taskId, contextId }) {
  return {
    status(name, text) {
      const state = name.toLowerCase().replaceAll('_', '-');
      const status = { state, timestamp: new Date().toISOString() };
      if (text) status.message = message(text, { taskId, contextId });
      const final = RESTS.includes(state);
      bus.publish({ kind: 'status-update', taskId, contextId, status, final });
    },
    artifact(text, { id = randomUUID(), append = false, last = false }) {
      const artifact = { artifactId: id, name: 'result', parts: [{ kind: 'text', text }] };
      bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append, lastChunk: last });
    },
  };
}

function card(base, { token }) {
  const security = {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    security: [{ bearer: [] }],
  };
  return {
    name: 'JavaScript 0.3 peer',
    description: 'Does what the first word of a message says.',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url: `${base}/`,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'Echo', description: 'Says it again.', tags: ['echo', 'test'] }],
    ...(token ? security : {}),
  };
}

const { options } = commandLine(['port', 'token', 'log']);
const application = express();
const listener = application.listen(Number(options.port ?? 0), '127.0.0.1', () => {
  const { port } = listener.address();
  const configs = new server.InMemoryPushNotificationStore();
  // This version of the SDK does not hand the headers on; they are kept by the id of the message.
  const headers = new Map();
  const requestHandler = new server.DefaultRequestHandler(
    card(`http://127.0.0.1:${port}`, options),
    new server.InMemoryTaskStore(),
    new Executor((messageId) => headers.get(messageId) ?? {}),
    undefined,
    configs,
    new server.DefaultPushNotificationSender(configs),
  );
  application.use(guard(options));
  application.use(CARD, web.agentCardHandler({ agentCardProvider: requestHandler }));
  application.use(express.json(), (request, _response, next) => {
    const messageId = request.body?.params?.message?.messageId;
    if (messageId) headers.set(messageId, request.headers);
    next();
  });
  const userBuilder = web.UserBuilder.noAuthentication;
  application.use('/', web.jsonRpcHandler({ requestHandler, userBuilder }));
  process.stdout.write(`listening on ${port}\n`);
});
