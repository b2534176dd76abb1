import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { waitUntil } from "@hamlet/kit/testing"
import { createTransport } from "nodemailer"
import { expectStatus } from "../support/api.ts"
import { describeMail, type MailSuite, mailDomain } from "./support/mail-suite.ts"
import { SmtpClient } from "./support/smtp-client.ts"

const sender = "eve@sender.example.com"

describeMail("mail to a val", (suite) => {
  test("calls it with the message and real files, and shows the mail in its run", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    const reply = await suite.send({
      from: { name: "Eve Ångström", address: sender },
      to: [val.address, { name: "Bob, B.", address: "bob@example.com" }],
      cc: "carol@example.com",
      replyTo: "reply@example.com",
      subject: "Grüße",
      text: "Hallo\nWelt",
      html: "<p>Hallo</p>",
      messageId: "<one@sender.example.com>",
      date: new Date(1_700_000_000_000),
      headers: { "X-List": "a" },
      attachments: [
        { filename: "../../Zoë.txt", content: "€", contentType: "text/plain" },
        { filename: "data.bin", content: Buffer.from([0, 1, 2]) },
      ],
      envelope: { from: sender, to: val.address.replace("@", "+tag@") },
    })
    expect(reply).toMatch(/^250 2\.6\.0 Message accepted: run [\da-f-]{36}$/)
    const [run] = await suite.runsOf(ada, val.id, 1)
    expect(run).toMatchObject({
      source: "email",
      status: "succeeded",
      returnValue: {
        from: "Eve Ångström <eve@sender.example.com>",
        to: [val.address, '"Bob, B." <bob@example.com>'],
        cc: ["carol@example.com"],
        replyTo: ["reply@example.com"],
        subject: "Grüße",
        text: expect.stringMatching(/^Hallo\r?\nWelt\r?\n?$/),
        html: expect.stringContaining("<p>Hallo</p>"),
        recipient: val.address.replace("@", "+tag@"),
        envelopeFrom: sender,
        messageId: "<one@sender.example.com>",
        date: "2023-11-14T22:13:20.000Z",
        headers: { "x-list": "a", subject: expect.any(String) },
        auth: { spf: "none", dkim: "none", dmarc: "none", isFromVerified: false },
        attachments: [
          ["Zoë.txt", expect.stringContaining("text/plain"), "€"],
          ["data.bin", "application/octet-stream", "\u0000\u0001\u0002"],
        ],
      },
      email: {
        from: "Eve Ångström <eve@sender.example.com>",
        to: val.address.replace("@", "+tag@"),
        subject: "Grüße",
        messageId: "one@sender.example.com",
        attachments: 2,
        isTest: false,
        auth: { spf: "none", dkim: "none", dmarc: "none", isFromVerified: false },
      },
      args: [
        {
          subject: "Grüße",
          attachments: [
            { name: "Zoë.txt", type: "text/plain", size: 3 },
            { name: "data.bin", type: "application/octet-stream", size: 3 },
          ],
        },
      ],
    })
  })

  test("reaches it in any case, and by its id with or without dashes", async () => {
    const ada = await suite.addUser()
    const { id, address } = await suite.addVal(ada)
    const addresses = [
      address.toUpperCase(),
      `${id}@${mailDomain}`,
      `${id.replaceAll("-", "")}+x@${mailDomain}`,
    ]
    for (const to of addresses)
      expect(await suite.send({ from: sender, to, text: to })).toStartWith("250")
    expect(await suite.runsOf(ada, id, 3)).toHaveLength(3)
  })

  test("calls the file of a branch that has the address", async () => {
    const ada = await suite.addUser()
    const { id } = await suite.addVal(ada)
    const { call } = suite.api
    const base = `/v2/vals/${id}`
    const name = { as: ada, body: { name: "trial" } }
    const { json: branch } = expectStatus(await call("POST", `${base}/branches`, name), 201)
    const path = `${base}/files?path=side.ts&branch_id=${branch.id}`
    const content = "export default ({ subject }) => `side: ${subject}`"
    const body = { type: "email", content }
    const { json: file } = expectStatus(await call("POST", path, { as: ada, body }), 201)
    const message = { from: sender, to: file.links.email, subject: "hello", text: "x" }
    expect(await suite.send(message)).toStartWith("250")
    const [run] = await suite.runsOf(ada, id, 1)
    expect(run).toMatchObject({
      source: "email",
      status: "succeeded",
      returnValue: "side: hello",
      file: { id: file.id, path: "side.ts" },
      branch: { id: branch.id, name: "trial" },
    })
  })

  test("runs each of several vals, and a val with two addresses once", async () => {
    const ada = await suite.addUser()
    const one = await suite.addVal(ada)
    const two = await suite.addVal(ada)
    const to = [one.address, two.address, `${one.id}@${mailDomain}`]
    expect(await suite.send({ from: sender, to, text: "x" })).toStartWith("250")
    expect(await suite.runsOf(ada, one.id, 1)).toHaveLength(1)
    expect(await suite.runsOf(ada, two.id, 1)).toHaveLength(1)
  })

  test("runs it once when a message is delivered again, on whatever way", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    const message = { from: sender, to: val.address, text: "once", messageId: "<a@x.example>" }
    const date = new Date(1_700_000_000_000)
    expect(await suite.send({ ...message, date })).toContain("run ")
    const again = { ...message, date, headers: { Received: "from a by b", "X-Way": "2" } }
    expect(await suite.send(again)).toBe("250 2.6.0 Message accepted: it had come before")
    expect(await suite.send({ ...message, date, text: "twice" })).toContain("run ")
    expect(await suite.runsOf(ada, val.id, 2)).toHaveLength(2)
  })

  test("runs it once when the same message comes at the same time over several connections", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    const message = { from: sender, to: val.address, text: "once", messageId: "<b@x.example>" }
    await suite.untilAlone()
    const all = Array.from({ length: 8 }, () =>
      suite.send({ ...message, date: new Date(1_700_000_000_000) }),
    )
    const replies = await Promise.all(all)
    expect(replies.every((reply) => reply.startsWith("250"))).toBe(true)
    expect(replies.filter((reply) => reply.includes("run "))).toHaveLength(1)
    expect(await suite.runsOf(ada, val.id, 1)).toHaveLength(1)
  })

  test("is refused for other types, and when the val is deleted or its owner suspended", async () => {
    const ada = await suite.addUser()
    const script = await suite.addVal(ada, { type: "script" })
    expect(await suite.send({ from: sender, to: script.address })).toStartWith("550 5.1.1")
    const val = await suite.addVal(ada)
    const as = suite.api.admin
    expectStatus(
      await suite.api.call("PUT", `/v1/users/${ada.id}/suspension`, { as, body: { reason: "x" } }),
      204,
    )
    expect(await suite.send({ from: sender, to: val.address })).toStartWith("450 4.2.1")
  })

  describe("who may send", () => defineSenders(suite))
  describe("refusals", () => defineRefusals(suite))
})

