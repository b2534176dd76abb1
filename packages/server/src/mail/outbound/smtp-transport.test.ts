import { afterAll, describe, expect, test } from "bun:test"
import { type Certificate, createAuthority } from "@hamlet/kit/testing"
import { startMailSink } from "../../../test/support/fakes/mail-sink.ts"
import type { OutgoingMessage } from "../../domain/mail/outbound/deliver-email.ts"
import type { EmailContent } from "../../domain/mail/outbound/emails.ts"
import { checkSmtpServer, createSmtpTransport, type SmtpServer } from "./smtp-transport.ts"

const identity = { domain: "hamlet.test", noticeAddress: "hamlet@hamlet.test", dkim: undefined }
const limits = { connectMsMax: 5_000, idleMsMax: 5_000, sendMsMax: 10_000 }
const never = new AbortController().signal

const content: EmailContent = {
  from: { address: "ada.hello@hamlet.test" },
  to: [{ address: "bob@example.org" }],
  subject: "Hi",
  text: "é",
}
const toJson = (value: unknown) => Buffer.from(JSON.stringify(value))
const message: OutgoingMessage = {
  id: "0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
  createdAt: 1_700_000_000_000,
  isNotice: false,
  content: toJson(content),
  recipients: ["bob@example.org"],
}

const plain = (port: number): SmtpServer => ({
  host: "127.0.0.1",
  port,
  isSecure: false,
  startTls: "if-offered",
  login: undefined,
  ca: undefined,
})

const errors: unknown[] = []
const onError = (error: unknown) => void errors.push(error)
const open = (server: SmtpServer) => createSmtpTransport(server, identity, onError, limits)

