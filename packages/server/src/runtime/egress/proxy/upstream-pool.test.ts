import { afterEach, expect, test } from "bun:test"
import { waitUntil } from "../../../../test/support/wait-until.ts"
import { egressLimits } from "../egress-limits.ts"
import { Outside, say } from "../testing/upstream-server.ts"
import { UpstreamConnection } from "./upstream-connection.ts"
import { UpstreamPool } from "./upstream-pool.ts"

let outside: Outside | undefined
afterEach(() => outside?.stop())

const to = (port: number) => ({
  key: "http://a.test",
  address: "127.0.0.1",
  port,
  host: "a.test",
  tls: undefined,
})

test("UpstreamPool counts a connection that was given up until it is made, or is not", async () => {
  outside = new Outside((socket) => socket.write(say("x")))
  const pool = new UpstreamPool(egressLimits)
  const upstream = pool.connect(to(outside.port))
  const nobody = pool.connect(to(1))
  upstream.stop()
  nobody.stop()
  expect([pool.size, pool.abandonedCount]).toEqual([2, 2])
  expect(await upstream.connected).not.toBeInstanceOf(UpstreamConnection)
  await waitUntil(() => pool.size === 0)
  expect(pool.abandonedCount).toBe(0)
  const { sockets } = outside
  await waitUntil(() => sockets.length === 0 || outside?.closed === 1)
})

test("UpstreamPool keeps nothing once it is stopped", async () => {
  outside = new Outside((socket) => socket.write(say("x")))
  const pool = new UpstreamPool(egressLimits)
  const upstream = (await pool.connect(to(outside.port)).connected) as UpstreamConnection
  expect(upstream).toBeInstanceOf(UpstreamConnection)
  pool.stop()
  pool.release(upstream)
  expect([pool.size, pool.take("http://a.test", ["127.0.0.1"], true)]).toEqual([0, undefined])
})
