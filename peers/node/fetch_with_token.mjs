// The `fetch` of the A2A clients: with the headers and the token of the command line.

export function fetchWithToken(sdkClient, options) {
  const extra = (options.header ?? []).map((header) => header.split(/=(.*)/s));
  const withHeaders = (url, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of extra) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
  if (!options.token) return withHeaders;
  const authorization = { Authorization: `Bearer ${options.token}` };
  return sdkClient.createAuthenticatingFetchWithRetry(withHeaders, {
    headers: async () => authorization,
    shouldRetryWithHeaders: async () => undefined,
  });
}
