import { expect, test } from "bun:test"
import { join } from "node:path"
import { type Client, createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describePostgres, describeSqlite } from "../support/databases.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const hang = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'
const quick = "export default () => 42"

/** No run that hangs ends by itself before its server is killed. */
const patient = { HAMLET_RUN_SECONDS_MAX: "3600" }
/** Much longer than a node may be gone before another one takes its runs, since that is slow too. */
const takeoverMsMax = 120_000
const testMsMax = 300_000

describeSqlite("hamlet serve, killed with runs in its queue,", (open) => {
  test(
    "runs what had not started, repeats what has retries, and ends the rest as crashed",
    async () => {
      await using fixture = await openServerFixture(open)
      // One run at a time: the second run is claimed, but gets no slot.
      const narrow = { ...patient, HAMLET_RUNS_PER_ACCOUNT_MAX: "1" }
      const before = await fixture.serve(narrow)
      const client = createClient({ baseUrl: before.baseUrl, token: chosenToken })
      const enqueue = async (code: string, retries = 0) => {
        const { id: val_id } = await client.createVal({ code })
        return (await client.createRun({ val_id, retries }, { respondAsync: true })).id
      }
      const started = await enqueue(hang)
      await waitUntil(async () => (await client.getRunLogs({ run_id: started })).data.length !== 0)
      const claimed = await enqueue(quick)
      await untilClaimed(fixture, claimed)
      before.hamlet.signal("SIGKILL")
      await before.hamlet.ended()

      const after = createClient({ baseUrl: (await fixture.serve()).baseUrl, token: chosenToken })
      expect(await after.getRun({ run_id: started })).toMatchObject({
        status: "crashed",
        attempt: 1,
      })
      expect(await untilEnded(after, claimed)).toMatchObject({
        status: "succeeded",
        returnValue: 42,
        attempt: 1,
      })
    },
    testMsMax,
  )
})

describePostgres("several nodes with one queue", (open) => {
  test(
    "take the runs of a node that was killed",
    async () => {
      await using fixture = await openServerFixture(open)
      const token = { ...patient, HAMLET_TOKEN: chosenToken, HAMLET_SECRET_KEY: key }
      const start = (number: number, env = {}) =>
        fixture.start(["serve", "--data-dir", join(fixture.dataDir, String(number))], {
          ...token,
          ...env,
        })
      const victim = start(1, { HAMLET_RUNS_PER_ACCOUNT_MAX: "2" })
      const client = createClient({ baseUrl: await victim.listening(), token: chosenToken })
      const vals = await Promise.all(
        [hang, quick].map(async (code) => (await client.createVal({ code })).id),
      )
      const [hanging = "", answering = ""] = vals
      const enqueue = async (val_id: string, retries: number) =>
        (await client.createRun({ val_id, retries }, { respondAsync: true })).id
      const [started, retried] = [await enqueue(hanging, 0), await enqueue(hanging, 3)]
      await waitUntil(async () => {
        const logs = [started, retried].map((run_id) => client.getRunLogs({ run_id }))
        return (await Promise.all(logs)).every(({ data }) => data.length > 0)
      })
      const claimed = await enqueue(answering, 0)
      await untilClaimed(fixture, claimed)
      const other = start(2)
      const survivor = createClient({ baseUrl: await other.listening(), token: chosenToken })
      victim.signal("SIGKILL")
      await victim.ended()

      expect(await untilEnded(survivor, claimed)).toMatchObject({ status: "succeeded", attempt: 1 })
      expect(await untilEnded(survivor, started)).toMatchObject({ status: "crashed", attempt: 1 })
      // The attempt failed with its node, so the run waits for another one.
      expect(await survivor.getRun({ run_id: retried })).toMatchObject({ attempt: 2 })
      await survivor.cancelRun({ run_id: retried })
    },
    testMsMax,
  )
})

const key = Buffer.alloc(32, 5).toString("base64")

async function untilClaimed(fixture: ServerFixture, id: string): Promise<void> {
  const db = await fixture.connect()
  try {
    await waitUntil(async () => {
      const nodes = await db.read<{ claims: string | null }>(sql`select claims from nodes`)
      return nodes.some(({ claims }) => claims?.includes(id))
    })
  } finally {
    await db.stop()
  }
}

function untilEnded(client: Client, run_id: string) {
  return waitUntil(
    async () => {
      const run = await client.getRun({ run_id })
      return run.runEndAt === null ? undefined : run
    },
    { msMax: takeoverMsMax },
  )
}
