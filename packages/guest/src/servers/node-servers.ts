import type http from "node:http"
import type https from "node:https"
import type net from "node:net"
import { patchBuiltIns } from "../globals/built-ins.ts"
import { reflectApply } from "../primordials.ts"
import { expectListener, listen } from "./listener.ts"
import { respondWith } from "./node-requests.ts"

type Listening = net.Server & { _handle: unknown }

interface ListenOptions {
  readonly port?: unknown
  readonly host?: unknown
  readonly signal?: AbortSignal
}

const defaultPort = 8000

/**
 * `listen` of a server of node:http or node:https opens no port: the server responds to requests to
 * the val's web address. Frameworks such as express, koa and fastify end here.
 */
export function replaceNodeServers(): void {
  patchBuiltIns(["http", "https", "http2", "net", "tls"], (find) => {
    const { Server: HttpServer } = find("http") as unknown as typeof http
    const { Server: HttpsServer } = find("https") as unknown as typeof https
    const { Server } = find("net") as unknown as typeof net
    expectListener()
    const { listen: listenReally } = Server.prototype
    const replaced = function (this: Listening, ...args: unknown[]): net.Server {
      const isWeb = this instanceof HttpServer || this instanceof HttpsServer
      // A Unix socket is a file of the val, and connects code of its own process.
      return isWeb && !hasPath(args[0])
        ? startListening(this, args)
        : (reflectApply(listenReally, this, args) as net.Server)
    }
    Server.prototype.listen = replaced as typeof Server.prototype.listen
  })
}

function hasPath(first: unknown): boolean {
  if (typeof first === "string") return Number.isNaN(Number(first))
  return typeof first === "object" && first !== null && "path" in first && first.path !== undefined
}

function startListening(server: Listening, args: unknown[]): net.Server {
  const { port, host, signal } = toOptions(args)
  const callback = args[args.length - 1]
  if (typeof callback === "function") server.once("listening", callback as () => void)
  if (server._handle) {
    const error: NodeJS.ErrnoException = new Error(
      "Cannot listen: this server listens already, or was not closed",
    )
    error.code = "ERR_SERVER_ALREADY_LISTEN"
    throw error
  }
  const close = listen((request) => respondWith(server as unknown as http.Server, request))
  // Node asks it whether the server listens, and for its address.
  server._handle = {
    close(done?: () => void) {
      close()
      done?.()
    },
    ref() {},
    unref() {},
    getsockname(address: object) {
      Object.assign(address, { address: host, family: "IPv4", port })
      return 0
    },
  }
  signal?.addEventListener("abort", () => server.close(), { once: true })
  queueMicrotask(() => server.emit("listening"))
  return server
}

function toOptions(args: readonly unknown[]): {
  readonly port: number
  readonly host: string
  readonly signal: AbortSignal | undefined
} {
  const [first, second] = args
  const given: ListenOptions =
    typeof first === "object" && first !== null ? first : { port: first, host: second }
  const port = Number(given.port)
  return {
    port: Number.isInteger(port) && port > 0 ? port : defaultPort,
    host: typeof given.host === "string" && /^[\d.]+$/.test(given.host) ? given.host : "0.0.0.0",
    signal: given.signal,
  }
}
