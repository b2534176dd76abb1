import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import type { WorkerLimits } from "@hamlet/sandbox"
import { TextNameServer } from "../../../test/mail/support/text-name-server.ts"
import { AppError } from "../../domain/app-error.ts"
import { MailRefused } from "../../domain/mail/inbound/mail.ts"
import { ProcessMailReader } from "./mail-reader.ts"

let names: TextNameServer
beforeAll(async () => {
  names = await TextNameServer.listen()
})
afterAll(() => names.stop())

const readers: ProcessMailReader[] = []
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.stop()))
})

function open(limits: Partial<WorkerLimits> = {}): ProcessMailReader {
  const reader = new ProcessMailReader({
    serverName: "mx.test",
    nameServers: [names.address],
    messageBytesMax: 1_000_000,
    isolation: "auto",
    limits,
  })
  readers.push(reader)
  return reader
}

const connection = { address: "192.0.2.1", helo: "mail.example.com", mailFrom: "eve@example.com" }
const toPieces = (text: string) => [
  Buffer.from(text.slice(0, 7), "latin1"),
  Buffer.from(text.slice(7), "latin1"),
]
const message = "From: Eve <eve@example.com>\r\nSubject: hello\r\n\r\nworld\r\n"
const problemOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: unknown) => {
      if (error instanceof MailRefused) return `${error.reason}: ${error.message}`
      return error instanceof AppError ? error.code : String(error)
    },
  )

describe("ProcessMailReader", () => {
  test("reads a message in a process, and checks its sender with name servers", async () => {
    names.records.set("example.com", "v=spf1 ip4:192.0.2.1 -all")
    const reader = open()
    const mail = await reader.read(toPieces(message), connection.address, connection)
    expect(mail.email).toMatchObject({
      from: "Eve <eve@example.com>",
      subject: "hello",
      bytes: message.length,
      auth: { spf: "pass", isFromVerified: true },
    })
    const json = Buffer.from(mail.content)
    expect(JSON.parse(json.toString("utf8", 4, 4 + json.readUInt32BE(0)))).toMatchObject({
      text: "world\n",
      auth: { spf: "pass" },
    })
    expect(reader.pids).not.toContain(process.pid)
  })

  test("reads a file with the line ends of any system, without a sender to check", async () => {
    const reader = open()
    for (const end of ["\r\n", "\n", "\r"]) {
      const text = message.replaceAll("\r\n", end)
      const mail = await reader.read(toPieces(text), "ada")
      expect(mail.email).toMatchObject({ subject: "hello", bytes: message.length })
      expect(mail.email.auth.isFromVerified).toBe(false)
    }
    const lines = message + "\n".repeat(500_000)
    expect(await problemOf(reader.read(toPieces(lines), "ada"))).toBe(
      "invalid_message: the message has more than 500000 lines",
    )
  })

  test("refuses a message for good that is too large or has a long header", async () => {
    const reader = open()
    const large = [...toPieces(message), new Uint8Array(1_000_000)]
    expect(await problemOf(reader.read(large, "a", connection))).toStartWith("invalid_message")
    const long = toPieces(`X: ${"x".repeat(300_000)}\r\n${message}`)
    expect(await problemOf(reader.read(long, "a", connection))).toBe(
      "invalid_message: the header of the message is too long",
    )
    expect(reader.pids).toEqual([])
  })

  test("asks to try again when a message takes too long, and reads others", async () => {
    const reader = open({ requestMsMax: 0, checkMs: 1 })
    const slow = `From: a@b.example\r\nSubject: ${"=?utf-8?Q?a?= ".repeat(15_000)}\r\n\r\n${"x\r\n".repeat(250_000)}`
    expect(await problemOf(reader.read(toPieces(slow), "eve"))).toBe(
      "timed_out: the message took too long to read; try again later",
    )
    const other = open()
    expect(await problemOf(other.read(toPieces(message), "ada"))).toBe("read")
  })

  test("refuses a message that takes too much memory", async () => {
    const reader = open({ memoryBytesMax: 1, checkMs: 1, requestMsMax: 600_000 })
    const text = `From: a@b.example\r\n\r\n${"x\r\n".repeat(300_000)}`
    expect(await problemOf(reader.read(toPieces(text), "eve"))).toBe(
      "invalid_message: the message takes too much memory to read",
    )
  })

  test("asks to try again when too many messages wait, or a process is killed", async () => {
    expect(await problemOf(open({ waitingMax: 0 }).read(toPieces(message), "eve"))).toBe(
      "overloaded",
    )
    const reader = open()
    const text = `From: a@b.example\r\n\r\n${"x\r\n".repeat(300_000)}`
    const reading = problemOf(reader.read(toPieces(text), "eve"))
    while (reader.pids.length === 0) await Bun.sleep(1)
    for (const pid of reader.pids) process.kill(pid, "SIGKILL")
    expect(["overloaded", "read"]).toContain(await reading)
    expect(await problemOf(reader.read(toPieces(message), "eve"))).toBe("read")
  })
})
