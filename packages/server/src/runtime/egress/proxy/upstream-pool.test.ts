import { afterEach, expect, test } from "bun:test"
import { waitUntil } from "../../../../test/support/wait-until.ts"
import { egressLimits } from "../egress-limits.ts"
import { toResponse, UpstreamServer } from "../testing/upstream-server.ts"
import { UpstreamConnection } from "./upstream-connection.ts"
import { UpstreamPool } from "./upstream-pool.ts"

let server: UpstreamServer | undefined
afterEach(() => server?.stop())

const to = (port: number) => ({
  key: "http://a.test",
  address: "127.0.0.1",
  port,
  host: "a.test",
  tls: undefined,
})

test("UpstreamPool counts an abandoned connection until it is open or has failed", async () => {
  server = new UpstreamServer((socket) => socket.write(toResponse("x")))
  const pool = new UpstreamPool(egressLimits)
  const accepted = pool.connect(to(server.port))
  const refused = pool.connect(to(1))
  accepted.stop()
  refused.stop()
  expect([pool.size, pool.abandonedCount]).toEqual([2, 2])
  expect(await accepted.connected).not.toBeInstanceOf(UpstreamConnection)
  await waitUntil(() => pool.size === 0)
  expect(pool.abandonedCount).toBe(0)
  const { sockets } = server
  await waitUntil(() => sockets.length === 0 || server?.closed === 1)
})

test("UpstreamPool keeps no connection after stop", async () => {
  server = new UpstreamServer((socket) => socket.write(toResponse("x")))
  const pool = new UpstreamPool(egressLimits)
  const connection = (await pool.connect(to(server.port)).connected) as UpstreamConnection
  expect(connection).toBeInstanceOf(UpstreamConnection)
  pool.stop()
  pool.release(connection)
  expect([pool.size, pool.take("http://a.test", ["127.0.0.1"], true)]).toEqual([0, undefined])
})
