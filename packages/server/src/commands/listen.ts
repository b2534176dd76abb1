import type { Hamlet } from "../compose.ts"
import { type Config, ConfigError } from "../config/config.ts"
import type { GatewayConnection } from "../gateway/deps.ts"
import { gatewayLimits } from "../gateway/limits.ts"
import type { SocketRelay } from "../gateway/sockets/socket-relay.ts"
import { createSocketHandlers } from "../gateway/sockets/sockets.ts"

type Server = Bun.Server<SocketRelay>

/**
 * Listens on one port for the API and the vals. Requests that arrive before the program is composed
 * wait for it.
 */
export function listen(config: Config, starting: Promise<Hamlet>): Server {
  let hamlet: Hamlet | undefined
  void starting.then((started) => {
    hamlet = started
  })
  try {
    return Bun.serve<SocketRelay>({
      hostname: config.host,
      port: config.port,
      idleTimeout: gatewayLimits.idleSeconds,
      maxRequestBodySize: Math.max(
        config.runs.valBodyBytesMax,
        config.bodyBytesMax,
        config.storage.blobBytesMax,
        config.emails.bytesMax,
      ),
      fetch(request, server) {
        return hamlet
          ? handle(config, hamlet, request, server)
          : starting.then((started) => handle(config, started, request, server))
      },
      websocket: createSocketHandlers(gatewayLimits),
    })
  } catch (cause) {
    const problem = `Cannot listen on ${config.host} port ${config.port}: ${explainListening(cause)}`
    throw new ConfigError(`${problem}${adviseOnPort(cause)}`, { cause })
  }
}

function handle(
  config: Config,
  { app, gateway }: Hamlet,
  request: Request,
  server: Server,
): Promise<Response | undefined> {
  const connection = new Connection(config, request, server)
  if (!gateway.isValHost(request.headers.get("host") ?? "")) {
    // A client that waits for a run receives nothing until it ends.
    if (config.runs.runMsMax >= gatewayLimits.idleSeconds * 1000) connection.timeout(0)
    return app.fetch(request, { address: () => connection.address() })
  }
  return gateway.fetch(request, connection)
}

/**
 * The connection of a request. One object instead of several closures, since every request creates
 * one.
 */
class Connection implements GatewayConnection {
  #address: string | undefined

  constructor(
    readonly config: Pick<Config, "host" | "addressHeader">,
    readonly request: Request,
    readonly server: Server,
  ) {}

  /** Read once: the address is unknown after the connection is closed or upgraded. */
  address(): string {
    this.#address ??= this.#findAddress()
    return this.#address
  }

  #findAddress(): string {
    const { config, request, server } = this
    const forwarded =
      config.addressHeader && request.headers.get(config.addressHeader)?.split(",").at(-1)?.trim()
    if (forwarded) return forwarded
    return server.requestIP(request)?.address ?? ""
  }

  timeout(seconds: number): void {
    this.server.timeout(this.request, seconds)
  }

  upgrade(options: Parameters<GatewayConnection["upgrade"]>[0]): boolean {
    return this.server.upgrade(this.request, options)
  }
}

function adviseOnPort(error: unknown): string {
  const isPort = error instanceof Error && "code" in error && error.code !== "EADDRNOTAVAIL"
  return isPort ? '; choose another port, as in "npm start -- --port 9000"' : ""
}

/** Why a port cannot be used, for the operator. */
export function explainListening(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "another program listens there",
    EADDRNOTAVAIL: "this machine does not have that address",
    EACCES: "it takes more rights than this program has",
  }
  return reasons["code" in error ? String(error.code) : ""] ?? error.message
}
