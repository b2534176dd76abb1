import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { TextNameServer } from "../../../test/mail/support/text-name-server.ts"
import type { ReadMail } from "../../domain/mail/inbound/mail.ts"
import { withRecipient } from "../../domain/mail/inbound/mail-content.ts"
import { findSender } from "./check-sender.ts"
import { lookUpSender } from "./look-up-sender.ts"
import { findHeaderEnd } from "./message-limits.ts"
import { readMessage } from "./read-message.ts"

let names: TextNameServer
beforeAll(async () => {
  names = await TextNameServer.listen()
})
afterAll(() => names.stop())

const usual = { address: "192.0.2.1", helo: "mail.example.com", mailFrom: "eve@example.com" }

/** Reads a message as the reader does, but in this process. */
async function read(lines: readonly string[], connection = usual): Promise<ReadMail> {
  const raw = Buffer.from(lines.join("\r\n"), "latin1")
  const found = await findSender(raw.subarray(0, findHeaderEnd(raw)), connection.mailFrom)
  const findings = await lookUpSender({
    connection,
    names: found,
    serverName: "mx.test",
    nameServers: [names.address],
  })
  return readMessage(raw, { connection, findings })
}
const from = "From: Eve <eve@example.com>"
const argumentOf = ({ content }: ReadMail) =>
  JSON.parse(
    Buffer.from(content).toString("utf8", 4, 4 + Buffer.from(content).readUInt32BE(0)),
  ) as Record<string, unknown>
const problemOf = async (lines: readonly string[]) =>
  read(lines).then(
    () => "accepted",
    (error: Error) => error.message,
  )

