import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { findIdlePlace, limitReceiveBuffers, type Place, TokenBucket } from "@hamlet/kit"
import type { Hamlet } from "../compose.ts"
import { type Config, ConfigError } from "../config/config.ts"
import { explainListening } from "./listen.ts"

const limits = {
  /** Collectors are few. Each connection is a file, of which the requests of users need many. */
  connectionsMax: 32,
  /** Connections beyond that, which take the place of an idle one or are closed. */
  sparesMax: 32,
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

type MetricsConfig = Pick<Config, "host" | "metricsPort" | "receiveBufferBytes">

/** Listens there; resolves with undefined if the metrics are on the port of the server. */
export async function listenForMetrics(
  { host, metricsPort, receiveBufferBytes }: MetricsConfig,
  starting: Promise<Pick<Hamlet, "app">>,
): Promise<MetricsPort | undefined> {
  if (metricsPort === undefined) return undefined
  const requests = new TokenBucket(limits.requestsPerSecond, 1_000, Date.now())
  const options = {
    maxHeaderSize: limits.headBytesMax,
    headersTimeout: limits.requestMsMax,
    requestTimeout: limits.requestMsMax,
  }
  const places = new Map<Socket, Place & { isBusy: boolean }>()
  const server = createServer(options, async (incoming, outgoing) => {
    const place = places.get(incoming.socket)
    if (place) place.isBusy = true
    const response = requests.take(1, Date.now())
      ? await respond(incoming, starting)
      : new Response("too many requests\n", { status: 429, headers: { "retry-after": "1" } })
    await write(outgoing, response)
  })
  server.maxConnections = limits.connectionsMax + limits.sparesMax
  server.on("connection", (socket: Socket) => takePlace(places, socket))
  // From the connection on, whatever it sends.
  server.setTimeout(limits.requestMsMax, (socket) => socket.destroy())
  try {
    await once(server.listen(metricsPort, host), "listening")
    limitReceiveBuffers(receiveBufferBytes)
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

/**
 * Gives the connection a place. If all are taken, an idle one gives way, so that clients that send
 * half a request keep no collector from its metrics.
 */
function takePlace(places: Map<Socket, Place>, socket: Socket): void {
  const address = socket.remoteAddress ?? ""
  if (places.size >= limits.connectionsMax) {
    const idle = findIdlePlace(places, address)
    if (!idle) return void socket.destroy()
    places.delete(idle)
    idle.destroy()
  }
  places.set(socket, { address, activeMs: performance.now(), isBusy: false })
  socket.once("close", () => places.delete(socket))
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
