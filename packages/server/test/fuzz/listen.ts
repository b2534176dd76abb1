import type { TestApi } from "../support/api.ts"

/** The server of the API on a port, as main.ts opens it. */
export function listen(api: TestApi): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    maxRequestBodySize: 1_073_741_824,
    fetch: (request, server) =>
      api.hamlet.app.fetch(request, { address: () => server.requestIP(request)?.address ?? "" }),
  })
}
