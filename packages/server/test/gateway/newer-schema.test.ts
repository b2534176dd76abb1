import { expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { createQueueStore } from "../../src/storage/queue/queue.ts"
import { mailDomain } from "../mail/support/mail-suite.ts"
import { SmtpClient } from "../mail/support/smtp-client.ts"
import { describeEachDatabase, openAgain, type TestDatabase } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

const env = {
  HAMLET_MAIL_DOMAIN: mailDomain,
  HAMLET_SMTP_PORT: "0",
  HAMLET_SMTP_HOST: "127.0.0.1",
  // Nothing answers there.
  HAMLET_MAIL_DNS: "127.0.0.1:1",
  HAMLET_ANONYMOUS_RUNS: "yes",
}
const json = { accept: "application/json", "content-type": "application/json" }
const handshake = {
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}

/** What another node does. */
async function elsewhere(
  database: TestDatabase,
  work: (db: Database) => Promise<unknown>,
): Promise<void> {
  const db = await openAgain(database)
  await work(db)
  await db.stop()
}

const migrateFurther = (database: TestDatabase) =>
  elsewhere(database, (db) =>
    db.writeOne(
      sql`insert into schema_migrations (version, name, applied_at) values (9999, 'later', 1)`,
    ),
  )

describeEachDatabase("a node whose database was migrated by a newer one", (open) => {
  /** A server with vals of three types, and counts of what reached them. */
  async function openVals() {
    const database = await open()
    const fixture = await openGatewayFixture(async () => database, env)
    const counts = { requests: 0, sockets: 0 }
    const hello = await fixture.addVal("hello")
    fixture.runner.serve(
      "ada/hello",
      () => {
        counts.requests++
        return new Response("hello")
      },
      { open: () => void counts.sockets++, message() {} },
    )
    const job = await fixture.addVal("job", undefined, { type: "script" })
    const inbox = await fixture.addVal("inbox", undefined, { type: "email" })
    const first = await fixture.request("hello")
    expect(first.status).toBe(200)
    const { id: runId } = await fixture.runOf(first)
    return { database, fixture, counts, hello, job, inbox, runId }
  }

  /** Resolves when the node has found it. A check of the balancer looks at once. */
  async function waitForRefusal({ port, request }: GatewayFixture): Promise<Response> {
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503)
    return request("hello", "/", { headers: json })
  }

  test("runs no val, whichever way it is asked to, since it could not record the run", async () => {
    const { database, counts, hello, job, inbox, runId, ...rest } = await openVals()
    await using fixture = rest.fixture
    const { port, ada } = fixture
    const authorization = `Bearer ${ada.token}`
    const send = (path: string, body?: object, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
        headers: { ...json, authorization, ...headers },
      })
    const preview = (await (await send(`/v1/vals/${hello.id}/preview`, {})).json()) as {
      url: string
    }
    const client = await SmtpClient.open((await fixture.hamlet.mailServer?.listen()) ?? 0)
    await migrateFurther(database)
    const refused = await waitForRefusal(fixture)
    expect(await refused.json()).toMatchObject({ code: "database_unavailable" })
    const before = { ...counts }
    const later = { prefer: "respond-async" }
    const doors: Readonly<Record<string, () => Promise<Response>>> = {
      "the host name": () => fixture.request("hello"),
      "a WebSocket": () => fixture.request("hello", "/", { headers: handshake }),
      "a preview": () => fixture.request(new URL(preview.url).host),
      // Its response contains the one of the val's address.
      "a request through the API": async () => {
        const response = await send(`/v1/vals/${hello.id}/requests`, { method: "GET", path: "/" })
        return new Response(null, (await response.json()) as { status: number })
      },
      "a run": () => send(`/v1/vals/${job.id}/runs`, { args: [] }),
      "a run in the queue": () => send(`/v1/vals/${job.id}/runs`, { args: [] }, later),
      "a call by name": () => send("/v1/run/ada.job", { args: [] }),
      "a call by query": () => send("/v1/run/ada.job?args=[]"),
      "a call without a token": () =>
        fetch(`http://127.0.0.1:${port}/v1/run/ada.job`, { headers: json }),
      "code that is not saved": () => send("/v1/eval", { code: "1" }),
      "code in the path": () => send("/v1/eval/1"),
      "a replay": () => send(`/v1/runs/${runId}/replay`, {}),
      "a replay in the queue": () => send(`/v1/runs/${runId}/replay`, {}, later),
      "a test mail": () => send(`/v1/vals/${inbox.id}/emails`, { text: "hello" }),
    }
    for (const [name, enter] of Object.entries(doors))
      expect([name, (await enter()).status]).toEqual([name, 503])
    await client.begin("eve@sender.example.com", `ada.inbox@${mailDomain}`)
    const reply = await client.data("From: eve@sender.example.com\r\n\r\nhello")
    expect(reply).toMatch(/^451 /)
    // What its jobs would start.
    await elsewhere(database, (db) =>
      createQueueStore(db).enqueue({
        id: Bun.randomUUIDv7(),
        valId: job.id,
        version: 1,
        accountId: ada.id,
        source: "api",
        depth: 0,
        args: [],
      }),
    )
    const { schedules, queue } = fixture.hamlet.stores
    const { nodeId } = fixture.hamlet.parts.foundation
    const claim = { nodeId, held: [], runsMax: 1, after: null, roomOf: () => 1 }
    const code = "database_unavailable"
    await expect(schedules.fireDue(1)).rejects.toMatchObject({ code })
    await expect(queue.claim(claim)).rejects.toMatchObject({ code })
    expect(counts).toEqual(before)
    // The old node still reads.
    expect((await fixture.request("missing")).status).toBe(404)
    expect((await send(`/v1/vals/${hello.id}`)).status).toBe(200)
    client.close()
  })
})