function defineSenders(suite: MailSuite): void {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  })
  const key = `v=DKIM1; k=rsa; p=${publicKey.toString("base64")}`
  const sign = (domainName: string) => ({ domainName, keySelector: "s", privateKey })
  let domains = 0
  /** A private val, and a domain of its owner. */
  const open = async () => {
    domains += 1
    const domain = `owner${domains}.example`
    const ada = await suite.addUser(`Ada@${domain}`)
    const val = await suite.addVal(ada, { privacy: "private" })
    const message = { from: `Ada <ada@${domain}>`, to: val.address, text: "x" }
    return { domain, ada, val, message }
  }
  const hidden = "550 5.1.1 No val has this address, or not for this sender"
  /** Sends a message, again if the machine was too busy to ask the name server in time. */
  const send: MailSuite["send"] = (...message) =>
    waitUntil(async () => {
      const reply = await suite.send(...message)
      return reply.startsWith("451 4.7.5") ? undefined : reply
    })

  test("an address that the owner has not confirmed proves nothing", async () => {
    const ada = await suite.addUser()
    const body = { email: "ada@unconfirmed.example" }
    expectStatus(await suite.api.call("PUT", "/v1/me", { as: ada, body }), 200)
    const val = await suite.addVal(ada, { privacy: "private" })
    suite.names.records.set("unconfirmed.example", "v=spf1 ip4:127.0.0.1 -all")
    expect(await send({ from: body.email, to: val.address, text: "x" })).toBe(hidden)
  })

  test("a private val takes mail of its owner with SPF", async () => {
    const { domain, ada, val, message } = await open()
    suite.names.records.set(domain, "v=spf1 ip4:127.0.0.1 -all")
    expect(await send(message)).toStartWith("250")
    const [run] = await suite.runsOf(ada, val.id, 1)
    expect(run.email.auth).toMatchObject({ spf: "pass", isFromVerified: true })
  })

  test("a private val takes mail of its owner with DKIM, from another envelope", async () => {
    const { domain, ada, val, message } = await open()
    suite.names.records.set(`s._domainkey.${domain}`, key)
    const envelope = { from: "bounce@service.example", to: val.address }
    expect(await send({ ...message, envelope, dkim: sign(domain) })).toStartWith("250")
    const [run] = await suite.runsOf(ada, val.id, 1)
    expect(run.email.auth).toMatchObject({ dkim: "pass", isFromVerified: true })
    expect(run.returnValue.auth.isFromVerified).toBe(true)
  })

  test("a private val takes no copy of a signed message that was sent to another address", async () => {
    const { domain, ada, val, message } = await open()
    suite.names.records.set(`s._domainkey.${domain}`, key)
    const envelope = { from: "eve@service.example", to: val.address }
    const copy = { ...message, envelope, dkim: sign(domain) }
    expect(await send({ ...copy, to: "list@service.example" })).toBe(hidden)
    // An unsigned header says nothing.
    const unsigned = { ...sign(domain), skipFields: "to:cc" }
    expect(await send({ ...copy, dkim: unsigned })).toBe(hidden)
    expect(await send({ ...copy, date: new Date(Date.now() - 86_400_000) })).toBe(hidden)
    expect(await suite.runsOf(ada, val.id, 0)).toHaveLength(0)
  })

  test("a signed message runs once, whatever is added to its copies", async () => {
    const { domain, ada, val, message } = await open()
    suite.names.records.set(`s._domainkey.${domain}`, key)
    const composed = await createTransport({ streamTransport: true, buffer: true }).sendMail({
      ...message,
      dkim: sign(domain),
    })
    const send = async (added: string) => {
      const client = await SmtpClient.open(suite.port)
      await client.begin("eve@service.example", val.address)
      const reply = await client.data(added + String(composed.message).trimEnd())
      client.close()
      return reply
    }
    expect(await send("")).toMatch(/^250 .* run /)
    expect(await send("X-Copy: 1\r\n")).toBe("250 2.6.0 Message accepted: it had come before")
    expect(await suite.runsOf(ada, val.id, 1)).toHaveLength(1)
  })

  test("a private val and an unknown address give others the same replies", async () => {
    const { domain, val, message } = await open()
    const talk = async (to: string) => {
      const client = await SmtpClient.open(suite.port)
      const replies = [
        await client.send("EHLO client.example.com"),
        await client.send("MAIL FROM:<eve@sender.example.com>"),
        await client.send(`RCPT TO:<${to}>`),
        await client.send(`RCPT TO:<${to}>`),
        await client.send(`RCPT TO:<other.val@${mailDomain}>`),
        await client.data(`From: ada@${domain}\r\n\r\nx`),
      ]
      client.close()
      return replies
    }
    const known = await talk(val.address)
    expect(known).toEqual(await talk(val.address.replace("inbox", "nobox")))
    expect(known.at(-1)).toBe(hidden)
    // Signed or sent by another domain.
    suite.names.records.set("service.example", "v=spf1 ip4:127.0.0.1 -all")
    suite.names.records.set("s._domainkey.service.example", key)
    const envelope = { from: "x@service.example", to: val.address }
    expect(await send({ ...message, envelope, dkim: sign("service.example") })).toBe(hidden)
    expect(
      await send({
        from: "eve@service.example",
        to: val.address,
        dkim: sign("service.example"),
      }),
    ).toBe(hidden)
  })

  test("a forged From and a broken signature are refused by a private val", async () => {
    const { domain, val, message } = await open()
    suite.names.records.set(`s._domainkey.${domain}`, key)
    suite.names.records.set(domain, "v=spf1 -all")
    expect(await send(message)).toBe(hidden)
    const client = await SmtpClient.open(suite.port)
    await client.begin("eve@sender.example.com", val.address)
    const two = await client.data(`From: ada@${domain}\r\nFrom: eve@sender.example.com\r\n\r\nx`)
    expect(two).toStartWith("554 5.6.0")
    client.close()
  })

  test("a private val and an unknown address are postponed while a name server is silent", async () => {
    const { domain, val, message } = await open()
    suite.names.records.set(domain, null)
    const [known, unknown] = await Promise.all([
      suite.send(message),
      suite.send({ ...message, to: val.address.replace("inbox", "nobox") }),
    ])
    expect([known, unknown]).toEqual([
      "451 4.7.5 The sender could not be checked; try again later",
      "451 4.7.5 The sender could not be checked; try again later",
    ])
  }, 180_000)

  test("a message to a hidden address and another one is to be sent twice", async () => {
    const { val } = await open()
    const shown = await suite.addVal(await suite.addUser())
    const client = await SmtpClient.open(suite.port)
    await client.begin(sender, shown.address)
    expect(await client.send(`RCPT TO:<${val.address}>`)).toStartWith("452 4.5.3")
    expect(await client.send(`RCPT TO:<no.body@${mailDomain}>`)).toStartWith("452 4.5.3")
    expect(await client.data(`From: ${sender}\r\n\r\nx`)).toStartWith("250")
    client.close()
  })
}