describe("createSmtpTransport", () => {
  const authority = createAuthority()
  afterAll(() => authority[Symbol.dispose]())
  const certificate: Certificate = authority.issue("localhost")
  const secure = (port: number, more: Partial<SmtpServer> = {}): SmtpServer => ({
    ...plain(port),
    host: "localhost",
    ca: authority.ca,
    ...more,
  })

  test("hands a message to the server, with its sender and all recipients", async () => {
    const sink = await startMailSink()
    const recipients = ["bob@example.org", "eve@example.org"]
    expect(await open(plain(sink.port)).send({ ...message, recipients }, never)).toEqual({
      kind: "sent",
      rejected: [],
    })
    expect(sink.messages).toMatchObject([{ sender: "ada.hello@hamlet.test", recipients }])
    await sink.stop()
  })

  test("hands over a large message whole, which a thread has written", async () => {
    const sink = await startMailSink()
    const bytes = Buffer.alloc(1_500_000, "..\r\n.a")
    const file = { content: bytes.toString("base64"), filename: "a.bin" }
    const large = toJson({ ...content, text: ".".repeat(200_000), attachments: [file] })
    expect(await open(plain(sink.port)).send({ ...message, content: large }, never)).toEqual({
      kind: "sent",
      rejected: [],
    })
    const { text = "" } = sink.messages[0] ?? {}
    expect(text.replaceAll("\r\n", "")).toContain(file.content)
    await sink.stop()
  })

  test("tells the recipients that were refused from those that got the message", async () => {
    const sink = await startMailSink()
    const recipients = ["bob@example.org", "busy@example.org", "gone@example.org"]
    const outcome = await open(plain(sink.port)).send({ ...message, recipients }, never)
    expect(outcome).toEqual({
      kind: "sent",
      rejected: [
        {
          address: "busy@example.org",
          isPermanent: false,
          error: "the mail server replied: 450 mailbox is busy",
        },
        {
          address: "gone@example.org",
          isPermanent: true,
          error: "the mail server replied: 550 no such mailbox",
        },
      ],
    })
    expect(sink.messages.map((one) => one.recipients)).toEqual([["bob@example.org"]])
    expect(
      await open(plain(sink.port)).send({ ...message, recipients: ["busy1@a.org"] }, never),
    ).toMatchObject({ kind: "sent", rejected: [{ address: "busy1@a.org", isPermanent: false }] })
    await sink.stop()
  })

  test.each([
    ["busy", "the mail server replied: 421 try later", false],
    ["full", "the mail server replied: 452 out of space", false],
    ["picky", "the mail server replied: 554 this is spam", true],
    ["drops", "the mail server closed the connection", false],
  ] as const)(
    "says whether another attempt helps when the server %s",
    async (mode, error, isPermanent) => {
      const sink = await startMailSink()
      sink.mode = mode
      const outcome = await open(plain(sink.port)).send(message, never)
      expect(outcome).toMatchObject({ kind: "failed", error, isPermanent })
      sink.mode = "accepts"
      expect(await open(plain(sink.port)).send(message, never)).toMatchObject({ kind: "sent" })
      await sink.stop()
    },
  )

  test("gives up on a server that hangs", async () => {
    const sink = await startMailSink()
    sink.mode = "hangs"
    const short = { ...limits, sendMsMax: 300 }
    const transport = createSmtpTransport(plain(sink.port), identity, onError, short)
    expect(await transport.send(message, never)).toMatchObject({
      kind: "failed",
      error: "the mail server did not answer in time",
      isPermanent: false,
    })
    await sink.stop()
  })

  test("ends when it is aborted, and says so with an error", async () => {
    const sink = await startMailSink()
    sink.mode = "hangs"
    const abort = new AbortController()
    const sent = open(plain(sink.port)).send(message, abort.signal)
    setTimeout(() => abort.abort(), 100)
    await expect(sent).rejects.toThrow()
    await sink.stop()
  })

  test("names neither address nor login of the server to users when it is not there", async () => {
    const sink = await startMailSink()
    await sink.stop()
    const outcome = await open(plain(sink.port)).send(message, never)
    expect(outcome).toMatchObject({ kind: "failed", isPermanent: false })
    expect(outcome).toMatchObject({ error: "the mail server could not be reached" })
  })

  test("gives up on a message that cannot be written, and reports why", async () => {
    for (const text of ["small", "large ".repeat(50_000)]) {
      const bad = toJson({ ...content, text, attachments: [{}] })
      const outcome = await open(plain(1)).send({ ...message, content: bad }, never)
      expect(outcome).toMatchObject({ kind: "failed", isPermanent: true })
      expect(errors.splice(0)).toHaveLength(1)
    }
  })

  test("upgrades the connection, and then logs in", async () => {
    const sink = await startMailSink({ certificate, password: "hush" })
    const login = { user: "me", password: "hush" }
    const server = secure(sink.port, { startTls: "required", login })
    expect(await open(server).send(message, never)).toMatchObject({ kind: "sent" })
    expect(sink.messages).toMatchObject([{ isSecure: true, user: "me" }])
    expect(
      await open({ ...server, login: { user: "me", password: "wrong" } }).send(message, never),
    ).toMatchObject({
      kind: "failed",
      error: "the mail server refused the login of this server; its operator can fix that",
      isPermanent: false,
    })
    await sink.stop()
  })

  test("uses TLS from the first byte", async () => {
    const sink = await startMailSink({ certificate, isSecure: true })
    expect(await open(secure(sink.port, { isSecure: true })).send(message, never)).toMatchObject({
      kind: "sent",
    })
    expect(sink.messages).toMatchObject([{ isSecure: true }])
    await sink.stop()
  })

  test("sends nothing over a connection that is not secure, if it has to be", async () => {
    const sink = await startMailSink()
    const server = secure(sink.port, { startTls: "required" })
    expect(await open(server).send(message, never)).toMatchObject({
      kind: "failed",
      isPermanent: false,
    })
    expect(sink.messages).toEqual([])
    await sink.stop()
  })

  test("sends nothing to a server whose certificate it does not trust", async () => {
    const sink = await startMailSink({ certificate })
    const stranger = { ...secure(sink.port, { startTls: "required" }), ca: undefined }
    const outcome = await open(stranger).send(message, never)
    expect(outcome).toMatchObject({ kind: "failed", isPermanent: false })
    expect(sink.messages).toEqual([])
    await sink.stop()
  })
})

describe("checkSmtpServer", () => {
  test("connects without sending a message, and names the problem otherwise", async () => {
    const sink = await startMailSink()
    await checkSmtpServer(plain(sink.port), "hamlet.test", never)
    expect(sink.attempts).toBe(0)
    await sink.stop()
    await expect(checkSmtpServer(plain(sink.port), "hamlet.test", never)).rejects.toThrow(
      /refused/i,
    )
  })
})
