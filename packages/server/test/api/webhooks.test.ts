import { afterAll, beforeEach, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { startReceiver, verifyHook } from "../support/fakes/webhook-receiver.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf } from "./suite.ts"

const receiver = startReceiver()
const accept = receiver.respond
const queuedMax = 20
const env = {
  HAMLET_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
  HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX: String(queuedMax),
}

afterAll(() => receiver.stop())

interface NewWebhook {
  readonly id: string
  readonly secret: string
  readonly path: string
}

/** Everything a test does with webhooks, for one user. */
function asOwner({ call, database }: ApiSuite, owner: TestUser) {
  let paths = 0
  const get = async (path: string) =>
    expectStatus(await call("GET", `/v1/me/webhooks/${path}`, { as: owner }), 200).json
  return {
    ada: owner,
    /** Subscribes a path of the receiver that nothing else uses. */
    async subscribe(events: readonly string[], fields: object = {}): Promise<NewWebhook> {
      paths += 1
      const path = `/${owner.username}/${database.path === undefined ? "p" : "s"}${paths}`
      const body = { url: receiver.url(path), events, ...fields }
      const { id, secret } = expectStatus(
        await call("POST", "/v1/me/webhooks", { as: owner, body }),
        201,
      ).json
      return { id, secret, path }
    },
    webhook: (id: string) => get(id),
    deliveries: async (id: string) => (await get(`${id}/deliveries`)).data,
    delivery: (id: string, delivery: string) => get(`${id}/deliveries/${delivery}`),
    /** Waits until a delivery is so. */
    async waitForDelivery(id: string, isSo: (delivery: { status: string }) => boolean) {
      return waitUntil(async () => (await get(`${id}/deliveries`)).data.find(isSo))
    },
    /** Lets all deliveries of the webhook be due. */
    passTime: (id: string) =>
      database.db.write(function* () {
        yield sql`update webhook_deliveries set next_attempt_at = 1
          where webhook_id = ${id} and next_attempt_at is not null`
      }),
  }
}

const hasFailedOnce = (delivery: { status: string; attempts?: number; error?: string | null }) =>
  delivery.status === "waiting" && delivery.attempts === 1 && delivery.error !== null
const isDelivered = ({ status }: { status: string }) => status === "delivered"
const hasFailed = ({ status }: { status: string }) => status === "failed"

describeApi(
  "webhooks",
  (suite) => {
    const { call, addUser, val, run } = suite

    beforeEach(() => {
      receiver.respond = accept
    })

    async function open() {
      return asOwner(suite, await addUser())
    }

    test("POST /v1/me/webhooks shows the secret once", async () => {
      const { ada, subscribe } = await open()
      const made = await subscribe(["val.saved", "val.saved"], { description: "mine" })
      const one = await call("GET", `/v1/me/webhooks/${made.id}`, { as: ada })
      const list = await call("GET", "/v1/me/webhooks", { as: ada })
      expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(one.json).toMatchObject({
        url: receiver.url(made.path),
        targetVal: null,
        events: ["val.saved"],
        valId: null,
        description: "mine",
        status: "active",
        droppedEvents: 0,
        failingSince: null,
        links: { self: `${testBaseUrl}/v1/me/webhooks/${made.id}` },
      })
      expect(idsOf(list)).toEqual([made.id])
      expect(one.text + list.text).not.toContain("whsec_")
      const [row] = await suite.database.db.read<{ sealed: Uint8Array }>(
        sql`select sealed from webhooks where id = ${made.id}`,
      )
      expect(Buffer.from(row?.sealed ?? []).toString("latin1")).not.toContain(made.secret.slice(6))
    })

    test("POST /v1/me/webhooks with an Idempotency-Key adds one webhook and repeats its secret", async () => {
      const { ada } = await open()
      const request = {
        as: ada,
        body: { url: receiver.url("/once"), events: ["val.saved"] },
        headers: { "idempotency-key": crypto.randomUUID() },
      }
      const [first, second] = [
        await call("POST", "/v1/me/webhooks", request),
        await call("POST", "/v1/me/webhooks", request),
      ]
      expect(second.json).toEqual(first.json)
      expect(idsOf(await call("GET", "/v1/me/webhooks", { as: ada }))).toEqual([first.json.id])
    })

    test("POST /v1/me/webhooks refuses what is no address, no event, or both kinds of target", async () => {
      const { ada } = await open()
      const mine = await val(ada)
      const events = ["val.saved"]
      for (const body of [
        { events },
        { url: receiver.url(), targetValId: mine.id, events },
        { url: receiver.url(), events: [] },
        { url: receiver.url(), events: ["val.exploded"] },
        { url: "ftp://example.com/", events },
        { url: "/relative", events },
        { url: "http://user:pass@example.com/", events },
        { url: "http://example.com/#part", events },
        { url: "http://exa mple.com/", events },
        { url: "http://example.com/\r\nx: y", events },
        { url: `https://example.com/${"x".repeat(2_000)}`, events },
      ])
        expect(refusalOf(await call("POST", "/v1/me/webhooks", { as: ada, body }))).toEqual([
          400,
          "invalid_request",
        ])
    })

    test("POST /v1/me/webhooks refuses addresses that vals may not reach", async () => {
      const { ada } = await open()
      for (const url of [
        "http://127.0.0.1:1/",
        "http://localhost:8080/",
        "http://[::1]:8080/",
        "http://2130706433:8080/",
        "http://0x7f.1:8080/",
        "http://0177.0.0.1:8080/",
        "http://127.1:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://[64:ff9b::7f00:1]:8080/",
        "http://0.0.0.0:8080/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://[fd00::1]/",
        "http://example.com:25/",
        `${testBaseUrl}/v1/me`,
      ]) {
        const body = { url, events: ["val.saved"] }
        const refused = await call("POST", "/v1/me/webhooks", { as: ada, body })
        expect([url, ...refusalOf(refused)]).toEqual([url, 422, "webhook_url_refused"])
      }
    })

    test("POST /v1/me/webhooks allows 20 of an account, and only own vals", async () => {
      const { ada, subscribe } = await open()
      const bob = await addUser()
      const [theirs, hidden] = [await val(bob), await val(bob, { privacy: "private" })]
      const events = ["val.saved"]
      for (const [fields, refusal] of [
        [{ targetValId: theirs.id }, [403, "not_owner"]],
        [{ targetValId: hidden.id }, [404, "val_not_found"]],
        [{ url: receiver.url(), valId: theirs.id }, [403, "not_owner"]],
        [{ url: receiver.url(), valId: hidden.id }, [404, "val_not_found"]],
      ] as const) {
        const body = { events, ...fields }
        expect(refusalOf(await call("POST", "/v1/me/webhooks", { as: ada, body }))).toEqual(refusal)
      }
      for (let count = 0; count < 20; count += 1) await subscribe(events)
      const body = { url: receiver.url(), events }
      expect(refusalOf(await call("POST", "/v1/me/webhooks", { as: ada, body }))).toEqual([
        409,
        "too_many_webhooks",
      ])
    })

    test("sends an event, signed as Standard Webhooks says, with links", async () => {
      const { ada, subscribe, waitForDelivery, delivery } = await open()
      const { id, secret, path } = await subscribe(["val.saved"])
      const made = await val(ada, { name: "watched" })
      const [hook] = await receiver.waitFor(1, path)
      if (!hook) throw new Error("The receiver must have a request")
      expect(verifyHook(secret, hook)).toEqual(hook.json)
      expect(hook.json).toEqual({
        type: "val.saved",
        timestamp: expect.any(String),
        data: {
          change: "created",
          branch: "main",
          version: 1,
          paths: ["main.tsx"],
          pathCount: 1,
          val: {
            id: made.id,
            name: "watched",
            username: ada.username,
            version: 1,
            privacy: "public",
            type: "script",
            links: {
              self: `${testBaseUrl}/v1/vals/${made.id}`,
              page: `${testBaseUrl}/u/${ada.username}/watched`,
            },
          },
        },
      })
      const sent = await waitForDelivery(id, isDelivered)
      expect(sent).toMatchObject({ id: hook.headers["webhook-id"], attempts: 1, error: null })
      expect(await delivery(id, sent.id)).toMatchObject({
        payload: hook.body,
        request: { url: receiver.url(path) },
        response: { status: 204, body: "", isTruncated: false },
        attemptList: [{ status: 204, error: null }],
      })
      expect(() => verifyHook(`whsec_${btoa("another".repeat(4))}`, hook)).toThrow()
    })

    test("says which paths a save has changed, on which branch, and at most 100 of them", async () => {
      const { ada, subscribe } = await open()
      const made = await val(ada)
      const branch = expectStatus(
        await call("POST", `/v2/vals/${made.id}/branches`, { as: ada, body: { name: "try" } }),
        201,
      ).json
      const { path } = await subscribe(["val.saved"], { valId: made.id })
      const save = async (changes: readonly object[], query = "") =>
        expectStatus(
          await call("POST", `/v1/vals/${made.id}/files${query}`, { as: ada, body: { changes } }),
          200,
        )
      const many = Array.from({ length: 120 }, (_, n) => ({ path: `f${n}.txt`, content: "1" }))
      await save([{ path: "lib/a.ts", content: "1" }])
      await save(many, `?branch_id=${branch.id}`)
      await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: { readme: "new" } })
      await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: { privacy: "unlisted" } })
      await call("DELETE", `/v1/vals/${made.id}/versions/3`, { as: ada })
      const saved = (await receiver.waitFor(5, path)).map(({ json }) => json.data)
      expect(saved.map(({ change, branch, version }) => [change, branch, version])).toEqual([
        ["version", "main", 2],
        ["version", "try", 1],
        ["version", "main", 3],
        ["settings", "main", 3],
        ["version", "main", 2],
      ])
      expect(saved.map(({ paths, pathCount }) => [paths.length, pathCount])).toEqual([
        [2, 2],
        [100, 120],
        [1, 1],
        [0, 0],
        [1, 1],
      ])
      expect([saved[0].paths, saved[2].paths, saved[4].paths]).toEqual([
        ["lib", "lib/a.ts"],
        ["README.md"],
        ["README.md"],
      ])
      expect(saved[1].val.version).toBe(2)
    })

    test("sends what is subscribed, of all vals or of one", async () => {
      const { ada, subscribe } = await open()
      const [one, other] = [await val(ada), await val(ada)]
      const ofOne = await subscribe(["val.saved"], { valId: one.id })
      const ofAll = await subscribe(["val.deleted"])
      for (const { id } of [other, one]) {
        await call("PUT", `/v1/vals/${id}`, { as: ada, body: { privacy: "unlisted" } })
        await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "2" } })
        // Saving the same again changes nothing.
        await call("PUT", `/v1/vals/${id}`, { as: ada, body: { privacy: "unlisted" } })
        await call("DELETE", `/v1/vals/${id}`, { as: ada })
      }
      const saved = await receiver.waitFor(2, ofOne.path)
      const deleted = await receiver.waitFor(2, ofAll.path)
      expect(saved.map(({ json }) => [json.data.change, json.data.val.id])).toEqual([
        ["settings", one.id],
        ["version", one.id],
      ])
      expect(deleted.map(({ json }) => json.data.val.id).sort()).toEqual([one.id, other.id].sort())
      expect(deleted[0]?.json.data.val.links).toBeUndefined()
    })

    test("tells the owner about likes and comments of others", async () => {
      const { ada, subscribe } = await open()
      const bob = await addUser()
      const { id } = await val(ada)
      const { path } = await subscribe(["val.liked", "comment.created"])
      for (let time = 0; time < 2; time++)
        expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: bob }), 204)
      const comment = expectStatus(
        await call("POST", `/v1/vals/${id}/comments`, { as: bob, body: { comment: "Nice" } }),
        201,
      ).json
      const [liked, commented] = await receiver.waitFor(2, path)
      const user = { id: bob.id, username: bob.username }
      expect(liked?.json).toMatchObject({ type: "val.liked", data: { user, val: { id } } })
      expect(commented?.json).toMatchObject({
        type: "comment.created",
        data: { comment: { id: comment.id, comment: "Nice", author: user }, val: { id } },
      })
      expect(receiver.received.filter((hook) => hook.path === path).length).toBe(2)
    })

    test("tells about a reference only when the owner may find it", async () => {
      const { ada, subscribe, deliveries } = await open()
      const bob = await addUser()
      const { id, name } = await val(ada)
      const hook = await subscribe(["val.referenced"])
      const code = `import "${testBaseUrl}/v/${ada.username}/${name}"`
      const secret = await val(bob, { code, privacy: "private" })
      await val(bob, { code, privacy: "unlisted" })
      await call("PUT", `/v1/vals/${secret.id}`, { as: bob, body: { readme: "still secret" } })
      expect(await deliveries(hook.id)).toEqual([])
      const open1 = await val(bob, { code, privacy: "public" })
      await call("PUT", `/v1/vals/${secret.id}`, { as: bob, body: { privacy: "public" } })
      const own = await val(ada, { code, privacy: "private" })
      const hooks = await receiver.waitFor(3, hook.path)
      expect(hooks.map(({ json }) => [json.data.reference.id, json.data.val.id])).toEqual([
        [open1.id, id],
        [secret.id, id],
        [own.id, id],
      ])
    })

    test("tells about runs of own vals that ended, once, without arguments and logs", async () => {
      const { ada, subscribe, deliveries } = await open()
      const mine = await val(ada)
      const bob = await addUser()
      const failures = await subscribe(["run.failed"])
      const successes = await subscribe(["run.succeeded"])
      const failed = await run(mine, {
        status: "failed",
        error: { name: "TypeError", message: "x is not a function" },
        accountId: bob.id,
        args: ["private"],
      })
      await suite.api.hamlet.stores.runs.record([failed])
      await run(mine, { status: "cancelled", error: { name: "Cancelled", message: "" } })
      const succeeded = await run(mine)
      await run(await val(bob))
      const [hook] = await receiver.waitFor(1, failures.path)
      const [other] = await receiver.waitFor(1, successes.path)
      expect(hook?.json).toMatchObject({
        type: "run.failed",
        data: {
          run: {
            id: failed.id,
            status: "failed",
            source: "api",
            durationMs: 5,
            error: { name: "TypeError", message: "x is not a function" },
            file: { id: mine.id, path: "main.tsx" },
            branch: { id: mine.id, name: "main" },
            links: { self: `${testBaseUrl}/v1/runs/${failed.id}` },
          },
          val: { id: mine.id },
        },
      })
      expect(hook?.body).not.toContain("private")
      expect(other?.json.data.run.id).toBe(succeeded.id)
      expect((await deliveries(failures.id)).length).toBe(1)
      expect((await deliveries(successes.id)).length).toBe(1)
    })

    test("tries again with the same id after a failure, and shows each attempt", async () => {
      const { ada, subscribe, waitForDelivery, delivery, webhook, passTime } = await open()
      receiver.respond = () => new Response("broken", { status: 500 })
      const { id, path, secret } = await subscribe(["val.saved"])
      await val(ada)
      const failed = await waitForDelivery(id, hasFailedOnce)
      expect(failed).toMatchObject({ responseStatus: 500, endedAt: null })
      expect(failed.error).toContain("responded with 500")
      expect(Date.parse(failed.nextAttemptAt)).toBeGreaterThan(Date.now())
      expect((await webhook(id)).failingSince).not.toBeNull()
      receiver.respond = accept
      await passTime(id)
      await waitForDelivery(id, isDelivered)
      const hooks = await receiver.waitFor(2, path)
      expect(new Set(hooks.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
      for (const hook of hooks) verifyHook(secret, hook)
      const detail = await delivery(id, failed.id)
      expect(detail.attemptList.map(({ status }: { status: number }) => status)).toEqual([500, 204])
      expect((await webhook(id)).failingSince).toBeNull()
    })

    test("keeps the order of a val's events while the first one fails, and sends those of others", async () => {
      const { ada, subscribe, waitForDelivery, deliveries, passTime } = await open()
      const [mine, other] = [await val(ada), await val(ada)]
      const { id, path } = await subscribe(["val.saved"])
      receiver.respond = ({ json }) =>
        new Response(null, { status: json.data.val.id === mine.id ? 503 : 204 })
      const save = (valId: string, readme: string) =>
        call("PUT", `/v1/vals/${valId}`, { as: ada, body: { readme } })
      for (const readme of ["a", "b", "c"]) await save(mine.id, readme)
      await save(other.id, "d")
      await waitForDelivery(id, isDelivered)
      await waitForDelivery(id, hasFailedOnce)
      const waiting = (await deliveries(id)).toReversed()
      expect(waiting.map(({ attempts }: { attempts: number }) => attempts)).toEqual([1, 0, 0, 1])
      receiver.respond = accept
      await passTime(id)
      await waitUntil(async () => (await deliveries(id)).every(isDelivered))
      const order = receiver.received
        .filter((hook) => hook.path === path && hook.json.data.val.id === mine.id)
        .map(({ headers }) => headers["webhook-id"])
      const ids = waiting.map((delivery: { id: string }) => delivery.id)
      expect([...new Set(order)]).toEqual(ids.slice(0, 3))
    })

    test("does not follow a redirect, and says so", async () => {
      const { ada, subscribe, waitForDelivery } = await open()
      receiver.respond = ({ path }) =>
        path === "/elsewhere"
          ? new Response(null, { status: 204 })
          : Response.redirect(receiver.url("/elsewhere"), 302)
      const { id } = await subscribe(["val.saved"])
      await val(ada)
      const failed = await waitForDelivery(id, hasFailedOnce)
      expect(failed.error).toContain("responded with 302, and redirects are not followed")
      expect(receiver.received.some(({ path }) => path === "/elsewhere")).toBe(false)
    })

    test("stores of a response only its beginning", async () => {
      const { ada, subscribe, waitForDelivery, delivery } = await open()
      receiver.respond = () =>
        new Response(`\0${"é".repeat(5_000)}`, { headers: { "x-long": "y".repeat(2_000) } })
      const { id } = await subscribe(["val.saved"])
      await val(ada)
      const sent = await waitForDelivery(id, isDelivered)
      const { response } = await delivery(id, sent.id)
      expect(response).toMatchObject({ status: 200, isTruncated: true })
      expect(Buffer.byteLength(response.body)).toBeLessThan(4_200)
      const long = response.headers.find(([name]: [string]) => name === "x-long")
      expect(long[1].length).toBe(500)
    })

    test("disables a webhook whose receiver is gone, and fails what waits for it", async () => {
      const { ada, subscribe, webhook, deliveries, waitForDelivery } = await open()
      receiver.respond = () => new Response(null, { status: 410 })
      const { id, path } = await subscribe(["val.saved"])
      const mine = await val(ada)
      await waitForDelivery(id, hasFailed)
      expect(await webhook(id)).toMatchObject({
        status: "disabled",
        disabledReason: "The receiver responded with 410 Gone",
      })
      await call("PUT", `/v1/vals/${mine.id}`, { as: ada, body: { readme: "unseen" } })
      expect((await deliveries(id)).length).toBe(1)
      receiver.respond = accept
      const body = { isPaused: false }
      const enabled = await call("PUT", `/v1/me/webhooks/${id}`, { as: ada, body })
      expect(enabled.json).toMatchObject({ status: "active", disabledReason: null })
      await call("PUT", `/v1/vals/${mine.id}`, { as: ada, body: { readme: "seen" } })
      await receiver.waitFor(2, path)
    })

    test("disables a webhook that has failed for five days", async () => {
      const { ada, subscribe, webhook, passTime, waitForDelivery } = await open()
      receiver.respond = () => new Response(null, { status: 500 })
      const { id } = await subscribe(["val.saved"])
      await val(ada)
      await waitForDelivery(id, hasFailedOnce)
      await suite.database.db.write(function* () {
        yield sql`update webhooks set failing_since = failing_since - 432000000 where id = ${id}`
      })
      await passTime(id)
      await waitForDelivery(id, hasFailed)
      expect(await webhook(id)).toMatchObject({
        status: "disabled",
        disabledReason: "Every attempt has failed for five days",
      })
    })

    test("gives up a delivery after a day", async () => {
      const { ada, subscribe, webhook, waitForDelivery } = await open()
      receiver.respond = () => new Response(null, { status: 500 })
      const { id } = await subscribe(["val.saved"])
      await val(ada)
      await waitForDelivery(id, hasFailedOnce)
      await suite.database.db.write(function* () {
        yield sql`update webhook_deliveries set next_attempt_at = 1, tried_since = tried_since - 86400000
          where webhook_id = ${id}`
      })
      expect(await waitForDelivery(id, hasFailed)).toMatchObject({
        attempts: 2,
        nextAttemptAt: null,
      })
      expect((await webhook(id)).status).toBe("active")
    })

    test("POST …/retry sends a message again, with the same id", async () => {
      const { ada, subscribe, waitForDelivery } = await open()
      const { id, path, secret } = await subscribe(["val.saved"])
      await val(ada)
      const sent = await waitForDelivery(id, isDelivered)
      await call("PUT", `/v1/me/webhooks/${id}`, { as: ada, body: { isPaused: true } })
      const again = await call("POST", `/v1/me/webhooks/${id}/deliveries/${sent.id}/retry`, {
        as: ada,
      })
      expect(expectStatus(again, 202).json).toMatchObject({ id: sent.id, status: "waiting" })
      const [first, second] = await receiver.waitFor(2, path)
      expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"])
      expect(second && verifyHook(secret, second)).toEqual(first?.json)
      expect(await waitForDelivery(id, isDelivered)).toMatchObject({ attempts: 2 })
    })

    test("POST …/test sends a message even while the webhook is paused", async () => {
      const { ada, subscribe, deliveries } = await open()
      const { id, path, secret } = await subscribe(["val.saved"], { isPaused: true })
      await val(ada)
      expect(await deliveries(id)).toEqual([])
      expectStatus(await call("POST", `/v1/me/webhooks/${id}/test`, { as: ada }), 202)
      const [hook] = await receiver.waitFor(1, path)
      expect(hook && verifyHook(secret, hook)).toMatchObject({ type: "webhook.test" })
    })

    test("POST …/test refuses when a thousand messages wait for the webhook", async () => {
      const { ada, subscribe, deliveries } = await open()
      const { id } = await subscribe(["val.saved"])
      const { db } = suite.database
      const later = sql`${db.dialect.now} + 3600000`
      await db.write(function* () {
        for (let index = 0; index < 1_000; index++)
          yield sql`insert into webhook_deliveries (id, webhook_id, owner_id, type, event_key, at, depth, data, status,
              next_attempt_at, tried_since, created_at)
            values (${Bun.randomUUIDv7()}, ${id}, ${ada.id}, 'val.saved', ${String(index)}, 1, 1, '{}', 'waiting', ${later}, 1, 1)`
      })
      const refused = await call("POST", `/v1/me/webhooks/${id}/test`, { as: ada })
      expect(refusalOf(refused)).toEqual([429, "rate_limited"])
      expect(
        (await deliveries(id)).filter(({ type }: { type: string }) => type === "webhook.test"),
      ).toEqual([])
    })

    test("POST …/secret signs with the new and the previous secret", async () => {
      const { ada, subscribe } = await open()
      const { id, path, secret } = await subscribe(["val.saved"])
      const rotated = expectStatus(
        await call("POST", `/v1/me/webhooks/${id}/secret`, { as: ada }),
        200,
      ).json
      const overlapMs = Date.parse(rotated.previousSecretUntil) - Date.now()
      expect(overlapMs > 86_000_000 && overlapMs <= 86_400_000).toBe(true)
      await val(ada)
      const [hook] = await receiver.waitFor(1, path)
      if (!hook) throw new Error("The receiver must have a request")
      expect(hook.headers["webhook-signature"]?.split(" ").length).toBe(2)
      for (const one of [secret, rotated.secret]) expect(verifyHook(one, hook)).toEqual(hook.json)
    })

    test("drops events beyond 600 in a minute, and counts them", async () => {
      const { ada, subscribe, webhook, deliveries } = await open()
      const { id } = await subscribe(["run.succeeded", "val.saved"])
      const mine = await val(ada)
      const { db } = suite.database
      await db.write(function* () {
        for (let index = 0; index < 597; index++)
          yield sql`insert into webhook_deliveries (id, webhook_id, owner_id, type, event_key, at, depth, data, status,
              tried_since, created_at, ended_at)
            values (${Bun.randomUUIDv7()}, ${crypto.randomUUID()}, ${ada.id}, 'val.saved', ${String(index)}, 1, 1, '{}', 'failed', 1,
              ${db.dialect.now}, ${db.dialect.now})`
      })
      for (let index = 0; index < 5; index++) await run(mine)
      expect((await webhook(id)).droppedEvents).toBe(3)
      expect((await deliveries(id)).length).toBe(3)
    })

    test("DELETE /v1/me/webhooks/{webhook_id} deletes its deliveries, and nothing more is sent", async () => {
      const { ada, subscribe, waitForDelivery } = await open()
      receiver.respond = () => new Response(null, { status: 500 })
      const { id, path } = await subscribe(["val.saved"])
      const mine = await val(ada)
      await waitForDelivery(id, hasFailedOnce)
      expectStatus(await call("DELETE", `/v1/me/webhooks/${id}`, { as: ada }), 204)
      await call("PUT", `/v1/vals/${mine.id}`, { as: ada, body: { readme: "later" } })
      const left = await suite.database.db.read(
        sql`select id from webhook_deliveries where webhook_id = ${id}`,
      )
      expect(left).toEqual([])
      expect((await receiver.waitFor(1, path)).length).toBe(1)
      expect(refusalOf(await call("GET", `/v1/me/webhooks/${id}`, { as: ada }))).toEqual([
        404,
        "webhook_not_found",
      ])
    })

    test("a deleted account leaves no webhook and sends nothing about its vals", async () => {
      const { ada, subscribe } = await open()
      const { path, id } = await subscribe(["val.deleted"])
      await val(ada)
      const admin = suite.api.admin
      expectStatus(await call("DELETE", `/v1/users/${ada.id}?data=delete`, { as: admin }), 204)
      const left = await suite.database.db.read(sql`
        select id from webhooks where id = ${id} union all select id from webhook_deliveries where webhook_id = ${id}`)
      expect(left).toEqual([])
      expect(receiver.received.filter((hook) => hook.path === path)).toEqual([])
    })

    test("GET /metrics counts deliveries", async () => {
      const { ada, subscribe, waitForDelivery } = await open()
      const { id } = await subscribe(["val.saved"])
      await val(ada)
      await waitForDelivery(id, isDelivered)
      const { text } = await call("GET", "/metrics")
      expect(text).toMatch(/^hamlet_webhook_deliveries_total\{outcome="delivered"\} [1-9]/m)
      expect(text).toMatch(/^hamlet_webhook_deliveries_waiting \d/m)
    })

    test("a val is called by the file that was its code when it was chosen", async () => {
      const { ada, subscribe, waitForDelivery } = await open()
      const name = `called${Bun.randomUUIDv7().replaceAll("-", "")}`
      const { id } = (
        await call("POST", "/v2/vals", { as: ada, body: { name, privacy: "public" } })
      ).json
      const write = async (path: string) => {
        const body = { type: "script", content: "export default () => import.meta.url" }
        const made = await call("POST", `/v2/vals/${id}/files?path=${path}`, { as: ada, body })
        return expectStatus(made, 201).json.id as string
      }
      const called = await write("index.ts")
      const hook = await subscribe(["run.failed"], { url: undefined, targetValId: id })
      const other = await write("main.ts")
      expect((await call("GET", `/v1/vals/${id}`)).json.links.module).toContain(name)
      await call("POST", `/v1/me/webhooks/${hook.id}/test`, { as: ada, body: {} })
      const { runId } = await waitForDelivery(hook.id, isDelivered)
      const run = expectStatus(await call("GET", `/v1/runs/${runId}`, { as: ada }), 200).json
      expect([run.file.id, other === called]).toEqual([called, false])
    })

    test("a message for a val waits while the owner's queue is full", async () => {
      const { ada, subscribe, waitForDelivery, passTime } = await open()
      const target = await val(ada)
      const { id } = await subscribe(["run.failed"], { url: undefined, targetValId: target.id })
      const later = { dueAt: Date.now() + 3_600_000, source: "api" as const, args: [] }
      const queueStore = suite.api.hamlet.stores.queue
      const { newId } = suite.api.hamlet.nouns.clock
      const waiting = Array.from({ length: queuedMax }, newId)
      for (const run of waiting)
        await queueStore.enqueue({
          ...later,
          id: run,
          valId: target.id,
          version: 1,
          accountId: ada.id,
        })
      expectStatus(await call("POST", `/v1/me/webhooks/${id}/test`, { as: ada }), 202)
      expect(await waitForDelivery(id, hasFailedOnce)).toMatchObject({
        error: `Cannot queue another run: ${queuedMax} runs on this account wait already`,
      })
      for (const run of waiting)
        expectStatus(await call("POST", `/v1/runs/${run}/cancel`, { as: ada }), 200)
      await passTime(id)
      await waitForDelivery(id, isDelivered)
    })

    test("a message for a val waits while the owner has used up the runs of the minute", async () => {
      const { ada, subscribe, waitForDelivery, passTime } = await open()
      const target = await val(ada)
      const { id } = await subscribe(["run.failed"], { url: undefined, targetValId: target.id })
      const limit = async (runsPerMinute: number) =>
        expectStatus(
          await call("PUT", `/v1/users/${ada.id}/quotas`, {
            as: suite.api.admin,
            body: { runsPerMinute },
          }),
          200,
        )
      await limit(1)
      for (let count = 0; count < 2; count++) suite.api.hamlet.nouns.allowances.countRun(ada.id)
      expectStatus(await call("POST", `/v1/me/webhooks/${id}/test`, { as: ada }), 202)
      expect(await waitForDelivery(id, hasFailedOnce)).toMatchObject({
        error: expect.stringContaining("the account has used up its runs for this minute"),
      })
      await limit(60_000)
      await passTime(id)
      await waitForDelivery(id, isDelivered)
    })

    test("other users cannot see, change or use a webhook", async () => {
      const { subscribe } = await open()
      const bob = await addUser()
      const { id } = await subscribe(["val.saved"])
      for (const [method, path] of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/test"],
        ["POST", "/secret"],
        ["GET", "/deliveries"],
        ["GET", `/deliveries/${crypto.randomUUID()}`],
      ] as const)
        expect(refusalOf(await call(method, `/v1/me/webhooks/${id}${path}`, { as: bob }))).toEqual([
          404,
          "webhook_not_found",
        ])
    })
  },
  env,
)
