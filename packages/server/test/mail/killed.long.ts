import { expect, setDefaultTimeout, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { findFreePort, notRun, waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase } from "../support/databases.ts"
import { startMailSink } from "../support/fakes/mail-sink.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"
import { mailDomain } from "./support/mail-suite.ts"
import { SmtpClient } from "./support/smtp-client.ts"

/** A whole run of `npm run long-test -- mail` sends more. */
const messages = Number(process.env.HAMLET_TEST_MAILS ?? 20)
const kills = Number(process.env.HAMLET_TEST_MAIL_KILLS ?? 1)
const clientsAtOnce = 6
const endMsMax = 120_000 + messages * 500

setDefaultTimeout(120_000 + messages * 1_000 + kills * 30_000)

describeEachDatabase("mail of a server that is killed while it sends", (open) => {
  test("is sent by the next one", async () => {
    const sink = await startMailSink()
    try {
      await using fixture = await openServerFixture(open)
      sink.mode = "hangs"
      const env = { HAMLET_SMTP_URL: sink.url, HAMLET_MAIL_DOMAIN: mailDomain }
      const { hamlet, baseUrl } = await fixture.serve(env)
      const { id } = await createClient({ baseUrl, token: chosenToken }).sendEmail({
        to: "bob@example.org",
        subject: "Hello",
        text: "x",
      })
      await waitUntil(() => sink.attempts === 1)
      hamlet.signal("SIGKILL")
      await hamlet.ended()
      sink.mode = "accepts"
      const next = await fixture.serve(env)
      await waitUntil(() => sink.messages.length === 1, { msMax: endMsMax })
      const client = createClient({ baseUrl: next.baseUrl, token: chosenToken })
      await waitUntil(async () => (await client.getMyEmail({ email_id: id })).status === "sent")
    } finally {
      await sink.stop()
    }
  })
})

if (Bun.which("bwrap"))
  describeEachDatabase("mail to a server that is killed", (open) => {
    test(`${messages} messages and ${kills} kills: each acknowledged message runs once`, async () => {
      await using fixture = await openServerFixture(open)
      const port = await findFreePort()
      const env = {
        HAMLET_MAIL_DOMAIN: mailDomain,
        HAMLET_SMTP_PORT: String(port),
        HAMLET_MAIL_DNS: "127.0.0.1:1",
        HAMLET_MAIL_PER_ADDRESS: "none",
        HAMLET_MAIL_PER_ACCOUNT: "none",
        HAMLET_LOG_LEVEL: "error",
      }
      let server = await fixture.serve(env)
      const connect = () => createClient({ baseUrl: server.baseUrl, token: chosenToken })
      const { id: val_id, emailAddress = "" } = await connect().createVal({
        code: "export default (email) => email.subject",
        type: "email",
        privacy: "public",
      })
      const sent = { acknowledged: 0 }
      const sending = sendAll(port, emailAddress, sent)
      for (let kill = 1; kill <= kills; kill++) {
        const due = Math.floor((messages * kill) / (kills + 1))
        await waitUntil(() => sent.acknowledged >= due, { msMax: endMsMax })
        server.hamlet.signal("SIGKILL")
        await server.hamlet.ended()
        server = await fixture.serve(env)
      }
      await sending
      const client = connect()
      const list = async () => {
        const runs = []
        for await (const run of client.items("listValRuns", { val_id, limit: 100 })) runs.push(run)
        return runs
      }
      const runs = await waitUntil(
        async () => {
          const all = await list()
          return all.every(({ runEndAt }) => runEndAt !== null) && all
        },
        { msMax: endMsMax, what: "all runs have ended" },
      )
      const subjects = await Promise.all(
        runs.map(async ({ id }) => (await client.getRun({ run_id: id })).email?.subject ?? ""),
      )
      // A message whose run was in a process that was killed has crashed; it does not run twice.
      expect(runs.filter(({ status }) => status !== "succeeded" && status !== "crashed")).toEqual(
        [],
      )
      expect(new Set(subjects).size).toBe(subjects.length)
      expect(subjects.toSorted()).toEqual(
        Array.from({ length: messages }, (_, number) => `message ${number}`).toSorted(),
      )
    })
  })
else notRun("mail to a server that is killed", "bubblewrap is not installed")

/** Sends each message until the server has acknowledged it, as mail servers do. */
async function sendAll(port: number, to: string, sent: { acknowledged: number }): Promise<void> {
  let next = 0
  const work = async () => {
    for (let number = next++; number < messages; number = next++) {
      while (!(await trySend(port, to, number))) await Bun.sleep(50)
      sent.acknowledged += 1
    }
  }
  await Promise.all(Array.from({ length: clientsAtOnce }, work))
}

async function trySend(port: number, to: string, number: number): Promise<boolean> {
  let client: SmtpClient | undefined
  try {
    client = await SmtpClient.open(port)
    await client.begin("eve@sender.example.com", to)
    const head = `From: eve@sender.example.com\r\nMessage-ID: <${number}@sender.example.com>`
    const reply = await client.data(`${head}\r\nSubject: message ${number}\r\n\r\nHello`)
    return reply.startsWith("250")
  } catch {
    // The server was killed. What it acknowledged is known by its reply only.
    return false
  } finally {
    client?.close()
  }
}
