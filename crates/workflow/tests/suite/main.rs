//! Tests definitions, templates and drawings through the public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod definitions;
mod drawings;
mod refusals;
mod templates;

/// A definition with every key.
pub(crate) const REPORT: &str = r#"
name: daily-report
description: Fetches the figures, checks them and files the report.
inputs:
  folder: { type: string, default: reports }
  urls: { type: list, description: Where the figures are. }
  limit: { type: number, default: 10, required: false }
steps:
  - id: fetch
    for_each: "{{ inputs.urls }}"
    tool: web_fetch
    arguments: { url: "{{ item }}", limit: "{{ inputs.limit }}" }
    retry: { attempts: 3, backoff: 10s }
    timeout: 1m
  - id: check
    needs: [fetch]
    agent: operator
    task: |
      Check these figures and say "ok" if they add up:
      {{ steps.fetch.output }}
    on_failure: { run: apologise }
  - id: release
    needs: [check]
    when: steps.check.output contains 'ok' and inputs.limit > 1
    approve: File the report in {{ inputs.folder }}?
  - id: file
    needs: release
    tool: fs_write
    arguments: { path: "{{ inputs.folder }}/report.md", content: "{{ steps.check.output }}" }
    on_failure: continue
  - id: apologise
    task: "Say that the check failed: {{ steps.check.error }}"
outputs:
  report: "{{ steps.check.output }}"
  count: { files: "{{ steps.fetch.output }}" }
"#;
