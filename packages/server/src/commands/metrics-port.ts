import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Hamlet } from "../compose.ts"
import { type Config, ConfigError } from "../config/config.ts"
import { TokenBucket } from "../shared/token-bucket.ts"
import { explainListening } from "./listen.ts"

const limits = {
  /** Collectors are few. Each connection is a file, of which the requests of users need many. */
  connectionsMax: 32,
  /** How long a client may take to send a request. */
  requestMsMax: 5_000,
  headBytesMax: 8_192,
  requestsPerSecond: 20,
}

/** The port that has the metrics alone, which a firewall can keep from clients. */
export interface MetricsPort {
  readonly port: number
  stop(): void
}

/** Listens there; resolves with undefined if the metrics are on the port of the server. */
export async function listenForMetrics(
  { host, metricsPort }: Pick<Config, "host" | "metricsPort">,
  starting: Promise<Pick<Hamlet, "app">>,
): Promise<MetricsPort | undefined> {
  if (metricsPort === undefined) return undefined
  const requests = new TokenBucket(limits.requestsPerSecond, 1_000, Date.now())
  const options = {
    maxHeaderSize: limits.headBytesMax,
    headersTimeout: limits.requestMsMax,
    requestTimeout: limits.requestMsMax,
  }
  const server = createServer(options, async (incoming, outgoing) => {
    const response = requests.take(1, Date.now())
      ? await respond(incoming, starting)
      : new Response("too many requests\n", { status: 429, headers: { "retry-after": "1" } })
    await write(outgoing, response)
  })
  server.maxConnections = limits.connectionsMax
  // From the connection on, whatever it sends.
  server.setTimeout(limits.requestMsMax, (socket) => socket.destroy())
  try {
    await once(server.listen(metricsPort, host), "listening")
  } catch (cause) {
    throw new ConfigError(
      `Cannot listen for /metrics on ${host} port ${metricsPort}: ${explainListening(cause)}`,
      { cause },
    )
  }
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function respond(
  { url = "", method = "", headers, socket }: IncomingMessage,
  starting: Promise<Pick<Hamlet, "app">>,
): Promise<Response> {
  if (url.split("?", 1)[0] !== "/metrics") return new Response("not found\n", { status: 404 })
  const { authorization } = headers
  const request = new Request("http://localhost/metrics", {
    method,
    headers: authorization === undefined ? {} : { authorization },
  })
  const { app } = await starting
  return app.fetch(request, { address: () => socket.remoteAddress ?? "", isMetricsPort: true })
}

/** One request per connection, so that none is kept. */
async function write(outgoing: ServerResponse, response: Response): Promise<void> {
  const headers = { ...Object.fromEntries(response.headers), connection: "close" }
  outgoing.writeHead(response.status, headers).end(await response.bytes())
}
