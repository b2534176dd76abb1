import { createServer } from "node:net"

/** Below the ports that Linux gives to connections and to servers that ask for any port. */
const ports = { first: 20_000, count: 12_000 }

/** A port that is free, and that nothing is given before the caller uses it. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = ports.first + Math.floor(Math.random() * ports.count)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
    if (await promise) return port
  }
}
