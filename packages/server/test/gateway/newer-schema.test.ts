import { expect, test } from "bun:test"
import { sql } from "../../src/storage/database/sql.ts"
import { describeEachDatabase, openAgain } from "../support/databases.ts"
import { waitUntil } from "../support/wait-until.ts"
import { openGatewayFixture } from "./support/gateway-fixture.ts"

describeEachDatabase("a node whose database was migrated by a newer one", (open) => {
  test("refuses requests to vals with 503, since it could not record their runs", async () => {
    const database = await open()
    await using fixture = await openGatewayFixture(async () => database)
    let [requests, sockets] = [0, 0]
    await fixture.addVal("hello")
    const respond = () => {
      requests++
      return new Response("hello")
    }
    fixture.runner.serve("ada/hello", respond, { open: () => void sockets++, message() {} })
    expect((await fixture.request("hello")).status).toBe(200)
    const other = await openAgain(database)
    await other.write(function* () {
      yield sql`insert into schema_migrations (version, name, applied_at) values (9999, 'later', 1)`
    })
    await other.stop()
    const refused = await waitUntil(async () => {
      const response = await fixture.request("hello", "/", {
        headers: { accept: "application/json" },
      })
      return response.status === 503 && response
    })
    expect(await refused.json()).toMatchObject({ code: "database_unavailable" })
    const before = requests
    expect((await fixture.request("hello")).status).toBe(503)
    const handshake = { upgrade: "websocket", connection: "Upgrade", "sec-websocket-version": "13" }
    const socket = await fixture.request("hello", "/", {
      headers: { ...handshake, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
    })
    expect([socket.status, requests, sockets]).toEqual([503, before, 0])
    // It still reads.
    expect((await fixture.request("missing")).status).toBe(404)
  })
})
