import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { createTransport } from "nodemailer"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"
import { mailDomain } from "./support/mail-suite.ts"

const title = "a sandboxed val of type email"

setDefaultTimeout(180_000)

if (Bun.which("bwrap")) describe(title, define)
else notRun(title, "bubblewrap is not installed")

/** Describes its argument from the inside. */
const code = `export default async (email) => ({
  isDate: email.date instanceof Date,
  files: await Promise.all(email.attachments.map(async (file) => ({
    isFile: file instanceof File,
    name: file.name,
    type: file.type,
    size: file.size,
    bytes: [...new Uint8Array(await file.arrayBuffer())].slice(0, 4),
  }))),
  keys: Object.keys(email).sort(),
  text: email.text?.length,
  recipient: email.recipient,
  auth: email.auth,
})`

function define(): void {
  let fixture: ServerFixture
  let client: ReturnType<typeof createClient>
  let port = 0
  beforeAll(async () => {
    fixture = await openServerFixture()
    const { hamlet, baseUrl } = await fixture.serve({
      HAMLET_MAIL_DOMAIN: mailDomain,
      HAMLET_SMTP_PORT: "0",
      HAMLET_MAIL_DNS: "127.0.0.1:1",
    })
    const [, text] = await hamlet.waitFor("stdout", /mail +@\S+, port (\d+)/)
    port = Number(text)
    client = createClient({ baseUrl, token: chosenToken })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const end = (run_id: string) =>
    waitUntil(async () => {
      const run = await client.getRun({ run_id })
      return run.runEndAt !== null && run
    })

  test("gets a mail with a Date and real Files, whatever the val did to the built-ins", async () => {
    const spoiled = `${code}
      globalThis.File = Object
      JSON.parse = () => { throw new Error("spoiled") }
      Uint8Array.prototype.subarray = () => { throw new Error("spoiled") }`
    for (const one of [
      code,
      spoiled.replace("file instanceof File", "file.constructor.name === 'File'"),
    ]) {
      const val = await client.createVal({ code: one, type: "email", privacy: "public" })
      expect(val.emailAddress).toBe(`ada.${val.name}@${mailDomain}`)
      const transport = createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
      const { response } = await transport.sendMail({
        from: "eve@sender.example.com",
        to: val.emailAddress,
        text: "x".repeat(100_000),
        attachments: [
          { filename: "a.txt", content: "€" },
          { filename: "b.bin", content: Buffer.alloc(300_000, 255) },
          { filename: "empty", content: "" },
        ],
      })
      transport.close()
      const run = await end(/run ([\da-f-]{36})/.exec(response)?.[1] ?? "")
      expect(run.error).toBeNull()
      expect(run.returnValue).toMatchObject({
        isDate: true,
        files: [
          { isFile: true, name: "a.txt", type: "text/plain", size: 3, bytes: [226, 130, 172] },
          { isFile: true, name: "b.bin", size: 300_000, bytes: [255, 255, 255, 255] },
          { isFile: true, name: "empty", size: 0, bytes: [] },
        ],
        recipient: val.emailAddress,
        auth: { isFromVerified: false },
      })
    }
  })

  test("is tried with a test mail, whose run can be replayed", async () => {
    const val = await client.createVal({ code, type: "email" })
    const sent = await client.sendTestEmail({
      val_id: val.id,
      text: "hi",
      attachments: [{ filename: "a.bin", content: btoa("abcd"), type: "x/y" }],
    })
    expect(sent).toMatchObject({ source: "email", email: { isTest: true, attachments: 1 } })
    const run = await end(sent.id)
    expect(run.returnValue).toMatchObject({ text: 2, files: [{ type: "x/y", size: 4 }] })
    const replayed = await client.replayRun({ run_id: run.id })
    expect(replayed.returnValue).toEqual(run.returnValue as never)
    expect(replayed.parentId).toBe(run.id)
  })

  test("tries a file of a val that is not its entry file", async () => {
    const val = await client.createVal({ code: "export default 1" })
    const { files } = await client.changeFiles({
      val_id: val.id,
      changes: [{ path: "inbox.ts", type: "email", content: "export default (mail) => mail.to" }],
    })
    const sent = await client.sendTestEmail({ val_id: val.id, file: "inbox.ts", text: "hi" })
    expect(await end(sent.id)).toMatchObject({
      file: { path: "inbox.ts" },
      returnValue: [files[0]?.links.email],
    })
    const refused = [
      [{}, "not_email"],
      [{ file: "none.ts" }, "file_not_found"],
      [{ branch: "none" }, "branch_not_found"],
    ] as const
    for (const [place, code] of refused)
      expect(client.sendTestEmail({ val_id: val.id, ...place })).rejects.toMatchObject({ code })
  })
}
