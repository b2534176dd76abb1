import { expect, test } from "bun:test"
import { join } from "node:path"
import { type Client, createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

/*
 * `npm run long-test -- pause`: a node is stopped with SIGSTOP for longer than its lease, and goes on
 * later. It takes a minute, because the lease is a real one.
 */

const hang = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'
const quick = 'export default () => { console.log("begun"); return 42 }'
const key = Buffer.alloc(32, 5).toString("base64")
/** A lease, the time for which another node must have been steady, and a beat; and a busy machine. */
const takeoverMsMax = 120_000

describeEachDatabase("a node that is paused for longer than its lease", (open) => {
  test("loses its runs to another node, and records nothing when it goes on", async () => {
    await using fixture = await openServerFixture(open)
    // Nodes on SQLite are processes of one machine that share a folder.
    if (fixture.url === undefined) return
    const start = (number: number, env = {}) =>
      fixture.start(["serve", "--data-dir", join(fixture.dataDir, String(number))], {
        HAMLET_TOKEN: chosenToken,
        HAMLET_SECRET_KEY: key,
        ...env,
      })
    const connect = (baseUrl: string) => createClient({ baseUrl, token: chosenToken })
    // Two runs at a time: the third one is claimed, but gets no slot.
    const paused = start(1, { HAMLET_RUNS_PER_ACCOUNT_MAX: "2" })
    const client = connect(await paused.listening())
    const vals = [hang, quick].map(async (code) => (await client.createVal({ code })).id)
    const [hanging = "", answering = ""] = await Promise.all(vals)
    const enqueue = async (from: Client, val_id: string, retries = 0) =>
      (await from.createRun({ val_id, retries }, { respondAsync: true })).id
    const [started, retried] = [await enqueue(client, hanging), await enqueue(client, hanging, 3)]
    for (const run_id of [started, retried])
      await waitUntil(async () => (await client.getRunLogs({ run_id })).data.length > 0)
    const claimed = await enqueue(client, answering)
    const db = await fixture.connect()
    try {
      await waitUntil(async () => {
        const nodes = await db.read<{ claims: string | null }>(sql`select claims from nodes`)
        return nodes.some(({ claims }) => claims?.includes(claimed))
      })
    } finally {
      await db.stop()
    }
    const survivor = connect(await start(2).listening())
    paused.signal("SIGSTOP")

    expect(await untilEnded(survivor, claimed)).toMatchObject({ status: "succeeded", attempt: 1 })
    expect(await untilEnded(survivor, started)).toMatchObject({ status: "crashed", attempt: 1 })
    await waitUntil(async () => (await survivor.getRun({ run_id: retried })).attempt === 2)

    paused.signal("SIGCONT")
    // The paused node comes back with other claims.
    const again = await enqueue(client, answering)
    expect(await untilEnded(client, again)).toMatchObject({ status: "succeeded", attempt: 1 })
    expect(await survivor.getRun({ run_id: started })).toMatchObject({ status: "crashed" })
    expect((await survivor.getRunLogs({ run_id: claimed })).data).toHaveLength(1)
    await survivor.cancelRun({ run_id: retried })
  }, 600_000)
})

function untilEnded(client: Client, run_id: string) {
  return waitUntil(
    async () => {
      const run = await client.getRun({ run_id })
      return run.runEndAt === null ? undefined : run
    },
    { msMax: takeoverMsMax },
  )
}