describe("readMessage", () => {
  test("reads 8-bit text, encoded words and unknown charsets without failing", async () => {
    const mail = await read([
      from,
      "Subject: =?iso-8859-1?Q?Gr=FC=DFe?= =?x-none?B?/w==?=",
      "Content-Type: text/plain; charset=iso-8859-1",
      "Content-Transfer-Encoding: 8bit",
      "",
      "caf\xe9",
    ])
    expect(argumentOf(mail).text).toContain("café")
    expect(mail.email.subject).toStartWith("Grüße")
  })

  test("flattens groups, and quotes names that need it", async () => {
    const mail = await read([from, 'To: Team: "a, b" <a@x.example>, c@x.example;', "", "x"])
    expect(argumentOf(mail).to).toEqual(['"a, b" <a@x.example>', "c@x.example"])
  })

  test("keeps header injections inside of their values", async () => {
    const mail = await read([
      from,
      "Subject: =?utf-8?Q?a=0D=0ABcc:_victim@example.org?=",
      'To: "x\\" <forged@example.org>, " <a@x.example>',
      "",
      "x",
    ])
    expect(argumentOf(mail).bcc).toBeUndefined()
    expect(Object.keys(argumentOf(mail).headers as object).sort()).toEqual([
      "from",
      "subject",
      "to",
    ])
  })

  test("reads a message without a body, and one without a type", async () => {
    expect(argumentOf(await read([from]))).toMatchObject({ attachments: [] })
    expect(argumentOf(await read([from, "", ""]))).toMatchObject({ attachments: [] })
  })

  test.each([
    ["no From", ["Subject: x", "", "x"], "the message does not have one From header"],
    ["two From headers", [from, from, "", "x"], "the message does not have one From header"],
    [
      "two authors",
      ["From: a@x.example, b@x.example", "", "x"],
      "the message does not have one address in From",
    ],
    [
      "an author without an address",
      ["From: Eve", "", "x"],
      "the message does not have one address in From",
    ],
    ["NUL", [from, "", "a\0b"], "the message contains a NUL byte"],
    ["a bare LF", [from, "", "a\nb"], "the message contains a CR or LF alone"],
    ["a bare CR", [from, "", "a\rb"], "the message contains a CR or LF alone"],
    [
      "a bare LF in the header",
      [`${from}\nBcc: x`, "", "a"],
      "the message contains a CR or LF alone",
    ],
    ["a CR at the end", [from, "", "a\r"], "the message contains a CR or LF alone"],
    [
      "a long header",
      [from, `X: ${"x".repeat(300_000)}`, "", "a"],
      "the header of the message is too long",
    ],
    [
      "many headers",
      [from, ...Array.from({ length: 1_001 }, () => "X: y"), "", "a"],
      "the message has too many headers",
    ],
    [
      "many signatures",
      [from, ...Array.from({ length: 21 }, () => "DKIM-Signature: v=1"), "", "a"],
      "the message has too many signatures",
    ],
  ])("refuses a message with %s", async (_title, lines, problem) => {
    expect(await problemOf(lines)).toBe(problem)
  })

  const multipart = (boundary: string, parts: number) => [
    from,
    `Content-Type: multipart/mixed; ${boundary}`,
    "",
    ...Array.from({ length: parts }, () => "--b\r\n"),
    "--b--",
  ]

  test("refuses too many parts before it reads them, however the boundary is written", async () => {
    expect(await problemOf(multipart("boundary=b", 900))).toBe("accepted")
    const problem = "the message has too many parts"
    expect(await problemOf(multipart("boundary=b", 1_001))).toBe(problem)
    expect(await problemOf(multipart('BOUNDARY =\r\n "b"', 1_001))).toBe(problem)
    expect(await problemOf(multipart("boundary*0=b", 100_001))).toBe(problem)
  })

  test("refuses parts that are nested too deeply", async () => {
    const levels = Array.from({ length: 40 }, (_, level) => [
      `Content-Type: multipart/mixed; boundary=b${level}`,
      "",
      `--b${level}`,
    ]).flat()
    expect(await problemOf([from, ...levels, "", "x"])).toContain("the message cannot be read")
  })

  test("identifies a message by what its sender wrote", async () => {
    const fingerprint = async (...lines: string[]) => (await read([from, ...lines])).fingerprint
    const id = "Message-ID: <1@example.com>"
    expect(await fingerprint("", "x")).toBeUndefined()
    expect(await fingerprint(id, "Received: a", "X-Spam: 1", "", "x")).toBe(
      await fingerprint("Received: b", id, "", "x"),
    )
    expect(await fingerprint(id, "", "x")).not.toBe(await fingerprint(id, "", "y"))
    expect(await fingerprint(id, "", "x")).not.toBe(
      await fingerprint("Message-ID: <2@example.com>", "", "x"),
    )
  })

  test("tells a forged copy from the real message", async () => {
    names.records.set("real.example", "v=spf1 ip4:192.0.2.1 -all")
    const lines = ["From: a@real.example", "Message-ID: <1@real.example>", "", "x"]
    const from = (address: string) =>
      read(lines, { address, helo: "h.example", mailFrom: "a@real.example" })
    const [real, again, forged] = [
      await from("192.0.2.1"),
      await from("192.0.2.1"),
      await from("192.0.2.2"),
    ]
    expect([real, forged].map(({ email }) => email.auth.isFromVerified)).toEqual([true, false])
    expect(again.fingerprint).toBe(real.fingerprint)
    expect(forged.fingerprint).not.toBe(real.fingerprint)
  })

  test("refuses a message whose argument is much larger than itself", async () => {
    const lineOf = (char: string) => [from, "", char.repeat(400_000)]
    expect(await problemOf(lineOf("x"))).toBe("accepted")
    expect(await problemOf(lineOf('"'))).toBe("accepted")
    expect(await problemOf(lineOf("\u0001"))).toBe(
      "the message becomes too large when it is decoded",
    )
  })

  test("keeps the value that tells a loop short", async () => {
    const { loop } = await read([from, `Auto-Submitted: ${"x".repeat(100_000)}`, "", "x"])
    expect(loop.autoSubmitted).toHaveLength(50)
  })

  test("reads what tells a loop", async () => {
    const mail = await read([
      from,
      "auto-submitted: Auto-Replied; owner-email=x",
      "Received: 1",
      "Received: 2",
      "Message-ID: <1@example.com>",
      "",
      "x",
    ])
    expect(mail.loop).toEqual({
      autoSubmitted: "auto-replied",
      messageId: "1@example.com",
      hops: 2,
    })
  })

  test("does not verify a sender by an SPF pass of another domain", async () => {
    names.records.set("service.example", "v=spf1 ip4:192.0.2.1 -all")
    names.records.set("example.com", "v=spf1 ip4:192.0.2.1 -all")
    const via = (mailFrom: string) =>
      read([from, "", "x"], { ...usual, helo: "service.example", mailFrom })
    expect((await via("x@service.example")).email.auth).toMatchObject({
      spf: "pass",
      isFromVerified: false,
    })
    expect((await via("")).email.auth.isFromVerified).toBe(false)
    expect((await via("eve@example.com")).email.auth.isFromVerified).toBe(true)
  })

  test("follows the policy of a domain that has one", async () => {
    names.records.set("_dmarc.strict.example", "v=DMARC1; p=reject; aspf=s")
    names.records.set("sub.strict.example", "v=spf1 ip4:192.0.2.1 -all")
    names.records.set("strict.example", "v=spf1 ip4:192.0.2.1 -all")
    const via = async (mailFrom: string) =>
      (await read(["From: a@strict.example", "", "x"], { ...usual, helo: "h.example", mailFrom }))
        .email.auth
    expect(await via("a@sub.strict.example")).toMatchObject({
      dmarc: "fail",
      isFromVerified: false,
    })
    expect(await via("a@strict.example")).toMatchObject({ dmarc: "pass", isFromVerified: true })
  })
})

describe("withRecipient", () => {
  test("adds the recipient and keeps the files", async () => {
    const mail = await read([
      from,
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      'Content-Disposition: attachment; filename="a.txt"',
      "Content-Transfer-Encoding: base64",
      "",
      btoa("file"),
      "--b--",
    ])
    const pieces = [mail.content.subarray(0, 2), mail.content.subarray(2)]
    const content = await withRecipient(pieces, mail.content.length, 'a"b@x')
    expect(argumentOf({ ...mail, content })).toMatchObject({
      recipient: 'a"b@x',
      from: "Eve <eve@example.com>",
      attachments: [{ name: "a.txt", size: 4 }],
    })
    expect(Buffer.from(content).toString("latin1").slice(-4)).toBe("file")
  })
})
