import { estimateOpenFiles, limitReceiveBuffers, readOpenFilesMax } from "@hamlet/kit"
import type { Hamlet } from "../compose.ts"
import { type Config, ConfigError } from "../config/config.ts"
import type { GatewayConnection } from "../gateway/deps.ts"
import { gatewayLimits } from "../gateway/limits.ts"
import { toErrorPage } from "../gateway/response/error-page.ts"
import type { SocketRelay } from "../gateway/sockets/socket-relay.ts"
import { createSocketHandlers } from "../gateway/sockets/sockets.ts"
import { saveBytesMax } from "../http/request/large-saves.ts"
import { toPath } from "../http/request/request-url.ts"

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
  let files: ReturnType<typeof watchFiles> | undefined
  try {
    const server = Bun.serve<SocketRelay>({
      hostname: config.host,
      port: config.port,
      idleTimeout: gatewayLimits.idleSeconds,
      maxRequestBodySize: Math.max(
        config.runs.valBodyBytesMax,
        config.bodyBytesMax,
        config.storage.blobBytesMax,
        config.emails.bytesMax,
        saveBytesMax,
      ),
      fetch(request, server) {
        if (files?.isShort && !systemPaths.has(toPath(request))) return refuse(request)
        return hamlet
          ? handle(config, hamlet, request, server)
          : starting.then((started) => handle(config, started, request, server))
      },
      websocket: createSocketHandlers(gatewayLimits),
    })
    limitReceiveBuffers(config.receiveBufferBytes)
    files = watchFiles(server)
    return server
  } catch (cause) {
    const problem = `Cannot listen on ${config.host} port ${config.port}: ${explainListening(cause)}`
    throw new ConfigError(`${problem}${adviseOnPort(cause)}`, { cause })
  }
}

/** Paths that tell the operator how the server is. They take no files. */
const systemPaths = new Set(["/healthz", "/readyz", "/metrics"])

/** Refuses a request because the server has no files left, and closes its connection, too. */
function refuse(request: Request): Response {
  const content = {
    code: "overloaded",
    message: "Cannot serve the request: the server has too many files open",
    requestId: Bun.randomUUIDv7(),
    hasRun: false,
    retrySeconds: gatewayLimits.retrySeconds,
  } as const
  const accept = request.headers.get("accept") ?? ""
  const isPage = accept.includes("text/html") && !/^\/v[0-9]+\//.test(toPath(request))
  const response = toErrorPage(content, isPage ? accept : "application/json")
  response.headers.set("connection", "close")
  return response
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
    return app.fetch(request, connection)
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

const limits = {
  watchMs: 50,
  /** Idle connections are closed when this share of the files is open. */
  idleShare: 0.75,
  /** Requests are refused when this share is. The rest is for those that are being served. */
  busyShare: 0.9,
}

/**
 * Watches how many files are open: each connection of a client is one, idle ones too, and without a
 * free one no run can start. When most are open, idle connections are closed; they would otherwise
 * be kept for two minutes. When that does not help, requests are to be refused.
 */
function watchFiles(server: Server) {
  const filesMax = readOpenFilesMax()
  /** Whether the server has no files left for another request. */
  const watch = { isShort: false }
  if (filesMax === undefined) return watch
  const check = () => {
    const isFull = estimateOpenFiles() >= filesMax * limits.idleShare
    if (isFull) server.closeIdleConnections()
    watch.isShort = isFull && estimateOpenFiles() >= filesMax * limits.busyShare
  }
  setInterval(check, limits.watchMs).unref()
  return watch
}
