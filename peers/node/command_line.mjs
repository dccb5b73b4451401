// Options and words of a command line, and the lines of JSON that answer it.

import { parseArgs } from 'node:util';

// Reads `--name value` for each of the names, and the words.
export function commandLine(names, flags = []) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  for (const flag of flags) options[flag] = { type: 'boolean' };
  options.header = { type: 'string', multiple: true };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  return { options: values, words: positionals };
}

export function line(kind, fields) {
  process.stdout.write(`${JSON.stringify({ kind, ...fields })}\n`);
}

// The last line of a client that did not get what it asked for. Its exit status is 1.
export function fail(error, fields = {}) {
  const name = error?.constructor?.name ?? typeof error;
  line('error', { class: name, message: String(error?.message ?? error), ...fields });
  process.exitCode = 1;
}
