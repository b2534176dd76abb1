import { once } from "node:events"
import { createSecureServer, type ServerHttp2Stream } from "node:http2"
import { createServer, type Server } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import type { Certificate } from "@hamlet/kit/testing"

/** Servers below HTTP. */
export interface SocketServers {
  readonly tcpPort: number
  readonly tlsPort: number
  readonly http2Port: number
  stop(): void
}

/** Starts servers that send back what they receive, and one of HTTP/2. */
export async function startSocketServers({ cert, key }: Certificate): Promise<SocketServers> {
  const tcp = createServer((socket) => {
    socket.on("error", () => socket.destroy())
    socket.pipe(socket)
  })
  const tls = createTlsServer({ cert, key }, (socket) => {
    socket.on("error", () => socket.destroy())
    socket.pipe(socket)
  })
  const http2 = createSecureServer({ cert, key, allowHTTP1: false })
  http2.on("stream", (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200, "content-type": "text/plain" })
    stream.end("hi")
  })
  const servers = [tcp, tls, http2]
  const [tcpPort = 0, tlsPort = 0, http2Port = 0] = await Promise.all(servers.map(listen))
  return {
    tcpPort,
    tlsPort,
    http2Port,
    stop: () => {
      for (const server of servers) server.close()
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("Cannot find a free port")
  return address.port
}