function defineRefusals(suite: MailSuite): void {
  test("mail for other domains is not relayed", async () => {
    const client = await SmtpClient.open(suite.port)
    await client.begin(sender)
    for (const to of [
      "victim@example.org",
      `victim%example.org@${mailDomain}`,
      `@${mailDomain}:victim@example.org`,
      `"victim@example.org"@${mailDomain}`,
      `ada.val@sub.${mailDomain}`,
      "postmaster",
    ])
      expect(await client.send(`RCPT TO:<${to}>`)).toMatch(/^5\d\d /)
    expect(await client.send("DATA")).toStartWith("503")
    client.close()
  })

  test("a message that is too large gets 552, announced or not", async () => {
    const ada = await suite.addUser()
    const val = await suite.addVal(ada)
    const client = await SmtpClient.open(suite.port)
    expect(await client.send("EHLO client.example.com")).toContain("SIZE 1048576")
    expect(await client.send(`MAIL FROM:<${sender}> SIZE=1048577`)).toStartWith("552")
    await client.begin(sender, val.address)
    const large = `From: ${sender}\r\n\r\n${"x".repeat(70)}\r\n`.padEnd(1_048_577, "y\r\n")
    expect(await client.data(large)).toStartWith("552 5.3.4")
    await client.begin(sender, val.address)
    expect(await client.data(`From: ${sender}\r\n\r\nsmall`)).toStartWith("250")
    client.close()
    expect(await suite.runsOf(ada, val.id, 1)).toHaveLength(1)
  })

  test("loops get 554", async () => {
    const val = await suite.addVal(await suite.addUser())
    const send = (more: object) => suite.send({ from: sender, to: val.address, text: "x", ...more })
    const headers = (name: string, value: string) => ({ headers: { [name]: value } })
    expect(await send(headers("Auto-Submitted", "auto-replied (vacation)"))).toStartWith(
      "554 5.4.6",
    )
    expect(await send(headers("Auto-Submitted", "auto-generated"))).toStartWith("554 5.4.6")
    expect(await send({ messageId: `<1@${mailDomain}>` })).toStartWith("554 5.4.6")
    const hops = Array.from({ length: 31 }, () => "Received: from a by b").join("\r\n")
    const client = await SmtpClient.open(suite.port)
    await client.begin(sender, val.address)
    expect(await client.data(`${hops}\r\nFrom: ${sender}\r\n\r\nx`)).toStartWith("554 5.4.6")
    client.close()
    expect(await send(headers("Auto-Submitted", "no"))).toStartWith("250")
  })
}

