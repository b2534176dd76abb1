import { expect, test } from "bun:test"
import { type Client, createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { depthMax } from "@hamlet/sandbox"
import { describeSqlite } from "../support/databases.ts"
import { startReceiver, verifyHook } from "../support/fakes/webhook-receiver.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

/** How long a chain of runs and events may take on a busy machine. */
const chainMsMax = 100_000

async function listRuns(client: Client, val_id: string) {
  return (await client.listValRuns({ val_id, limit: 100 })).data
}

async function findDelivery(client: Client, webhook_id: string, status: "delivered" | "failed") {
  const find = async () => (await client.listDeliveries({ webhook_id, status })).data[0]
  return waitUntil(find, { msMax: chainMsMax })
}

/** Ends the claims of the killed server, as if its leases had ended. */
async function endLeases(fixture: ServerFixture): Promise<void> {
  const db = await fixture.connect()
  await db.write(function* () {
    yield sql`update webhook_deliveries set next_attempt_at = 1 where next_attempt_at is not null`
  })
  await db.stop()
}

describeSqlite("hamlet serve with webhooks", (open) => {
  test("calls a val with an event, once, in a run of the queue", async () => {
    await using fixture = await openServerFixture(open)
    const { baseUrl } = await fixture.serve()
    const client = createClient({ baseUrl, token: chosenToken })
    const target = await client.createVal({ code: "export default (event) => event" })
    const watched = await client.createVal({ code: "1" })
    const { id: webhook_id } = await client.createWebhook({
      targetValId: target.id,
      events: ["val.saved"],
      valId: watched.id,
    })
    await client.updateVal({ val_id: watched.id, readme: "changed" })
    const delivery = await findDelivery(client, webhook_id, "delivered")
    const run_id = delivery.runId ?? ""
    const run = await waitUntil(async () => {
      const found = await client.getRun({ run_id })
      return found.status === "succeeded" ? found : undefined
    })
    expect(run).toMatchObject({
      source: "api",
      returnValue: {
        id: delivery.id,
        type: "val.saved",
        data: { change: "version", val: { id: watched.id, name: watched.name } },
      },
    })
    expect((await listRuns(client, target.id)).length).toBe(1)
    // Deleting the val deletes the webhook that calls it.
    await client.deleteVal({ val_id: target.id })
    expect((await client.listWebhooks()).data).toEqual([])
  })

  test("ends a chain of events and vals that cause each other", async () => {
    await using fixture = await openServerFixture(open)
    const { baseUrl } = await fixture.serve()
    const client = createClient({ baseUrl, token: chosenToken })
    const looping = await client.createVal({ code: "export default () => 1" })
    const page = await client.createVal({
      code: 'export default () => new Response("")',
      type: "http",
      privacy: "public",
    })
    const add = (valId: string, target: { targetValId: string } | { url: string }) =>
      client.createWebhook({ ...target, valId, events: ["run.succeeded"] })
    const byVal = await add(looping.id, { targetValId: looping.id })
    const byUrl = await add(page.id, { url: page.links.endpoint ?? "" })
    await client.createRun({ val_id: looping.id })
    await waitUntil(async () => (await fetch(page.links.endpoint ?? "")).status === 200)
    // A run for which a busy machine starts no process in time fails, and is sent again.
    const countRuns = async (valId: string) =>
      (await listRuns(client, valId)).filter(({ status }) => status === "succeeded").length
    const tooDeep = await findDelivery(client, byVal.id, "failed")
    expect(tooDeep.error).toContain(`caused one another ${depthMax} times`)
    expect(await countRuns(looping.id)).toBe(depthMax + 1)
    await waitUntil(async () => (await countRuns(page.id)) === depthMax + 1, { msMax: chainMsMax })
    await waitUntil(
      async () =>
        (await client.listDeliveries({ webhook_id: byUrl.id })).data.find(({ error }) =>
          error?.includes(`called one another ${depthMax} times`),
        ),
      { msMax: chainMsMax },
    )
    expect(await countRuns(page.id)).toBe(depthMax + 1)
  }, 360_000)
})

describeSqlite("hamlet serve with webhooks", (open) => {
  test("loses no event when it is killed, and keeps their order", async () => {
    const receiver = startReceiver()
    try {
      await using fixture = await openServerFixture(open)
      const env = { HAMLET_EGRESS_ALLOW: `127.0.0.1:${receiver.port}` }
      const before = await fixture.serve(env)
      const client = createClient({ baseUrl: before.baseUrl, token: chosenToken })
      const vals = await Promise.all(["a", "b", "c"].map(() => client.createVal({ code: "1" })))
      const { secret } = await client.createWebhook({ url: receiver.url(), events: ["val.saved"] })
      // Each val has one event in flight, and others behind it, when the server is killed.
      receiver.respond = () => new Promise<Response>(() => {})
      for (let version = 2; version <= 8; version++)
        for (const { id } of vals) await client.createVersion({ val_id: id, code: `${version}` })
      await receiver.waitFor(vals.length)
      before.hamlet.signal("SIGKILL")
      await before.hamlet.ended()
      const inFlight = receiver.received.length
      await endLeases(fixture)
      receiver.respond = () => new Response(null, { status: 204 })

      await fixture.serve(env)
      await receiver.waitFor(inFlight + 7 * vals.length)
      for (const hook of receiver.received) verifyHook(secret, hook)
      for (const { id } of vals) {
        const ofVal = receiver.received.filter(({ json }) => json.data.val.id === id)
        const versions = [
          ...new Map(ofVal.map((hook) => [hook.headers["webhook-id"], hook])).values(),
        ]
        expect(versions.map(({ json }) => json.data.val.version)).toEqual([2, 3, 4, 5, 6, 7, 8])
      }
      expect(receiver.received.length).toBe(inFlight + 7 * vals.length)
    } finally {
      await receiver.stop()
    }
  })
})
