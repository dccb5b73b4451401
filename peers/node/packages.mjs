// Loads what `cargo xtask peers` installed. The programs are in the checkout and the packages are not,
// so a plain `import` would not find them.

import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const directory = process.env.LANGO_PEERS;
if (!directory) {
  console.error('LANGO_PEERS is not set. Type: cargo xtask peers');
  process.exit(2);
}

// As if this file were where the packages are.
const there = pathToFileURL(join(directory, 'node', 'package.json')).href;
registerHooks({
  resolve(specifier, context, next) {
    const ours = context.parentURL === import.meta.url;
    return next(specifier, ours ? { ...context, parentURL: there } : context);
  },
});

export const load = (name) => import(name);
