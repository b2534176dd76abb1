/** Another site, with the pages of a test. */
export interface Elsewhere {
  readonly url: string
  stop(): Promise<void>
}

/** Starts another site at 127.0.0.1, while the app is at localhost. */
export function startElsewhere(): Elsewhere {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      new Response("<!doctype html><title>Elsewhere</title><h1>Elsewhere</h1>", {
        headers: { "content-type": "text/html" },
      }),
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}
