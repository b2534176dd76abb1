import { expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { describeEachDatabase, type OpenDatabase } from "../../../test/support/databases.ts"
import { createCipher } from "../../domain/secrets/cipher.ts"
import { resealAll } from "../../domain/secrets/secrets.ts"
import {
  openWebhookSecrets,
  sealWebhookSecrets,
  toWebhookPurpose,
} from "../../domain/webhooks/signature.ts"
import { createRowClaims } from "../claims/row-claims.ts"
import { createNodeStore } from "../nodes.ts"
import { createDeliveryStore } from "./deliveries.ts"
import { createWebhookStore } from "./webhooks.ts"

const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const owner = Bun.randomUUIDv7()

async function openWithOwner(open: OpenDatabase): Promise<Database> {
  const { db } = await open()
  await db.write(function* () {
    yield sql`insert into users (id, username, username_key, created_at) values (${owner}, 'ada', 'ada', 1)`
  })
  return db
}

/** A delivery that ended so long ago, or that waits. */
async function addDelivery(
  db: Database,
  webhookId: string,
  endedMs: number | null,
): Promise<string> {
  const id = Bun.randomUUIDv7()
  const { now } = db.dialect
  const ended = endedMs === null ? null : sql`${now} - ${endedMs}`
  await db.write(function* () {
    yield sql`insert into webhook_deliveries (id, webhook_id, owner_id, type, event_key, at, depth, data, status,
        next_attempt_at, tried_since, created_at, ended_at)
      values (${id}, ${webhookId}, ${owner}, 'val.saved', ${id}, 1, 1, '{}', ${endedMs === null ? "waiting" : "failed"},
        ${endedMs === null ? now : null}, 1, ${now}, ${ended})`
  })
  return id
}

describeEachDatabase("createWebhookStore", (open) => {
  test("secrets are readable with the new key alone after resealAll", async () => {
    const db = await openWithOwner(open)
    const webhooks = createWebhookStore(db)
    const ids = Array.from({ length: 5 }, () => Bun.randomUUIDv7())
    for (const id of ids) {
      const sealed = sealWebhookSecrets(createCipher([oldKey]), id, { current: `whsec_${id}` })
      const target = { url: "https://receiver.invalid/", targetValId: null }
      const settings = { target, events: ["val.saved"] as const, valId: null, description: null }
      await webhooks.create({ ...settings, id, ownerId: owner, sealed, isPaused: false, at: 1 }, 20)
    }

    const cipher = createCipher([newKey, oldKey])
    const count = await resealAll(webhooks, cipher, toWebhookPurpose, 2)

    const found = await db.read<{ id: string; keyId: string; sealed: Uint8Array }>(
      sql`select id, key_id, sealed from webhooks order by id`,
    )
    expect(count).toBe(5)
    const current = found.map(
      ({ id, keyId, sealed }) =>
        openWebhookSecrets(createCipher([newKey]), id, { keyId: keyId, bytes: sealed }).current,
    )
    expect(current).toEqual(ids.map((id) => `whsec_${id}`))
  })
})

describeEachDatabase("createDeliveryStore", (open) => {
  async function setUp() {
    const db = await openWithOwner(open)
    const nodeId = Bun.randomUUIDv7()
    await createNodeStore(db).add({ id: nodeId, host: "", pid: 1, pidStarted: "" }, 60_000)
    const claims = createRowClaims(db, {
      table: "webhook_deliveries",
      owner: "owner_id",
      hasLanes: true,
      nodeId,
      perOwnerMax: 10,
    })
    const listIds = async () =>
      (await db.read<{ id: string }>(sql`select id from webhook_deliveries order by id`)).map(
        ({ id }) => id,
      )
    return { db, deliveries: createDeliveryStore(db, claims), claims, listIds }
  }

  test("purgeOlder deletes what ended long ago, in batches, and nothing that waits", async () => {
    const { db, deliveries, listIds } = await setUp()
    const webhook = crypto.randomUUID()
    for (const endedMs of [5_000, 5_001, 5_002]) await addDelivery(db, webhook, endedMs)
    const kept = [await addDelivery(db, webhook, 1_000), await addDelivery(db, webhook, null)]

    expect(await deliveries.purgeOlder(4_000, 2)).toBe(true)
    expect(await deliveries.purgeOlder(4_000, 2)).toBe(false)

    expect(await listIds()).toEqual(kept)
  })

  test("purgeBeyond keeps the newest deliveries of a webhook", async () => {
    const { db, deliveries, listIds } = await setUp()
    const [webhook, other] = [crypto.randomUUID(), crypto.randomUUID()]
    const ids: string[] = []
    for (let index = 0; index < 5; index++) ids.push(await addDelivery(db, webhook, 1))
    const theirs = await addDelivery(db, other, 1)

    while (await deliveries.purgeBeyond(webhook, 2, 2));

    expect(await listIds()).toEqual([...ids.slice(3), theirs])
  })

  test("drop deletes a claimed delivery whose webhook is gone", async () => {
    const { db, deliveries, claims, listIds } = await setUp()
    await addDelivery(db, crypto.randomUUID(), null)
    const [claim] = await claims.claim(1, [])
    if (!claim) throw new Error("The claim must exist")

    expect(await deliveries.findDue(claim.id)).toBeUndefined()
    await deliveries.drop(claim)

    expect(await listIds()).toEqual([])
  })
})
