// The lines that the A2A clients print for JSON of either version of the protocol; the same as those of
// ../python/client_lines.py. Each returns the id of the task, or null.

import { line } from './command_line.mjs';

// TASK_STATE_INPUT_REQUIRED and input-required as one word.
export function sameState(state) {
  return (state ?? '').replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}

const textOf = (parts) => (parts ?? []).map((part) => part.text ?? '').join('');

export function showTask(raw) {
  line('task', {
    task: raw.id,
    context: raw.contextId ?? null,
    state: sameState(raw.status?.state),
    text: textOf(raw.status?.message?.parts),
    artifacts: (raw.artifacts ?? []).map((artifact) => textOf(artifact.parts)),
    raw,
  });
  return raw.id;
}

export function showMessage(raw) {
  line('message', { context: raw.contextId ?? null, text: textOf(raw.parts), raw });
  return null;
}

export function showStatus(raw) {
  const state = sameState(raw.status.state);
  const text = textOf(raw.status.message?.parts);
  line('status', { task: raw.taskId, context: raw.contextId ?? null, state, text, raw });
  return raw.taskId;
}

export function showArtifact(raw) {
  line('artifact', {
    task: raw.taskId,
    context: raw.contextId ?? null,
    artifact: raw.artifact.artifactId,
    text: textOf(raw.artifact.parts),
    append: raw.append ?? false,
    last: raw.lastChunk ?? false,
    raw,
  });
  return raw.taskId;
}
