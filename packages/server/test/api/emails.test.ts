import { afterAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { addNotice } from "../../src/storage/mail/outbound/add-notice.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { startMailSink } from "../support/fakes/mail-sink.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

const sink = await startMailSink()
afterAll(() => sink.stop())

const env = { HAMLET_SMTP_URL: sink.url, HAMLET_MAIL_DOMAIN: "mail.test" }
const bob = "bob@example.org"

/** An address that no other test uses: both databases share the sink. */
const newAddress = () => `${crypto.randomUUID()}@home.test`

/** Makes the emails that wait due, as if the time until the next attempt had passed. */
async function hurry({ database, api }: ApiSuite): Promise<void> {
  await database.db.write(function* () {
    yield sql`update emails set next_attempt_at = 1 where next_attempt_at is not null`
  })
  api.hamlet.parts.outboundMail.mailWorker.wake()
}

/** Mails a message of the server to a user. */
function sendNotice({ database: { db } }: ApiSuite, userId: string, subject: string) {
  const notice = { id: crypto.randomUUID(), userId, subject, text: "…", at: Date.now() }
  return db.write(() => addNotice(db.dialect, notice))
}

function defineMail(suite: ApiSuite, isWhole: boolean): void {
  const { call, addUser } = suite
  const send = (as: TestUser, body: object) => call("POST", "/v1/email", { as, body })
  const accept = async (as: TestUser, body: object): Promise<string> =>
    expectStatus(await send(as, body), 202).json.id
  const show = async (as: TestUser, id: string) =>
    expectStatus(await call("GET", `/v1/me/emails/${id}`, { as }), 200).json
  const ended = async (as: TestUser, id: string) => {
    await waitUntil(async () => (await show(as, id)).status !== "waiting")
    return show(as, id)
  }
  const tried = (as: TestUser, id: string, error = "") =>
    waitUntil(async () => (await show(as, id)).error?.includes(error))
  const messageOf = (id: string) =>
    sink.messages.filter(({ headers }) => headers.get("message-id") === `<${id}@mail.test>`)
  const setEmail = async (user: TestUser, email: string) =>
    expectStatus(
      await call("PUT", `/v1/users/${user.id}/email`, { as: suite.api.admin, body: { email } }),
      200,
    )

  describe("POST /v1/email", () => {
    test("sends the email in the background, and lists it without its content", async () => {
      const ada = await addUser()
      const id = await accept(ada, {
        to: ["Bob B <bob@example.org>", { email: "eve@example.org", name: "Eve" }],
        cc: "c@example.org",
        bcc: "secret@example.org",
        replyTo: "r@example.org",
        from: { email: `${ada.username}.report@mail.test`, name: "Röport" },
        subject: "Hü",
        text: "é",
        html: "<b>é</b>",
        headers: { "X-Custom": "1" },
        attachments: [
          { content: btoa("file"), filename: "a.txt", type: "text/plain" },
          { content: btoa("other"), filename: "b", type: "text" },
        ],
      })
      expect(await ended(ada, id)).toMatchObject({
        kind: "api",
        status: "sent",
        attempts: 1,
        error: null,
        runId: null,
        val: null,
        from: `${ada.username}.report@mail.test`,
        subject: "Hü",
        nextAttemptAt: null,
        to: [bob, "eve@example.org", "c@example.org", "secret@example.org"],
      })
      const [message, ...others] = messageOf(id)
      expect(others).toEqual([])
      expect(message?.sender).toBe(`${ada.username}.report@mail.test`)
      expect(message?.recipients).toContain("secret@example.org")
      expect(message?.text).not.toContain("secret@example.org")
      expect(message?.headers.get("to")).toBe("Bob B <bob@example.org>, Eve <eve@example.org>")
      expect(message?.headers.get("reply-to")).toBe("r@example.org")
      expect(message?.headers.get("x-custom")).toBe("1")
      expect(message?.text).toContain(btoa("file"))
      expect(message?.text).toMatch(/Content-Type: text\/plain; name=b\r?\n/)
    })

    test("refuses the address of another user as the name of the sender", async () => {
      const ada = await addUser()
      const from = { email: `${ada.username}.a@mail.test`, name: "bob.inbox@mail.test" }
      expect(refusalOf(await send(ada, { to: bob, from }))).toEqual([400, "invalid_request"])
    })

    test("goes to the caller without a recipient, if the address is confirmed", async () => {
      const ada = await addUser()
      expect(refusalOf(await send(ada, { text: "Hi" }))).toEqual([409, "email_unverified"])
      await call("PUT", "/v1/me", { as: ada, body: { email: "ada@home.test" } })
      expect(refusalOf(await send(ada, { text: "Hi" }))).toEqual([409, "email_unverified"])
      await setEmail(ada, "ada@home.test")
      expect((await ended(ada, await accept(ada, { text: "Hi" }))).to).toEqual(["ada@home.test"])
    })

    const attack = "x\r\nBcc: eve@example.org"
    test.each([
      { subject: attack },
      { to: attack },
      { to: `${bob}${attack}` },
      { to: { email: bob, name: attack } },
      { to: `${attack} <${bob}>` },
      { cc: [`${bob}\n`] },
      { bcc: { email: `${bob}\r\n` } },
      { from: { email: "x@mail.test", name: attack } },
      { replyTo: { email: bob, name: attack } },
      { replyToList: [`${bob}\rx`] },
      { headers: { "X-A": attack } },
      { headers: { "X-A\r\nBcc": "eve@example.org" } },
      ...["Bcc", "from", "SENDER", "Message-ID", "Return-Path", "DKIM-Signature"].map((name) => ({
        headers: { [name]: "eve@example.org" },
      })),
      { attachments: [{ content: "", filename: attack }] },
      { attachments: [{ content: "", filename: "a", type: `text/plain${attack}` }] },
      { attachments: [{ content: "", filename: "a", disposition: attack }] },
      { attachments: [{ content: "", filename: "a", contentId: attack }] },
      { attachments: [{ content: "not base64!", filename: "a" }] },
      { attachments: [{ path: "/etc/passwd", filename: "a" }] },
    ])("refuses %j", async (fields) => {
      const ada = await suite.sharedUser()
      const refused = await send(ada, { to: bob, text: "x", ...fields })
      expect(refusalOf(refused)).toEqual([400, "invalid_request"])
    })

    test("refuses the address of another user, of the server, and of others as the sender", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      for (const from of [`${eve.username}.val@mail.test`, "no-reply@mail.test", "a@example.org"])
        expect(refusalOf(await send(ada, { to: bob, from }))).toEqual([400, "invalid_request"])
    })

    test("sends an email once if the request is repeated with its idempotency key", async () => {
      const ada = await addUser()
      const headers = { "idempotency-key": "once" }
      const body = { to: bob, subject: "once" }
      const first = await call("POST", "/v1/email", { as: ada, body, headers })
      const again = await call("POST", "/v1/email", { as: ada, body, headers })
      expect(again.json).toEqual(expectStatus(first, 202).json)
      await ended(ada, first.json.id)
      expect(
        expectStatus(await call("GET", "/v1/me/emails", { as: ada }), 200).json.data,
      ).toHaveLength(1)
    })

    test("refuses an email with attachments that are too large", async () => {
      const ada = await addUser()
      const attachments = [{ content: "A".repeat(1024 ** 2), filename: "large" }]
      expect(refusalOf(await send(ada, { to: bob, attachments }))).toEqual([413, "body_too_large"])
      const half = [{ content: "A".repeat(1024 ** 2 / 2), filename: "half" }]
      expect(await ended(ada, await accept(ada, { to: bob, attachments: half }))).toMatchObject({
        status: "sent",
      })
    })
  })

  describe("an email that cannot be sent", () => {
    test("waits for another attempt, with the same message id", async () => {
      const ada = await addUser()
      sink.mode = "busy"
      const id = await accept(ada, { to: bob })
      await tried(ada, id)
      sink.mode = "accepts"
      expect(await show(ada, id)).toMatchObject({
        status: "waiting",
        error: "the mail server replied: 421 try later",
        endedAt: null,
      })
      expect(Date.parse((await show(ada, id)).nextAttemptAt)).toBeGreaterThan(Date.now() + 30_000)
      await hurry(suite)
      expect(await ended(ada, id)).toMatchObject({ status: "sent", attempts: 2, error: null })
      expect(messageOf(id)).toHaveLength(1)
    })

    test("outlives every way in which a mail server can fail", async () => {
      const ada = await addUser()
      sink.mode = "busy"
      const id = await accept(ada, { to: bob, html: "<b>x</b>" })
      await tried(ada, id, "421 try later")
      for (const [mode, error] of [
        ["full", "452 out of space"],
        ["drops", "closed the connection"],
      ] as const) {
        sink.mode = mode
        await hurry(suite)
        await tried(ada, id, error)
      }
      sink.mode = "accepts"
      await hurry(suite)
      expect(await ended(ada, id)).toMatchObject({ status: "sent", attempts: 4, error: null })
      expect(messageOf(id)).toHaveLength(1)
    })

    test("has failed when the server refuses it for good, and can be sent again", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      const id = await accept(ada, { to: [bob, "gone@example.org", "busy@example.org"] })
      await tried(ada, id)
      expect(messageOf(id).map(({ recipients }) => recipients)).toEqual([[bob]])
      const resend = (as: TestUser, which = id) =>
        call("POST", `/v1/me/emails/${which}/resend`, { as })
      expect(refusalOf(await resend(ada))).toEqual([409, "email_not_failed"])
      await suite.database.db.write(function* () {
        yield sql`update emails set created_at = created_at - 90000000 where id = ${id}`
      })
      await hurry(suite)
      const failed = await ended(ada, id)
      expect(failed).toMatchObject({ status: "failed", attempts: 2 })
      expect(failed.error).toContain(
        "busy@example.org: the mail server replied: 450 mailbox is busy",
      )
      expect(refusalOf(await resend(eve))).toEqual([404, "email_not_found"])
      const copy = expectStatus(await resend(ada), 202).json
      expect(copy).toMatchObject({
        status: "waiting",
        to: ["gone@example.org", "busy@example.org"],
      })
      expect(copy.id).not.toBe(id)
      expect(messageOf(id)).toHaveLength(1)
    })

    test("is not sent once its account is suspended", async () => {
      const ada = await addUser()
      sink.mode = "full"
      const id = await accept(ada, { to: bob })
      await tried(ada, id)
      sink.mode = "accepts"
      const path = `/v1/users/${ada.id}/suspension`
      await call("PUT", path, { as: suite.api.admin, body: {} })
      await hurry(suite)
      await waitUntil(async () => {
        const [row] = await suite.database.db.read<{ status: string }>(
          sql`select status from emails where id = ${id}`,
        )
        return row?.status === "failed"
      })
      await call("DELETE", path, { as: suite.api.admin })
      expect((await show(ada, id)).error).toBe("the account is suspended")
      expect(messageOf(id)).toEqual([])
    })
  })

  describe("GET /v1/me/emails", () => {
    test("lists the emails of the account by status, newest first, and of no other", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      const [first, second] = [
        await accept(ada, { to: bob, subject: "1" }),
        await accept(ada, { to: "gone@example.org", subject: "2" }),
      ]
      await ended(ada, first)
      await ended(ada, second)
      const list = async (as: TestUser, query = "") =>
        expectStatus(await call("GET", `/v1/me/emails${query}`, { as }), 200).json.data.map(
          ({ id }: { id: string }) => id,
        )
      expect(await list(ada)).toEqual([second, first])
      expect(await list(ada, "?status=sent")).toEqual([first])
      expect(await list(ada, "?status=failed")).toEqual([second])
      expect(await list(eve)).toEqual([])
      const refused = await call("GET", `/v1/me/emails/${first}`, { as: eve })
      expect(refusalOf(refused)).toEqual([404, "email_not_found"])
    })
  })

  describe("the allowance", () => {
    test("bounds a loop that sends mail, also across a restart of the count, per account", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      const sent = await Promise.all(
        Array.from({ length: 30 }, () => send(ada, { to: [bob, "eve@example.org"] })),
      )
      expect(sent.filter(({ status }) => status === 202)).toHaveLength(5)
      const refused = sent.find(({ status }) => status !== 202)
      expect(refusalOf(refused as (typeof sent)[0])).toEqual([429, "rate_limited"])
      expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(80_000)
      await accept(eve, { to: bob })
    })

    test("bounds the bytes of a day", async () => {
      const ada = await addUser()
      const attachments = [{ content: "A".repeat(1_000_000), filename: "large" }]
      await accept(ada, { to: bob, attachments })
      await accept(ada, { to: bob, attachments })
      expect(refusalOf(await send(ada, { to: bob, attachments }))).toEqual([429, "rate_limited"])
      await accept(ada, { to: bob })
    })

    test("is a quota of the user, if there is one, and shows in the usage", async () => {
      const ada = await addUser()
      await call("PUT", `/v1/users/${ada.id}/quotas`, {
        as: suite.api.admin,
        body: { mailsPerDay: 1 },
      })
      await accept(ada, { to: bob })
      expect((await call("GET", "/v1/me/usage", { as: ada })).json.mail).toEqual({
        recipientsLastDay: 1,
        recipientsPerDayMax: 1,
        bytesPerDayMax: 2 * 1024 ** 2,
        bytesLastDay: expect.any(Number),
      })
      expect(refusalOf(await send(ada, { to: bob }))).toEqual([429, "rate_limited"])
    })

    test("does not count what is older than a day", async () => {
      const ada = await addUser()
      await accept(ada, { to: Array.from({ length: 10 }, (_, at) => `${at}@example.org`) })
      expect(refusalOf(await send(ada, { to: bob }))).toEqual([429, "rate_limited"])
      await suite.database.db.write(function* () {
        yield sql`update emails set created_at = created_at - 86400001 where account_id = ${ada.id}`
      })
      await accept(ada, { to: bob })
    })
  })

  describe("the address of a user", () => {
    const profile = async (as: TestUser) =>
      expectStatus(await call("GET", "/v1/me", { as }), 200).json
    const confirm = (as: TestUser, code: string) =>
      call("POST", "/v1/me/email/confirm", { as, body: { code } })
    const codeFor = async (address: string) => {
      const find = () => sink.messages.findLast(({ recipients }) => recipients.includes(address))
      await waitUntil(() => find() !== undefined)
      return /\d{4} \d{4}/.exec(find()?.text ?? "")?.[0] ?? ""
    }

    test("is confirmed by a code that is sent to it", async () => {
      const [ada, address] = [await addUser(), newAddress()]
      const sendCode = () => call("POST", "/v1/me/email/code", { as: ada })
      expect(refusalOf(await sendCode())).toEqual([409, "email_missing"])
      await call("PUT", "/v1/me", { as: ada, body: { email: address } })
      expect(await profile(ada)).toMatchObject({ email: address, emailVerified: false })
      expectStatus(await sendCode(), 204)
      const code = await codeFor(address)
      const [message] = sink.messages.filter(({ recipients }) => recipients.includes(address))
      expect(message?.sender).toBe("")
      expect(message?.headers.get("from")).toBe("no-reply@mail.test")
      expect(message?.headers.get("auto-submitted")).toBe("auto-generated")
      expect(refusalOf(await confirm(ada, "00000000"))).toEqual([422, "invalid_email_code"])
      expect(refusalOf(await confirm(await addUser(), code))).toEqual([422, "invalid_email_code"])
      expect(expectStatus(await confirm(ada, code), 200).json.emailVerified).toBe(true)
      expect(refusalOf(await confirm(ada, code))).toEqual([422, "invalid_email_code"])
      expect(refusalOf(await sendCode())).toEqual([409, "email_verified"])
      await call("PUT", "/v1/me", { as: ada, body: { email: address, bio: "x" } })
      expect((await profile(ada)).emailVerified).toBe(true)
      await call("PUT", "/v1/me", { as: ada, body: { email: bob } })
      expect((await profile(ada)).emailVerified).toBe(false)
    })

    test("is not confirmed by the code for another address, or after too many attempts", async () => {
      const [ada, address] = [await addUser(), newAddress()]
      await call("PUT", "/v1/me", { as: ada, body: { email: address } })
      await call("POST", "/v1/me/email/code", { as: ada })
      const code = await codeFor(address)
      await call("PUT", "/v1/me", { as: ada, body: { email: "victim@home.test" } })
      expect(refusalOf(await confirm(ada, code))).toEqual([422, "invalid_email_code"])
      await call("PUT", "/v1/me", { as: ada, body: { email: address } })
      for (let attempt = 1; attempt < 10; attempt += 1) await confirm(ada, "1")
      expect(refusalOf(await confirm(ada, code))).toEqual([422, "invalid_email_code"])
    })

    test("gets a few codes per day", async () => {
      const ada = await addUser()
      await call("PUT", "/v1/me", { as: ada, body: { email: "ada3@home.test" } })
      const sendCode = () => call("POST", "/v1/me/email/code", { as: ada })
      for (let sent = 0; sent < 5; sent += 1) expectStatus(await sendCode(), 204)
      expect(refusalOf(await sendCode())).toEqual([429, "rate_limited"])
    })

    test("needs no confirmation if an administrator sets it, which is in the audit log", async () => {
      const { admin } = suite.api
      const ada = await addUser()
      await setEmail(ada, "ada4@home.test")
      expect(await profile(ada)).toMatchObject({ email: "ada4@home.test", emailVerified: true })
      const audit = await call("GET", "/v1/audit?action=user.set_email&limit=1", { as: admin })
      expect(audit.json.data[0]).toMatchObject({
        subject: { id: ada.id, name: ada.username },
        details: { email: "ada4@home.test" },
      })
      await call("PUT", "/v1/me", { as: admin, body: { email: "admin@home.test" } })
      expect((await profile(admin)).emailVerified).toBe(true)
      const path = `/v1/users/${ada.id}/email`
      expectStatus(await call("PUT", path, { as: admin, body: { email: null } }), 200)
      expect(await profile(ada)).toMatchObject({ email: null, emailVerified: false })
    })
  })

  describe("addNotice", () => {
    test("mails the owner from the server's address, a few times a day, if it is confirmed", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      const address = newAddress()
      const subject = "Paused ✓"
      expect(await sendNotice(suite, ada.id, subject)).toBe(false)
      await setEmail(ada, address)
      expect(await sendNotice(suite, ada.id, subject)).toBe(true)
      suite.api.hamlet.parts.outboundMail.mailWorker.wake()
      const find = () => sink.messages.find(({ recipients }) => recipients.includes(address))
      await waitUntil(() => find() !== undefined)
      expect(find()).toMatchObject({ sender: "" })
      expect(find()?.headers.get("from")).toBe("no-reply@mail.test")
      const [listed] = (await call("GET", "/v1/me/emails", { as: ada })).json.data
      expect(listed).toMatchObject({
        kind: "notice",
        subject: "Paused ✓",
        from: "no-reply@mail.test",
      })
      expect((await call("GET", "/v1/me/emails", { as: eve })).json.data).toEqual([])
      for (let sent = 1; sent < 20; sent += 1) await sendNotice(suite, ada.id, subject)
      expect(await sendNotice(suite, ada.id, subject)).toBe(false)
    })
  })

  describe("in a val", () => {
    const { val } = suite
    const run = async (owner: TestUser, name: string, script: string, as = owner) => {
      const code = `import { email } from "https://esm.town/v/std/email"\nexport default async (...args) => { ${script} }`
      const { id } = await val(owner, { name, code })
      return expectStatus(await call("POST", `/v1/vals/${id}/runs`, { as }), 200).json
    }
    const runOf = async (as: TestUser, id: string) =>
      expectStatus(await call("GET", `/v1/runs/${id}`, { as }), 200).json

    test("email() sends from the val's address, and its run lists the email", async () => {
      const ada = await addUser()
      const ran = await run(
        ada,
        "Report",
        `return await email({ to: "${bob}", subject: "Hi", text: "x" })`,
      )
      const { id } = ran.returnValue
      const from = `${ada.username}.report@mail.test`
      expect(await ended(ada, id)).toMatchObject({
        kind: "val",
        runId: ran.id,
        val: { id: ran.val.id, name: "Report" },
        from,
      })
      expect(messageOf(id)).toMatchObject([{ sender: from }])
      const detail = await runOf(ada, ran.id)
      expect(detail.emails).toEqual([await show(ada, id)])
    })

    // What the library does is no matter of the database, and each of these has a process.
    if (!isWhole) return

    test("console.email() sends a value to the owner", async () => {
      const ada = await addUser()
      await setEmail(ada, "ada6@home.test")
      const ran = await run(ada, "report", 'await console.email({ total: 3 }, "Daily ✓")')
      expect(ran).toMatchObject({ status: "succeeded" })
      const [email] = (await runOf(ada, ran.id)).emails
      expect(email).toMatchObject({ to: ["ada6@home.test"], subject: "Daily ✓", kind: "val" })
      await ended(ada, email.id)
      expect(messageOf(email.id)[0]?.text).toContain('"total": 3')
    })

    test("email() fails with the reason, and on the account of another user", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      const script = 'await email({ text: "x" })'
      expect((await run(ada, "one", script)).error).toMatchObject({
        name: "ValTownEmailError",
        message: expect.stringContaining("no confirmed email address"),
      })
      expect((await run(ada, "two", script, eve)).error.message).toContain(
        "this val runs on another user's account",
      )
    })

    test("a loop is bounded by the allowance of the owner", async () => {
      const ada = await addUser()
      const script = `let sent = 0
        for (let at = 0; at < 100; at++) await email({ to: "${bob}" }).then(() => sent++, () => {})
        return sent`
      expect((await run(ada, "bomb", script)).returnValue).toBe(10)
    })

    test("a token of another user sends in the name of that user only", async () => {
      const [ada, eve] = [await addUser(), await addUser()]
      const script = `const response = await fetch(Deno.env.get("HAMLET_URL") + "/v1/email", {
          method: "POST", headers: { authorization: "Bearer ${eve.token}" },
          body: JSON.stringify({ to: "${bob}", text: "x" }) })
        return (await response.json()).id`
      const ran = await run(ada, "borrowed", script)
      expect(await ended(eve, ran.returnValue)).toMatchObject({
        from: `${eve.username}.api@mail.test`,
        runId: null,
        val: null,
      })
      expect((await runOf(ada, ran.id)).emails).toEqual([])
    })
  })

  test("metrics count what was sent and what waits", async () => {
    const { text } = await call("GET", "/metrics")
    expect(text).toMatch(/hamlet_emails_total\{outcome="sent"\} [1-9]/)
    expect(text).toMatch(/hamlet_emails_total\{outcome="retried"\} [1-9]/)
    expect(text).toMatch(/hamlet_emails_total\{outcome="failed"\} [1-9]/)
    expect(text).toMatch(/hamlet_emails_waiting \d/)
  })
}

describeApi("Mail", defineMail, {
  ...env,
  HAMLET_MAILS_PER_DAY: "10",
  HAMLET_MAIL_MB_MAX: "1",
  HAMLET_MAIL_MB_PER_DAY: "2",
})

describeApi("Mail, without settings,", (suite) => {
  const { call, sharedUser } = suite

  test("says which setting is missing", async () => {
    const body = { to: bob, text: "Hi" }
    const refused = await call("POST", "/v1/email", { as: await sharedUser(), body })
    expect(refusalOf(refused)).toEqual([501, "mail_unavailable"])
    expect(refused.json.message).toContain("HAMLET_SMTP_URL")
  })

  test("stores no notice", async () => {
    const user = await sharedUser()
    expect(await sendNotice(suite, user.id, "x")).toBe(false)
  })
})
