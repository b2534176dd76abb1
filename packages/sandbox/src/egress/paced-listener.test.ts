import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { PacedListener } from "./paced-listener.ts"
import { ProxyFixture } from "./testing/proxy-fixture.ts"
import { RawClient } from "./testing/raw-client.ts"

const opensMax = 20
const opensMs = 1_000
const folder = mkdtempSync(join(tmpdir(), "hamlet-paced-"))
const path = join(folder, "a.sock")
const clients: Bun.Socket[] = []
let listener: PacedListener<undefined> | undefined
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate()
  listener?.stop()
})
afterAll(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

describe("PacedListener", () => {
  test("closes its socket at the limit, keeps connections, and opens it again", async () => {
    const accepted: Bun.Socket[] = []
    const received: string[] = []
    const handlers = { data: (_: unknown, bytes: Buffer) => void received.push(String(bytes)) }
    listener = new PacedListener<undefined>(path, { opensMax, opensMs }, handlers, (socket) => {
      accepted.push(socket)
    })
    const opening = listener
    chmodSync(path, 0o622)
    chmodSync(folder, 0o500)
    const connect = async () => {
      const client = await Bun.connect({ unix: path, socket: { data() {} } })
      clients.push(client)
      return client
    }
    const first = await connect()
    await waitUntil(async () => {
      if (opening.isOpen) await connect().catch(() => {})
      return !opening.isOpen
    })
    // Tokens come back while it is being used, but not many.
    expect(accepted.length).toBeGreaterThanOrEqual(opensMax)
    await expect(connect()).rejects.toThrow()
    first.write("still open")
    await waitUntil(() => received.length > 0)

    // To an ordinary user it stays, because the folder is read-only.
    if (!existsSync(path)) writeFileSync(path, "")

    // As many as it may have in that time.
    opening.sweep(performance.now() + opensMs)
    expect(opening.isOpen).toBe(true)
    expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o622, 0o500])
    const before = accepted.length
    await connect()
    await waitUntil(() => accepted.length > before)
  })
})

describe("Egress.open", () => {
  let fixture: ProxyFixture | undefined
  afterEach(() => fixture?.stop())

  test.each(["path", "socketsPath"] as const)(
    "limits how many connections a sandbox opens in a row at its %s",
    async (socket) => {
      // Longer than the test: no other connection may be opened in it.
      fixture = new ProxyFixture({ limits: { opensMax, opensMs: 86_400_000 } })
      const path = fixture[socket]
      for (let count = 0; count < opensMax; count++) (await RawClient.open(path)).stop()
      const failing = RawClient.open(path)
      expect(await failing.then(() => "opened", String)).not.toBe("opened")
    },
  )
})
