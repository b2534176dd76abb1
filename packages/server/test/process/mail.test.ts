import { afterAll, expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeSqlite } from "../support/databases.ts"
import { startMailSink } from "../support/fakes/mail-sink.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const sink = await startMailSink()
afterAll(() => sink.stop())
const env = { HAMLET_SMTP_URL: sink.url, HAMLET_MAIL_DOMAIN: "mail.test" }

/** Each test starts two servers. */
const testMsMax = 180_000

/** Ends the claims of the server that was killed, as time would. */
async function endClaims(fixture: ServerFixture): Promise<void> {
  const db = await fixture.connect()
  await db.write(function* () {
    yield sql`update emails set next_attempt_at = 1 where next_attempt_at is not null`
  })
  await db.stop()
}

describeSqlite("hamlet serve, killed while it sends mail,", (open) => {
  test(
    "sends every email that it accepted, each under one message id",
    async () => {
      await using fixture = await openServerFixture(open)
      const before = await fixture.serve(env)
      const client = createClient({ baseUrl: before.baseUrl, token: chosenToken })
      sink.mode = "hangs"
      sink.messages.length = 0
      sink.attempts = 0
      const ids: string[] = []
      for (let at = 0; at < 6; at += 1)
        ids.push((await client.sendEmail({ to: `${at}@example.org`, text: "x" })).id)
      await waitUntil(() => sink.attempts > 0)
      before.hamlet.signal("SIGKILL")
      await before.hamlet.ended()
      sink.mode = "accepts"
      await endClaims(fixture)

      const after = createClient({
        baseUrl: (await fixture.serve(env)).baseUrl,
        token: chosenToken,
      })
      const list = async () => (await after.listMyEmails({ limit: 100 })).data
      await waitUntil(async () => (await list()).every(({ status }) => status === "sent"))
      expect((await list()).map(({ id }) => id).sort()).toEqual(ids.sort())
      const sent = sink.messages.map(({ headers }) => headers.get("message-id") ?? "")
      expect(sent.sort()).toEqual(ids.map((id) => `<${id}@mail.test>`))
    },
    testMsMax,
  )

  test(
    "repeats an email byte for byte if it dies before it records that it was sent",
    async () => {
      await using fixture = await openServerFixture(open)
      const before = await fixture.serve(env)
      const client = createClient({ baseUrl: before.baseUrl, token: chosenToken })
      sink.messages.length = 0
      const accepted = Promise.withResolvers<void>()
      sink.onMessage = async () => {
        await accepted.promise
        before.hamlet.signal("SIGKILL")
        await before.hamlet.ended()
      }
      const { id } = await client.sendEmail({ to: "bob@example.org", text: "x", html: "<b>x</b>" })
      accepted.resolve()
      await before.hamlet.ended()
      sink.onMessage = undefined
      expect(sink.messages).toHaveLength(1)
      await endClaims(fixture)
      const { baseUrl } = await fixture.serve(env)
      const after = createClient({ baseUrl, token: chosenToken })
      await waitUntil(async () => (await after.getMyEmail({ email_id: id })).status === "sent")
      expect(sink.messages).toHaveLength(2)
      expect(sink.messages[1]?.text).toBe(sink.messages[0]?.text ?? "")
      expect(sink.messages[1]?.headers.get("message-id")).toBe(`<${id}@mail.test>`)
    },
    testMsMax,
  )
})
