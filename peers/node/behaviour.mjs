// What the test agents do with a message: the same as ../python/behaviour.py, which lists it.

import { setTimeout as sleep } from 'node:timers/promises';

const HEADERS = ['traceparent', 'tracestate', 'a2a-version', 'a2a-extensions', 'user-agent'];

// Plays a task to its end, or to where it needs an answer. `task` has `status(state, text)` and
// `artifact(text, {id, append, last})`; `signal` ends the waits of a cancelled one.
export async function act(text, continues, headers, task, signal) {
  const [word, ...others] = text.trim().split(' ');
  const rest = others.join(' ');
  const finish = (artifact) => {
    task.artifact(artifact, { last: true });
    task.status('COMPLETED');
  };
  task.status('WORKING');
  if (continues) {
    finish(`got: ${text}`);
  } else if (word === 'echo') {
    finish(rest);
  } else if (word === 'stream') {
    await stream(others, task, signal);
  } else if (word === 'ask') {
    task.status('INPUT_REQUIRED', rest || 'Which colour?');
  } else if (word === 'login') {
    task.status('AUTH_REQUIRED', 'Sign in, then go on.');
  } else if (word === 'slow') {
    await sleep(Number(rest || 1) * 1000, undefined, { signal });
    finish('slept');
  } else if (word === 'reject') {
    task.status('REJECTED', 'I do not do this.');
  } else if (word === 'fail') {
    task.status('FAILED', 'It went wrong.');
  } else if (word === 'headers') {
    finish(JSON.stringify(Object.fromEntries(HEADERS.map((name) => [name, headers[name] ?? null]))));
  } else {
    finish(`heard: ${text}`);
  }
}

async function stream([count = '3', pause = '0.05'], task, signal) {
  for (let number = 1; number <= Number(count); number += 1) {
    await sleep(Number(pause) * 1000, undefined, { signal });
    task.artifact(`chunk ${number} `, {
      id: 'stream',
      append: number > 1,
      last: number === Number(count),
    });
  }
  task.status('COMPLETED');
}
