// The official OpenAI client for JavaScript, for /v1 of ours. Commands and lines: ../README.md.
//
//   openai_client.mjs --url BASE/v1 [--key K] [--model M] [--tools] COMMAND ...

import { commandLine, line } from './command_line.mjs';
import { load } from './packages.mjs';

const OpenAI = (await load('openai')).default;

// Something that the client's program could do itself. Ours must not mix its own tools up with it.
const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { place: { type: 'string' } } },
  },
};

// What the client's types know: the rest is an extension.
const KNOWN = 'id object created model choices usage service_tier system_fingerprint moderation metadata';
const KNOWN_IN_MESSAGE = 'role content refusal tool_calls function_call annotations audio parsed';

const { options, words } = commandLine(['url', 'key', 'model', 'user', 'timeout'], ['tools']);
const [command, ...texts] = words;

function client(apiKey = options.key ?? 'no-key') {
  const timeout = Number(options.timeout ?? 60) * 1000;
  return new OpenAI({ baseURL: options.url, apiKey, maxRetries: 0, timeout });
}

const user = (content) => ({ role: 'user', content });

function request(messages, more = {}) {
  const fields = { model: options.model ?? 'lango', messages, ...more };
  if (options.tools) fields.tools = [TOOL];
  if (options.user) fields.user = options.user;
  return fields;
}

function unknown(object, known) {
  const names = known.split(' ');
  return Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => !names.includes(name)));
}

function showCompletion(raw) {
  const [choice] = raw.choices;
  line('completion', {
    id: raw.id,
    object: raw.object,
    model: raw.model,
    text: choice.message.content,
    role: choice.message.role,
    finish: choice.finish_reason,
    calls: choice.message.tool_calls?.length ?? 0,
    usage: raw.usage ?? null,
    extra: unknown(raw, KNOWN),
    message_extra: unknown(choice.message, KNOWN_IN_MESSAGE),
    raw,
  });
}

async function chat(messages, more) {
  const completion = await client().chat.completions.create(request(messages, more));
  showCompletion(completion);
  return completion.choices[0].message.content;
}

// A line for each chunk, and the whole at the end.
async function stream(text) {
  const more = { stream: true, stream_options: { include_usage: true } };
  const ids = new Set();
  let whole = '';
  let finish = null;
  let usage = null;
  for await (const raw of await client().chat.completions.create(request([user(text)], more))) {
    const choice = raw.choices[0];
    const piece = choice?.delta?.content ?? '';
    line('chunk', {
      text: piece,
      finish: choice?.finish_reason ?? null,
      extra: unknown(raw, KNOWN),
      delta_extra: unknown(choice?.delta, KNOWN_IN_MESSAGE),
      raw,
    });
    whole += piece;
    ids.add(raw.id);
    finish = choice?.finish_reason ?? finish;
    usage = raw.usage ?? usage;
  }
  line('stream-end', { text: whole, ids: ids.size, finish, usage });
}

// The client's own assembly of a stream, which is stricter than reading its chunks.
async function streamHelper(text) {
  const events = client().chat.completions.stream(request([user(text)]));
  for await (const event of events) line('event', { type: event.object });
  showCompletion(await events.finalChatCompletion());
}

async function run() {
  switch (command) {
    case 'chat':
      return chat([user(texts[0])]);
    case 'stream':
      return stream(texts[0]);
    case 'stream-helper':
      return streamHelper(texts[0]);
    case 'conversation': {
      const messages = [];
      for (const text of texts) {
        messages.push(user(text));
        messages.push({ role: 'assistant', content: await chat(messages) });
      }
      return undefined;
    }
    case 'models': {
      const raw = [];
      for await (const model of client().models.list()) raw.push(model);
      return line('models', { models: raw.map((model) => model.id), raw });
    }
    case 'model': {
      const raw = await client().models.retrieve(texts[0]);
      return line('model', { model: raw.id, raw });
    }
    case 'bad-key':
      return client('wrong-key').models.list();
    case 'bad-model':
      return chat([user('hello')], { model: 'no-such-model' });
    case 'bad-request':
      return chat([{ role: 'unknown', content: 7 }], { temperature: 'hot' });
    case 'empty':
      return chat([]);
    default:
      throw new Error(`there is no command ${command}`);
  }
}

try {
  await run();
} catch (error) {
  line('error', {
    class: error.constructor.name,
    status: error.status ?? null,
    code: error.code ?? null,
    type: error.type ?? null,
    param: error.param ?? null,
    message: error.message,
    body: error.error ?? null,
  });
  process.exitCode = 1;
}