describeMail(
  "limits of mail",
  (suite) => {
    // Limits refill with time.
    beforeEach(() => void setSystemTime(new Date()))
    afterEach(() => void setSystemTime())

    test("limit messages per client and per account, with replies that ask for a retry", async () => {
      const ada = await suite.addUser()
      const val = await suite.addVal(ada)
      const send = (text: string) => suite.send({ from: sender, to: val.address, text })
      expect([await send("1"), await send("2")].map((reply) => reply.slice(0, 3))).toEqual([
        "250",
        "250",
      ])
      expect(await send("3")).toBe("452 4.7.28 The recipient gets too much mail; try again later")
      expect(await send("4")).toBe(
        "452 4.7.28 Too many messages from your address; try again later",
      )
    })

    test("generated messages are accepted where the operator allows it", async () => {
      expect(suite.api.hamlet.parts.foundation.config.mail.acceptsGenerated).toBe(true)
    })
  },
  { HAMLET_MAIL_PER_ACCOUNT: "2", HAMLET_MAIL_PER_ADDRESS: "3", HAMLET_MAIL_GENERATED: "accept" },
)

describeMail(
  "mail to several accounts",
  (suite) => {
    beforeEach(() => void setSystemTime(new Date()))
    afterEach(() => void setSystemTime())

    test("reaches those that may get it, and costs the others nothing", async () => {
      const [ada, bob, eve] = [await suite.addUser(), await suite.addUser(), await suite.addUser()]
      const [full, open, gone] = [
        await suite.addVal(ada),
        await suite.addVal(bob),
        await suite.addVal(eve),
      ]
      await suite.send({ from: sender, to: full.address, text: "1" })
      const { admin, call } = suite.api
      await call("PUT", `/v1/users/${eve.id}/suspension`, { as: admin, body: {} })
      const client = await SmtpClient.open(suite.port)
      await client.begin(sender)
      expect(await client.send(`RCPT TO:<${full.address}>`)).toStartWith("452 4.7.28")
      expect(await client.send(`RCPT TO:<${gone.address}>`)).toStartWith("450 4.2.1")
      expect(await client.send(`RCPT TO:<${open.address}>`)).toStartWith("250")
      expect(await client.data(`From: ${sender}\r\n\r\nx`)).toStartWith("250")
      client.close()
      expect(await suite.runsOf(bob, open.id, 1)).toHaveLength(1)
      expect(await suite.runsOf(ada, full.id, 1)).toHaveLength(1)
    })
  },
  { HAMLET_MAIL_PER_ACCOUNT: "1" },
)
