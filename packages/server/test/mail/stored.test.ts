import { afterEach, expect, test } from "bun:test"
import type { Scope } from "@hamlet/contract"
import { sql } from "@hamlet/database"
import { asOwner } from "../../src/domain/access/rights.ts"
import {
  createRestoreTarget,
  otherThan,
  type RestoreTarget,
  takeBackup,
} from "../backup/restore-target.ts"
import { expectStatus, openApi, type TestApi } from "../support/api.ts"
import { describeEachDatabase, type TestDatabase } from "../support/databases.ts"
import { FakeRunner } from "../support/fakes/fake-runner.ts"
import { mailDomain } from "./support/mail-suite.ts"
import { SmtpClient } from "./support/smtp-client.ts"

const sender = "eve@sender.example.com"
const env = {
  HAMLET_MAIL_DOMAIN: mailDomain,
  HAMLET_SMTP_PORT: "0",
  HAMLET_SMTP_HOST: "127.0.0.1",
  // Nothing answers there.
  HAMLET_MAIL_DNS: "127.0.0.1:1",
  HAMLET_SMTP_URL: "smtp://127.0.0.1:9",
}
/** Larger than what is stored in a row. */
const largeText = `${"large ".repeat(15)}\r\n`.repeat(1_000)

describeEachDatabase("stored mail", (open) => {
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  /** A server with a val of type email. Its runs wait: no process is free. */
  async function openMail() {
    let database: TestDatabase | undefined
    const api = await openApi(
      async (options) => {
        database = await open(options)
        return database
      },
      env,
      { runner: new FakeRunner() },
    )
    closing.push(() => api.close())
    const ada = await api.addUser("ada")
    const fields = { name: "inbox", code: "1", type: "email", privacy: "public" }
    expectStatus(await api.call("POST", "/v1/vals", { as: ada, body: fields }), 200)
    const port = (await api.hamlet.mailServer?.listen()) ?? 0
    const client = await SmtpClient.open(port)
    closing.push(async () => client.close())
    const to = `ada.inbox@${mailDomain}`
    const send = async (text: string, id = text.slice(0, 5)) => {
      await client.begin(sender, to)
      return client.data(`From: ${sender}\r\nMessage-ID: <${id}@x.example>\r\n\r\n${text}`)
    }
    const db = (database as TestDatabase).db
    return { api, ada, db, client, to, send }
  }

  /** The connections of the server, which no rule needs. */
  const dbOf = (api: TestApi) => api.hamlet.parts.foundation.db
  const contentOf = async (api: TestApi, runId: string) =>
    Buffer.from((await api.hamlet.parts.runs.mailInputs.read(runId)).mail).toString()
  const runIdOf = (reply: string) => /run ([\da-f-]{36})$/.exec(reply)?.[1] ?? reply

  for (const text of ["small", largeText])
    test(`a test mail of ${text.length} characters with an idempotency key runs once, also when the response was lost`, async () => {
      const { api, ada, db } = await openMail()
      const { nouns } = api.hamlet
      const { json } = await api.call("GET", "/v1/alias/ada/inbox", { as: ada })
      const caller = {
        actorId: ada.id,
        actorName: "ada",
        ownerName: "ada",
        ...asOwner(ada.id),
        tokenId: "",
        scopes: new Set<Scope>(),
      }
      const request = { userId: ada.id, key: "k", content: ["post", "/", "x"] }
      const send = (isLost: boolean) =>
        nouns.idempotency.respondOnce(request, async () => {
          const run = await nouns.testMails.send(caller, json.id, {}, { text })
          if (isLost) throw new Error("the server was killed")
          return { status: 200, headers: {}, body: run.id }
        })
      expect(await send(true).catch(String)).toContain("killed")
      const { body } = await send(false)
      expect((await send(false)).body).toBe(body)
      expect(await db.read(sql`select id from runs`)).toEqual([{ id: body }])
    })

  test("starts the file that the address names, while it is of type email", async () => {
    const { api, ada, db, client } = await openMail()
    const as = ada
    const val = (await api.call("GET", "/v1/alias/ada/inbox", { as })).json
    const files = `/v2/vals/${val.id}/files`
    const side = { type: "email", content: "2" }
    expectStatus(await api.call("POST", `${files}?path=side.ts`, { as, body: side }), 201)
    const branch = expectStatus(
      await api.call("POST", `/v2/vals/${val.id}/branches`, { as, body: { name: "trial" } }),
      201,
    ).json
    const list = async (branchId: string) =>
      (await api.call("GET", `${files}?path=&branch_id=${branchId}`, { as })).json.data
    const all = [...(await list(val.id)), ...(await list(branch.id))]
    const address = ({ links }: { links: { email: string } }) => links.email
    expect(new Set(all.map(address)).size).toBe(4)
    expect(all.map(address)[1]).toBe(`${all[1].id.replaceAll("-", "")}@${mailDomain}`)
    const sendTo = async (...to: readonly string[]) => {
      await client.begin(sender, ...to)
      return client.data(`From: ${sender}\r\nMessage-ID: <same@x.example>\r\n\r\nx`)
    }
    // One message for all of them, and once for each.
    expect(await sendTo(...all.map(address), `${val.id}@${mailDomain}`)).toStartWith("250")
    const started = await db.read(sql`
      select coalesce(file_id, val_id) as file, coalesce(branch_id, val_id) as branch, version from runs order by branch, file`)
    const expected = all.map(({ id }, index) =>
      index < 2
        ? { file: id, branch: val.id, version: 2 }
        : { file: id, branch: branch.id, version: 0 },
    )
    expect(started).toHaveLength(4)
    expect(started).toEqual(expect.arrayContaining(expected))
    const script = { as, body: { type: "script" } }
    expectStatus(await api.call("PUT", `${files}?path=side.ts`, script), 200)
    // Perhaps the address of a private val: the sender cannot be checked here.
    expect(await sendTo(address(all[1]))).toMatch(/^(550|451)/)
    expectStatus(await api.call("DELETE", `/v2/vals/${val.id}/branches/${branch.id}`, { as }), 204)
    expect(await sendTo(address(all[3]))).toMatch(/^(550|451)/)
  })

  test("a sender is asked to try again while the database is away", async () => {
    const { api, client, to } = await openMail()
    await client.begin(sender, to)
    await dbOf(api).stop()
    const away = "451 4.3.0 The message cannot be stored now; try again later"
    expect(await client.data(`From: ${sender}\r\n\r\nx`)).toBe(away)
    await client.send(`MAIL FROM:<${sender}>`)
    expect(await client.send(`RCPT TO:<${to}>`)).toBe(away)
  })

  test("is stored once, however often and large it comes, and deleted with its account", async () => {
    const { api, ada, db, send } = await openMail()
    expect(await send("small")).toStartWith("250")
    const runId = runIdOf(await send(largeText))
    expect(await send(largeText)).toBe("250 2.6.0 Message accepted: it had come before")
    expect((await contentOf(api, runId)).match(/large/g)?.length).toBeGreaterThanOrEqual(15_000)
    const count = sql`select count(*) as count from objects where unused_since is null`
    const [row] = await db.read<{ count: unknown }>(count)
    expect(Number(row?.count)).toBe(1)
    const path = `/v1/users/${ada.id}?data=delete`
    expectStatus(await api.call("DELETE", path, { as: api.admin }), 204)
    for (const table of ["mail_contents", "incoming_mails", "emails", "email_contents"] as const)
      expect(await db.read({ text: `select 1 from ${table}`, values: [] })).toEqual([])
    expect(await db.read(sql`select 1 from objects where unused_since is null`)).toEqual([])
  })

  test("is restored from a backup, and an email that waits is not sent again", async () => {
    const { api, ada, db, send } = await openMail()
    const runIds = [runIdOf(await send("small")), runIdOf(await send(largeText))] as const
    const before = await Promise.all(runIds.map((id) => contentOf(api, id)))
    const sent = await api.call("POST", "/v1/email", {
      as: ada,
      body: { to: ["a@example.org", "b@example.org"], text: "x" },
    })
    expectStatus(sent, 202)

    const target: RestoreTarget = await createRestoreTarget(otherThan(db.dialect.name))
    closing.push(() => target.remove())
    await target.restore((await takeBackup(api)).bytes)
    const restored = await openApi(
      target.open,
      { HAMLET_DATA_DIR: target.folder, ...env },
      { runner: new FakeRunner() },
    )
    closing.push(() => restored.close())

    expect(await Promise.all(runIds.map((id) => contentOf(restored, id)))).toEqual(before)
    const path = `/v1/me/emails/${sent.json.id}`
    const email = expectStatus(await restored.call("GET", path, { as: ada }), 200).json
    expect(email).toMatchObject({
      status: "failed",
      error:
        "it waited when the backup was made, so the original server may have sent it meanwhile",
      nextAttemptAt: null,
    })
    const again = await restored.call("POST", `${path}/resend`, { as: ada })
    expect(expectStatus(again, 202).json).toMatchObject({ status: "waiting", to: email.to })
  })
})
