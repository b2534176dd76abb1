import { expect, setDefaultTimeout, test } from "bun:test"
import { type Client, createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const testMsMax = 300_000
// A busy machine is slow with servers that start, and with hundreds of writes.
setDefaultTimeout(testMsMax)

const hang = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'

describeEachDatabase("hamlet serve, killed by SIGKILL,", (open) => {
  test("loses nothing that it acknowledged", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet, baseUrl } = await fixture.serve({ HAMLET_LOG_LEVEL: "none" })
    const client = createClient({ baseUrl, token: chosenToken, retriesMax: 0 })
    const { id } = await client.createVal({ name: "target", code: "0" })
    const acknowledged: { name: string; code: string }[] = []
    const enough = Promise.withResolvers<void>()
    const writeUntilItDies = async (writer: number) => {
      for (let count = 0; ; count++) {
        const val = { name: `w${writer}_${count}`, code: `${writer} ${count}` }
        await client.createVal(val)
        acknowledged.push(val)
        await client.createVersion({ val_id: id, code: `${writer} ${count}` })
        if (acknowledged.length >= 100) enough.resolve()
      }
    }
    const writers = Promise.allSettled([1, 2, 3, 4].map(writeUntilItDies))

    await enough.promise
    hamlet.signal("SIGKILL")
    await Promise.all([writers, hamlet.ended()])

    const next = await fixture.serve({ HAMLET_LOG_LEVEL: "none" })
    const again = createClient({ baseUrl: next.baseUrl, token: chosenToken })
    const found = await Array.fromAsync(again.items("listVals", { limit: 100 }))
    const kept = new Map(found.map(({ name, code }) => [name, code]))
    expect(acknowledged.filter(({ name, code }) => kept.get(name) !== code)).toEqual([])
    // Version numbers are unique and without gaps.
    const versions = (
      await Array.fromAsync(again.items("listVersions", { val_id: id, limit: 100 }))
    ).map(({ version }) => version)
    expect(versions).toEqual(versions.map((_, index) => versions.length - index))
    expect((await again.getVal({ val_id: id })).version).toBe(versions.length)
  })
})

describeEachDatabase("hamlet serve, killed when it has responded to a cancel,", (open) => {
  test(
    "leaves the run cancelled, also one with retries",
    async () => {
      await using fixture = await openServerFixture(open)
      const before = await fixture.serve({ HAMLET_RUN_SECONDS_MAX: "3600" })
      const client = createClient({ baseUrl: before.baseUrl, token: chosenToken })
      const createHanging = async () => (await client.createVal({ code: hang })).id
      const enqueue = async (val_id: string) =>
        (await client.createRun({ val_id, retries: 3 }, { respondAsync: true })).id
      const eight = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 8 }, make))
      const val = await createHanging()
      const begun = await eight(() => enqueue(val))
      const hasBegun = async (run_id: string) =>
        (await client.getRunLogs({ run_id })).data.length > 0
      await waitUntil(async () => (await Promise.all(begun.map(hasBegun))).every(Boolean))
      // The processes of these are being started.
      const vals = await eight(createHanging)
      const claimed = await Promise.all(vals.map(enqueue))
      const runs = [...begun, ...claimed]
      const found = await Promise.all(runs.map((run_id) => client.cancelRun({ run_id })))
      before.hamlet.signal("SIGKILL")
      expect(found).toEqual(runs.map(() => ({ found: true })))
      await before.hamlet.ended()

      const after = createClient({ baseUrl: (await fixture.serve()).baseUrl, token: chosenToken })
      for (const run of runs)
        expect(await untilEnded(after, run)).toMatchObject({ status: "cancelled", attempt: 1 })
    },
    testMsMax,
  )
})

describeEachDatabase("hamlet serve, killed during an upload,", (open) => {
  test(
    "keeps the old blob, and the next server cleans up",
    async () => {
      await using fixture = await openServerFixture(open)
      const { hamlet, baseUrl } = await fixture.serve()
      const client = createClient({ baseUrl, token: chosenToken, retriesMax: 0 })
      await client.putBlob({ key: "a", content: "old" })
      const db = await fixture.connect()
      const countChunks = async () =>
        Number(
          (await db.read<{ count: unknown }>(sql`select count(*) as count from object_chunks`))[0]
            ?.count,
        )
      const storing = client
        .putBlob({ key: "a", content: toEndless() })
        .catch((error: unknown) => error)
      await waitUntil(async () => (await countChunks()) >= 10)
      hamlet.signal("SIGKILL")
      await Promise.all([storing, hamlet.ended()])
      expect(await db.read(sql`select size from objects where unused_since is null`)).toEqual([])
      await db.write(function* () {
        yield sql`update objects set unused_since = 1`
      })

      const next = await fixture.serve()
      const again = createClient({ baseUrl: next.baseUrl, token: chosenToken })
      expect(await (await again.getBlob({ key: "a" })).text()).toBe("old")
      await waitUntil(async () => (await countChunks()) === 0)
      await db.stop()
    },
    testMsMax,
  )
})

/** A blob whose last piece never comes. */
function toEndless(): ReadableStream<Uint8Array> {
  let pieces = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pieces < 100) controller.enqueue(new Uint8Array(1024 ** 2).fill(++pieces))
      },
    },
    { highWaterMark: 0 },
  )
}

function untilEnded(client: Client, run_id: string) {
  return waitUntil(async () => {
    const run = await client.getRun({ run_id })
    return run.runEndAt === null ? undefined : run
  })
}
