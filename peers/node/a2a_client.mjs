// A client made with @a2a-js/sdk 1.x. Commands and lines: ../README.md.
//
//   a2a_client.mjs --url BASE [--token T] [--binding jsonrpc|rest] [--legacy] COMMAND ...
//
// `--legacy` lets the SDK speak protocol 0.3 with an agent whose card says so.

import { randomUUID } from 'node:crypto';

import * as lines from './client_lines.mjs';
import { commandLine, fail, line } from './command_line.mjs';
import { fetchWithToken } from './fetch_with_token.mjs';
import { load } from './packages.mjs';
import { TOKEN, webhook } from './webhook.mjs';

const sdk = await load('@a2a-js/sdk');
const sdkClient = await load('@a2a-js/sdk/client');

const BINDINGS = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON' };

const { options, words } = commandLine(
  ['url', 'token', 'binding', 'message-id', 'context', 'webhook', 'page-size'],
  ['legacy'],
);
const legacyCompat = { enabled: Boolean(options.legacy) };

async function connect(polling = false) {
  const fetchImpl = fetchWithToken(sdkClient, options);
  const factories = {
    jsonrpc: new sdkClient.JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
    rest: new sdkClient.RestTransportFactory({ fetchImpl, legacyCompat }),
  };
  const binding = options.binding ?? 'jsonrpc';
  const factory = new sdkClient.ClientFactory({
    transports: [factories[binding]],
    preferredTransports: [BINDINGS[binding]],
    cardResolver: new sdkClient.DefaultAgentCardResolver({ legacyCompat }),
    clientConfig: { polling },
  });
  return factory.createFromUrl(options.url);
}

function request(text, { taskId, contextId = options.context, configuration } = {}) {
  const messageId = options['message-id'] ?? randomUUID();
  const message = { messageId, taskId, contextId, role: 'ROLE_USER', parts: [{ text }] };
  return sdk.SendMessageRequest.fromJSON({ message, configuration });
}

const showTask = (task) => lines.showTask(sdk.Task.toJSON(task));

// Prints an event of a stream. Returns the id of its task.
function show({ payload: { $case: kind, value } }) {
  if (kind === 'task') return showTask(value);
  if (kind === 'message') return lines.showMessage(sdk.Message.toJSON(value));
  if (kind === 'statusUpdate') return lines.showStatus(sdk.TaskStatusUpdateEvent.toJSON(value));
  return lines.showArtifact(sdk.TaskArtifactUpdateEvent.toJSON(value));
}

async function showAll(events) {
  for await (const event of events) show(event);
}

function showResult(result) {
  if ('messageId' in result) return lines.showMessage(sdk.Message.toJSON(result));
  return showTask(result);
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
  await showAll(again.resubscribeTask(sdk.SubscribeToTaskRequest.fromJSON({ id: task })));
}

async function push(text) {
  const hook = await webhook(Number(options.webhook ?? 0));
  const client = await connect(true);
  const taskPushNotificationConfig = { id: 'first', url: hook.url, token: TOKEN };
  const configuration = { taskPushNotificationConfig, returnImmediately: true };
  showResult(await client.sendMessage(request(text, { configuration })));
  await hook.untilTheEnd;
  hook.server.close();
  hook.server.closeAllConnections();
}

// Makes a configuration, reads it, lists it and removes it.
async function pushConfigs(client, taskId) {
  const url = 'http://127.0.0.1:9/notify';
  const fields = { taskId, id: 'second', url, token: 'token-of-the-second' };
  const wanted = sdk.TaskPushNotificationConfig.fromJSON(fields);
  const made = await client.createTaskPushNotificationConfig(wanted);
  line('push-config', { step: 'create', raw: sdk.TaskPushNotificationConfig.toJSON(made) });
  const one = { taskId, id: made.id };
  const named = sdk.GetTaskPushNotificationConfigRequest.fromJSON(one);
  const read = await client.getTaskPushNotificationConfig(named);
  line('push-config', { step: 'get', raw: sdk.TaskPushNotificationConfig.toJSON(read) });
  const all = sdk.ListTaskPushNotificationConfigsRequest.fromJSON({ taskId });
  const listed = await client.listTaskPushNotificationConfig(all);
  const raw = sdk.ListTaskPushNotificationConfigsResponse.toJSON(listed);
  line('push-config', { step: 'list', raw });
  const gone = sdk.DeleteTaskPushNotificationConfigRequest.fromJSON(one);
  await client.deleteTaskPushNotificationConfig(gone);
  line('push-config', { step: 'delete', raw: {} });
}

// One line for each page.
async function list(client) {
  const pageSize = Number(options['page-size'] ?? 50);
  let pageToken = '';
  do {
    const page = await client.listTasks(sdk.ListTasksRequest.fromJSON({ pageSize, pageToken }));
    const raw = sdk.ListTasksResponse.toJSON(page);
    line('tasks', { tasks: page.tasks.map((task) => task.id), raw });
    pageToken = page.nextPageToken;
  } while (pageToken);
}

async function run([command, first, second, third]) {
  if (command === 'card') {
    const resolver = new sdkClient.DefaultAgentCardResolver({ legacyCompat });
    return line('card', { raw: sdk.AgentCard.toJSON(await resolver.resolve(options.url)) });
  }
  if (command === 'stream-cut') return streamAndCut(first, Number(second));
  if (command === 'push') return push(first);
  const client = await connect(command === 'start');
  const configuration = command === 'start' ? { returnImmediately: true } : undefined;
  switch (command) {
    case 'send':
    case 'start':
      return showResult(await client.sendMessage(request(first, { configuration })));
    case 'stream':
      return showAll(client.sendMessageStream(request(first)));
    case 'answer': {
      const answer = request(third, { taskId: first, contextId: second });
      return showResult(await client.sendMessage(answer));
    }
    case 'cancel':
      return showTask(await client.cancelTask(sdk.CancelTaskRequest.fromJSON({ id: first })));
    case 'get':
      return showTask(await client.getTask(sdk.GetTaskRequest.fromJSON({ id: first })));
    case 'resubscribe':
      return showAll(
        client.resubscribeTask(sdk.SubscribeToTaskRequest.fromJSON({ id: first })),
      );
    case 'push-configs':
      return pushConfigs(client, first);
    case 'extended-card':
      return line('card', { raw: sdk.AgentCard.toJSON(await client.getAgentCard()) });
    case 'list':
      return list(client);
    default:
      throw new Error(`there is no command ${command}`);
  }
}

try {
  await run(words);
} catch (error) {
  fail(error, { code: error?.code ?? null, data: error?.data ?? error?.details ?? null });
}
