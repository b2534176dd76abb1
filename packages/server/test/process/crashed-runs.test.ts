import { expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeSqlite } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const hang = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'

describeSqlite("hamlet serve, killed with runs in flight,", (open) => {
  test("marks exactly the runs in flight as crashed when it starts again", async () => {
    await using fixture = await openServerFixture(open)
    const before = await fixture.serve()
    const client = createClient({ baseUrl: before.baseUrl, token: chosenToken })
    const { id: val_id } = await client.createVal({ code: hang })
    const ended = await client.createRun({
      val_id: (await client.createVal({ code: "export default () => 1" })).id,
    })
    const { id } = await client.createRun({ val_id }, { respondAsync: true })
    await waitUntil(async () => (await client.getRunLogs({ run_id: id })).data.length !== 0)
    before.hamlet.signal("SIGKILL")
    await before.hamlet.ended()

    const { hamlet, baseUrl } = await fixture.serve()
    await hamlet.waitFor(
      "stderr",
      /"level":"warn","event":"takeover","node":"[0-9a-f-]{36}","requeued":0,"retried":0,"crashed":1}/,
    )
    const after = createClient({ baseUrl, token: chosenToken })
    const crashed = await after.getRun({ run_id: id })
    expect(crashed).toMatchObject({
      status: "crashed",
      error: { name: "ServerDied" },
      logs: [{ message: "begun" }],
    })
    expect(crashed.runEndAt).not.toBeNull()
    expect(await after.getRun({ run_id: ended.id })).toEqual(ended)
    expect((await after.getVal({ val_id })).runEndAt).toBe(crashed.runEndAt)

    // Another node has declared it gone.
    const db = await fixture.connect()
    await db.write(function* () {
      yield sql`update nodes set is_gone = 1`
    })
    await db.stop()
    await hamlet.waitFor("stderr", /"level":"warn","event":"lease_lost","node":"[0-9a-f-]{36}"/)
  })
})
