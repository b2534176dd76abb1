import { waitUntil } from "@hamlet/kit/testing"
import { Webhook } from "standardwebhooks"

/** A request that a receiver got. */
export interface ReceivedHook {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
  readonly json: any
}

/** A receiver of webhooks on the loopback address, whose responses a test decides. */
export interface WebhookReceiver {
  readonly port: number
  /** `http://127.0.0.1:port/path` */
  url(path?: string): string
  readonly received: readonly ReceivedHook[]
  respond: (hook: ReceivedHook) => Response | Promise<Response>
  /** Waits until so many requests to the path have arrived. */
  waitFor(count: number, path?: string): Promise<readonly ReceivedHook[]>
  stop(): Promise<void>
}

/** Starts a receiver that accepts everything. */
export function startReceiver(port = 0): WebhookReceiver {
  const received: ReceivedHook[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text()
      const hook = {
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body,
        json: JSON.parse(body),
      }
      received.push(hook)
      return receiver.respond(hook)
    },
  })
  const at = (path: string | undefined) =>
    received.filter((hook) => path === undefined || hook.path === path)
  const receiver: WebhookReceiver = {
    port: server.port ?? 0,
    url: (path = "/") => `http://127.0.0.1:${server.port}${path}`,
    received,
    respond: () => new Response(null, { status: 204 }),
    async waitFor(count, path) {
      await waitUntil(() => at(path).length >= count)
      return at(path)
    },
    stop: () => server.stop(true),
  }
  return receiver
}

/** The message, if it is signed with the secret; throws otherwise. */
export function verifyHook(secret: string, { headers, body }: ReceivedHook): unknown {
  return new Webhook(secret).verify(body, headers)
}
