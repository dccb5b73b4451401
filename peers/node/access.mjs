// The access check of the test agents.

import { appendFileSync } from 'node:fs';

export const CARD = '/.well-known/agent-card.json';

// Demands the token and writes down the requests.
export function guard({ token, log }) {
  return (request, response, next) => {
    if (log) {
      const entry = { request: `${request.method} ${request.path}`, headers: request.headers };
      appendFileSync(log, `${JSON.stringify(entry)}\n`);
    }
    const known = request.headers.authorization === `Bearer ${token}`;
    if (!token || known || request.path === CARD) return next();
    response.set('WWW-Authenticate', 'Bearer').status(401).json({ error: 'a bearer token is needed' });
  };
}
