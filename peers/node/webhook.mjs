// A place for notifications on 127.0.0.1.

import { createServer } from 'node:http';

import { sameState } from './client_lines.mjs';
import { line } from './command_line.mjs';

export const TOKEN = 'token-of-the-webhook';

const RESTS = ['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required'];

// No test waits longer for a notification.
const TIMEOUT_MILLISECONDS = 60_000;

// Starts it. `untilTheEnd` is done when a notification has said that the task has ended or waits.
export async function webhook(port) {
  let ended;
  let gaveUp;
  const untilTheEnd = new Promise((resolve, reject) => {
    ended = resolve;
    gaveUp = reject;
  });
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end();
    const raw = JSON.parse(Buffer.concat(chunks).toString());
    const holder = [raw, raw.task, raw.statusUpdate].find((one) => one?.status);
    const state = holder ? sameState(holder.status.state) : null;
    const token = request.headers['x-a2a-notification-token'] ?? null;
    line('notification', { token, state, headers: request.headers, raw });
    if (RESTS.includes(state)) ended();
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  setTimeout(() => gaveUp(new Error('no notification of the end')), TIMEOUT_MILLISECONDS).unref();
  return { url: `http://127.0.0.1:${server.address().port}/notify`, untilTheEnd, server };
}
