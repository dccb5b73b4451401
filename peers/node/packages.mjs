// Loads what `cargo xtask peers` installed. The programs are in the checkout and the packages are not,
// so a plain `import` would not find them.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const directory = process.env.LANGO_PEERS;
if (!directory) {
  console.error('LANGO_PEERS is not set. Type: cargo xtask peers');
  process.exit(2);
}

export const load = createRequire(join(directory, 'node', 'package.json'));
