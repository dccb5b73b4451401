// Keeps a third-party server on 127.0.0.1, where it would listen on all addresses:
//
//   PORT=0 node --import ./on_loopback.mjs $LANGO_PEERS/node/node_modules/.bin/mcp-server-everything \
//     streamableHttp
//
// Prints `listening on PORT` for each port that is opened. Not for servers on stdin and stdout.

import { Server } from 'node:net';

const listen = Server.prototype.listen;

Server.prototype.listen = function listenOnLoopback(first, ...others) {
  this.once('listening', () => process.stdout.write(`listening on ${this.address().port}\n`));
  if (first !== null && typeof first === 'object') {
    return listen.call(this, { ...first, host: '127.0.0.1' }, ...others);
  }
  // The port, perhaps a host, perhaps a backlog, perhaps a callback: only the callback is kept.
  const callbacks = others.filter((other) => typeof other === 'function');
  return listen.call(this, { port: Number(first), host: '127.0.0.1' }, ...callbacks);
};
