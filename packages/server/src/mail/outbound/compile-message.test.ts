import { describe, expect, test } from "bun:test"
import { createVerify, generateKeyPairSync } from "node:crypto"
import type { OutgoingMessage } from "../../domain/mail/outbound/deliver-email.ts"
import type { EmailContent } from "../../domain/mail/outbound/emails.ts"
import { compileMessage } from "./compile-message.ts"

const identity = { domain: "hamlet.test", noticeAddress: "hamlet@hamlet.test", dkim: undefined }
const id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"

const toMessage = (
  content: Partial<EmailContent>,
  more: Partial<OutgoingMessage> = {},
): OutgoingMessage => ({
  id,
  createdAt: 1_700_000_000_000,
  isNotice: false,
  recipients: ["bob@example.org"],
  content: Buffer.from(
    JSON.stringify({
      from: { address: "ada.hello@hamlet.test", name: "Ada" },
      to: [{ address: "bob@example.org", name: 'Bob "B"' }],
      subject: "Hi",
      ...content,
    }),
  ),
  ...more,
})

const compile = async (content: Partial<EmailContent>, more?: Partial<OutgoingMessage>) => {
  const { bytes, sender } = await compileMessage(identity, toMessage(content, more))
  return { text: Buffer.from(bytes).toString(), sender }
}

const file = { content: btoa("content"), filename: "ä\u202e.txt", type: "text/plain" }

describe("compileMessage", () => {
  test("writes the same bytes for each attempt, with an id of this server", async () => {
    const content = { text: "a", html: "<b>a</b>", attachments: [file] }
    const first = await compile(content)
    expect(first).toEqual(await compile(content))
    expect(first.text).toContain(`Message-ID: <${id}@hamlet.test>`)
    expect(first.text).toContain("Date: Tue, 14 Nov 2023 22:13:20 +0000")
    expect(first.sender).toBe("ada.hello@hamlet.test")
  })

  test("contains text, HTML as it is, and files", async () => {
    const picture = {
      content: btoa("picture"),
      filename: "p.png",
      type: "image/png",
      contentId: "p",
      disposition: "inline" as const,
    }
    const { text } = await compile({
      text: "plain",
      html: '<img src="cid:p">',
      attachments: [file, picture],
    })
    expect(text).toContain("Content-Type: multipart/mixed")
    expect(text).toContain('<img src="cid:p">')
    expect(text).toContain("Content-ID: <p>")
    expect(text).toContain(btoa("content"))
    expect(text).toContain(btoa("picture"))
  })

  test("does not show recipients that only the envelope names", async () => {
    const { text } = await compile({}, { recipients: ["bob@example.org", "secret@example.org"] })
    expect(text).not.toContain("secret@example.org")
  })

  test("marks messages of the server itself, which have no return path", async () => {
    const { text, sender } = await compile({ from: null, to: null }, { isNotice: true })
    expect(sender).toBe("")
    expect(text).toContain("Auto-Submitted: auto-generated")
    expect(text).toContain("From: hamlet@hamlet.test")
    expect(text).toContain("To: bob@example.org")
  })

  // The contract refuses these values; this is the second wall.
  const attack = "x\r\nBcc: eve@example.org\r\n\r\ninjected"
  test.each([
    ["subject", { subject: attack }],
    ["name of the sender", { from: { address: "ada@hamlet.test", name: attack } }],
    ["sender", { from: { address: `ada@hamlet.test${attack}` } }],
    ["name of a recipient", { to: [{ address: "bob@example.org", name: attack }] }],
    ["recipient", { to: [{ address: `bob@example.org${attack}` }] }],
    ["cc", { cc: [{ address: `bob@example.org${attack}` }] }],
    ["reply-to", { replyTo: [{ address: "bob@example.org", name: attack }] }],
    ["value of a header", { headers: { "X-A": attack } }],
    ["name of a header", { headers: { [`X-A${attack}`]: "1" } }],
    ["name of a file", { attachments: [{ ...file, filename: attack }] }],
    ["type of a file", { attachments: [{ ...file, type: `text/plain${attack}` }] }],
    ["id of a file", { attachments: [{ ...file, contentId: attack }] }],
  ] as const)("adds no header from the %s", async (_, content) => {
    const { text } = await compile({ text: "body", ...content })
    const lines = text.split("\r\n")
    expect(lines.filter((line) => /^bcc:/i.test(line))).toEqual([])
    expect(lines.filter((line) => line === "injected")).toEqual([])
  })

  test("signs with the key of the operator", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const key = privateKey.export({ type: "pkcs8", format: "pem" }) as string
    const dkim = { domain: "hamlet.test", selector: "s1", key }
    const { bytes } = await compileMessage({ ...identity, dkim }, toMessage({ text: "é" }))
    const [, signature = ""] = /^(DKIM-Signature: [\s\S]*?)\r\n(?=\S)/.exec(bytes.toString()) ?? []
    expect(signature).toContain("d=hamlet.test")
    expect(signature).toContain("s=s1")
    expect(verify(bytes.toString(), signature, publicKey)).toBe(true)
    expect(
      verify(bytes.toString().replace("Subject: Hi", "Subject: Ho"), signature, publicKey),
    ).toBe(false)
  })
})

/** Checks the signature of the headers, as a receiver does (RFC 6376, relaxed canonicalization). */
function verify(
  text: string,
  signature: string,
  publicKey: Parameters<ReturnType<typeof createVerify>["verify"]>[0],
): boolean {
  const tags = Object.fromEntries(
    signature
      .slice(signature.indexOf(":") + 1)
      .replaceAll(/\s+/g, "")
      .split(";")
      .map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]),
  )
  const head = text.slice(0, text.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]+/g, " ")
  const relax = (line: string) => {
    const at = line.indexOf(":")
    return `${line.slice(0, at).toLowerCase()}:${line
      .slice(at + 1)
      .replaceAll(/\s+/g, " ")
      .trim()}`
  }
  const lines = head.split("\r\n").map(relax)
  const signed = String(tags.h)
    .toLowerCase()
    .split(":")
    .flatMap((name) => lines.findLast((line) => line.startsWith(`${name}:`)) ?? [])
  const own = relax(signature.replaceAll(/\r\n[ \t]+/g, " ")).replace(/\bb=[^;]*$/, "b=")
  return createVerify("sha256")
    .update(`${signed.join("\r\n")}\r\n${own}`)
    .verify(publicKey, String(tags.b), "base64")
}
