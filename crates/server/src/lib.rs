//! One HTTP server for every door: A2A, the OpenAI wire, MCP and health.
