import { afterEach, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { http1Limits } from "../http1-limits.ts"
import { toResponse, UpstreamServer } from "../testing/upstream-server.ts"
import { ConnectionPool } from "./connection-pool.ts"
import { type Destination, Http1Connection } from "./http1-connection.ts"

const limits = { ...http1Limits, bufferedBytesMax: 65_536, pooledMax: 64, pooledMsMax: 15_000 }

let server: UpstreamServer | undefined
afterEach(() => server?.stop())

const to = (port: number, key = "http://a.test 127.0.0.1"): Destination => ({
  key,
  socket: { hostname: "127.0.0.1", port },
})

async function open(pool: ConnectionPool, destination: Destination): Promise<Http1Connection> {
  const connection = await pool.connect(destination).opened
  expect(connection).toBeInstanceOf(Http1Connection)
  return connection as Http1Connection
}

test("ConnectionPool counts an abandoned connection until it is open or has failed", async () => {
  server = new UpstreamServer((socket) => socket.write(toResponse("x")))
  const pool = new ConnectionPool(limits)
  const accepted = pool.connect(to(server.port))
  const refused = pool.connect(to(1))
  accepted.stop()
  refused.stop()
  expect([pool.size, pool.abandonedCount]).toEqual([2, 2])
  expect(await accepted.opened).not.toBeInstanceOf(Http1Connection)
  await waitUntil(() => pool.size === 0)
  expect(pool.abandonedCount).toBe(0)
  const { sockets } = server
  await waitUntil(() => sockets.length === 0 || server?.closed === 1)
})

test("ConnectionPool keeps no connection after stop", async () => {
  server = new UpstreamServer((socket) => socket.write(toResponse("x")))
  const pool = new ConnectionPool(limits)
  const connection = await open(pool, to(server.port))
  pool.stop()
  pool.release(connection)
  expect([pool.size, pool.take([to(server.port)])]).toEqual([0, undefined])
})

test("ConnectionPool takes the connection to one of the destinations that was used last", async () => {
  server = new UpstreamServer(() => {})
  const pool = new ConnectionPool(limits)
  const [a, b, c] = ["a", "b", "c"].map((key) => to(server?.port ?? 0, key)) as [
    Destination,
    Destination,
    Destination,
  ]
  const first = await open(pool, a)
  const second = await open(pool, b)
  for (const connection of [first, second]) {
    connection.idleSinceMs = performance.now()
    pool.release(connection)
  }
  expect(pool.take([c])).toBeUndefined()
  expect(pool.take([a, b], -1)).toBeUndefined()
  const taken = [1, 2, 3].map(() => pool.take([a, b])?.destination.key)
  expect(taken).toEqual(["b", "a", undefined])
  pool.stop()
})
