// A client made with @a2a-js/sdk 0.3. Commands and lines: ../README.md.
//
//   a2a03_client.mjs --url BASE [--token T] [--binding jsonrpc|rest] COMMAND ...

import { randomUUID } from 'node:crypto';

import * as lines from './client_lines.mjs';
import { commandLine, fail, line } from './command_line.mjs';
import { fetchWithToken } from './fetch_with_token.mjs';
import { load } from './packages.mjs';
import { TOKEN, webhook } from './webhook.mjs';

const sdkClient = await load('a2a-sdk-03/client');

const BINDINGS = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON' };

const { options, words } = commandLine([
  'url',
  'token',
  'binding',
  'message-id',
  'context',
  'webhook',
]);

async function connect() {
  const fetchImpl = fetchWithToken(sdkClient, options);
  const binding = options.binding ?? 'jsonrpc';
  const factories = {
    jsonrpc: new sdkClient.JsonRpcTransportFactory({ fetchImpl }),
    rest: new sdkClient.RestTransportFactory({ fetchImpl }),
  };
  const factory = new sdkClient.ClientFactory({
    transports: [factories[binding]],
    preferredTransports: [BINDINGS[binding]],
    cardResolver: new sdkClient.DefaultAgentCardResolver(),
  });
  return factory.createFromUrl(options.url);
}

function request(text, { taskId, contextId = options.context, configuration } = {}) {
  const messageId = options['message-id'] ?? randomUUID();
  const parts = [{ kind: 'text', text }];
  const message = { kind: 'message', messageId, taskId, contextId, role: 'user', parts };
  return { message, configuration };
}

// Prints an event of a stream, or a result. Returns the id of its task.
function show(event) {
  if (event.kind === 'task') return lines.showTask(event);
  if (event.kind === 'message') return lines.showMessage(event);
  if (event.kind === 'status-update') return lines.showStatus(event);
  return lines.showArtifact(event);
}

async function showAll(events) {
  for await (const event of events) show(event);
}

// Drops the connection in the middle, and subscribes to the task with another client.
async function streamAndCut(text, count) {
  const connection = new AbortController();
  const client = await connect();
  let seen = 0;
  let task = null;
  for await (const event of client.sendMessageStream(request(text), { signal: connection.signal })) {
    task = show(event) ?? task;
    seen += 1;
    if (seen === count) break;
  }
  connection.abort();
  line('cut', { task, events: seen });
  const again = await connect();
  await showAll(again.resubscribeTask({ id: task }));
}

async function push(text) {
  const hook = await webhook(Number(options.webhook ?? 0));
  const client = await connect();
  const pushNotificationConfig = { id: 'first', url: hook.url, token: TOKEN };
  const configuration = { pushNotificationConfig, blocking: false };
  show(await client.sendMessage(request(text, { configuration })));
  await hook.untilTheEnd;
  hook.server.close();
  hook.server.closeAllConnections();
}

// Makes a configuration, reads it, lists it and removes it.
async function pushConfigs(client, taskId) {
  const url = 'http://127.0.0.1:9/notify';
  const pushNotificationConfig = { id: 'second', url, token: 'token-of-the-second' };
  const made = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig });
  line('push-config', { step: 'create', raw: made });
  const one = { id: taskId, pushNotificationConfigId: made.pushNotificationConfig.id };
  const read = await client.getTaskPushNotificationConfig(one);
  line('push-config', { step: 'get', raw: read });
  const listed = await client.listTaskPushNotificationConfig({ id: taskId });
  line('push-config', { step: 'list', raw: listed });
  await client.deleteTaskPushNotificationConfig(one);
  line('push-config', { step: 'delete', raw: {} });
}

async function run([command, first, second, third]) {
  if (command === 'card') {
    return line('card', { raw: await new sdkClient.DefaultAgentCardResolver().resolve(options.url) });
  }
  if (command === 'stream-cut') return streamAndCut(first, Number(second));
  if (command === 'push') return push(first);
  const client = await connect();
  switch (command) {
    case 'send':
    case 'start': {
      const configuration = { blocking: command === 'send' };
      return show(await client.sendMessage(request(first, { configuration })));
    }
    case 'stream':
      return showAll(client.sendMessageStream(request(first)));
    case 'answer': {
      const configuration = { blocking: true };
      const answer = request(third, { taskId: first, contextId: second, configuration });
      return show(await client.sendMessage(answer));
    }
    case 'cancel':
      return show(await client.cancelTask({ id: first }));
    case 'get':
      return show(await client.getTask({ id: first }));
    case 'resubscribe':
      return showAll(client.resubscribeTask({ id: first }));
    case 'push-configs':
      return pushConfigs(client, first);
    case 'extended-card':
      return line('card', { raw: await client.getAgentCard() });
    default:
      throw new Error(`there is no command ${command}`);
  }
}

try {
  await run(words);
} catch (error) {
  fail(error, { code: error?.code ?? null, data: error?.data ?? null });
}
