import { expect, test } from "bun:test"
import { LoopDelay } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { describeMail, mailDomain } from "./support/mail-suite.ts"
import { SmtpClient } from "./support/smtp-client.ts"

const sender = "eve@sender.example.com"
const head = `From: ${sender}\r\n`
const secondsOfLoopMax = 5

describeMail(
  "hostile mail clients",
  (suite) => {
    const open = async () => {
      const owner = await suite.addUser()
      const val = await suite.addVal(owner)
      return { owner, val, client: await SmtpClient.open(suite.port) }
    }

    for (const [title, end] of [
      ["LF . LF", "\n.\n"],
      ["LF . CR LF", "\n.\r\n"],
      ["CR LF . LF", "\r\n.\n"],
      ["CR LF . CR", "\r\n.\r"],
      ["CR . CR", "\r.\r"],
      ["CR LF NUL . CR LF", "\r\n\0.\r\n"],
    ] as const)
      test(`cannot smuggle a second message behind ${title}`, async () => {
        const { client, val } = await open()
        await client.begin(sender, val.address)
        const smuggled = `MAIL FROM:<ada@example.com>\r\nRCPT TO:<${val.address}>\r\nDATA\r\nFrom: ada@example.com\r\n\r\nsmuggled`
        expect(await client.data(`${head}\r\nfirst${end}${smuggled}`)).toStartWith("554 5.6.0")
        // There is no second reply.
        expect(await client.send("NOOP")).toStartWith("250")
        client.close()
      })

    test("get dots at the start of lines back as they were", async () => {
      const { client, val, owner } = await open()
      await client.begin(sender, val.address)
      await client.send("DATA")
      for (const part of [`${head}\r\n..a\r\n`, ".", ".\r\n..", ".b\r\n", ".\r\n"])
        client.write(part)
      expect(await client.reply()).toStartWith("250")
      const [run] = await suite.runsOf(owner, val.id, 1)
      expect(run.returnValue.text.trimEnd().split(/\r?\n/)).toEqual([".a", ".", "..b"])
      client.close()
    })

    test("may send all commands at once", async () => {
      const { client, val, owner } = await open()
      const message = (text: string) =>
        `MAIL FROM:<${sender}>\r\nRCPT TO:<${val.address}>\r\nDATA\r\n${head}\r\n${text}\r\n.\r\n`
      client.write(`EHLO c.example.com\r\n${message("1")}${message("2")}${message("3")}QUIT\r\n`)
      const codes: string[] = []
      while (!codes.includes("221")) codes.push((await client.reply()).slice(0, 3))
      expect(codes.join(" ")).toBe("250 250 250 354 250 250 250 354 250 250 250 354 250 221")
      expect(await suite.runsOf(owner, val.id, 3)).toHaveLength(3)
      client.close()
    })

    test("do not find CHUNKING, BINARYMIME, AUTH, or STARTTLS without a certificate", async () => {
      const { client } = await open()
      const reply = await client.send("EHLO client.example.com")
      expect(reply).toContain("PIPELINING")
      expect(reply).toContain("8BITMIME")
      expect(reply).toContain("SMTPUTF8")
      expect(reply).not.toMatch(/CHUNKING|BINARYMIME|AUTH|STARTTLS|XCLIENT|VRFY/)
      for (const command of [
        "BDAT 10 LAST",
        "AUTH PLAIN AGEAYg==",
        "STARTTLS",
        "XCLIENT ADDR=1.1.1.1",
      ])
        expect(await client.send(command)).toMatch(/^5\d\d/)
      client.close()
    })

    test("are disconnected after too many refusals and long commands", async () => {
      const { client } = await open()
      await client.begin(sender)
      let last = ""
      for (let count = 0; count < 20; count++) last = await client.send("RCPT TO:<x@example.org>")
      expect(last).toStartWith("421 4.7.0")
      await waitUntil(() => client.isClosed)
      const long = await SmtpClient.open(suite.port)
      long.write(`EHLO ${"x".repeat(5_000)}`)
      await waitUntil(() => long.isClosed)
    })

    test("are disconnected when they talk before the greeting", async () => {
      for (let reply = ""; !reply.startsWith("421"); ) {
        const early = await SmtpClient.connect(suite.port)
        early.write("EHLO c.example.com\r\n")
        reply = await early.reply()
        // The greeting comes after a tenth of a second, which a busy machine may have let pass.
        if (reply.startsWith("220")) early.close()
        await waitUntil(() => early.isClosed)
      }
    })

    test("get at most ten connections from one address, and others still work", async () => {
      await suite.untilAlone()
      const clients = await Promise.all(
        Array.from({ length: 13 }, () => SmtpClient.connect(suite.port)),
      )
      const greetings = await Promise.all(clients.map((client) => client.reply()))
      expect(greetings.filter((reply) => reply.startsWith("220"))).toHaveLength(10)
      expect(greetings.filter((reply) => reply.startsWith("421"))).toHaveLength(3)
      for (const client of clients) client.close()
      await suite.untilAlone()
      const { client } = await open()
      client.close()
    })

    test("cannot fill the memory with recipients", async () => {
      const { client, val } = await open()
      await client.begin(sender, val.address)
      const replies: string[] = []
      for (let count = 0; count < 30; count++)
        replies.push(await client.send(`RCPT TO:<${val.address.replace("@", `+${count}@`)}>`))
      expect(replies.filter((reply) => reply.startsWith("250"))).toHaveLength(19)
      expect(replies.filter((reply) => reply.startsWith("452"))).toHaveLength(11)
      client.close()
    })

    test("leave nothing behind when they break off in the middle of a message", async () => {
      const { client, val, owner } = await open()
      await client.begin(sender, val.address)
      await client.send("DATA")
      client.write(`${head}\r\nhalf`)
      client.close()
      await suite.untilAlone()
      const again = await SmtpClient.open(suite.port)
      await again.begin(sender, val.address)
      expect(await again.data(`${head}\r\nwhole`)).toStartWith("250")
      expect(await suite.runsOf(owner, val.id, 1)).toHaveLength(1)
      again.close()
    })

    test("cannot put headers into replies or arguments", async () => {
      const { client, val, owner } = await open()
      await client.begin(sender, val.address)
      const message = `${head}Subject: =?utf-8?Q?x=0D=0A.=0D=0AMAIL_FROM:<a@b>?=\r\nX-A: 1\r\n\tX-B: 2\r\n\r\nx`
      expect(await client.data(message)).toStartWith("250")
      const [run] = await suite.runsOf(owner, val.id, 1)
      expect(Object.keys(run.returnValue.headers).sort()).toEqual(["from", "subject", "x-a"])
      // A CR alone separates no commands.
      client.write(`MAIL FROM:<a@b.example>\rRCPT TO:<${val.address}>\r\nDATA\r\n`)
      await client.reply()
      expect(await client.reply()).toStartWith("503")
      expect(await client.send("RCPT TO:<ada.x@vals.example.com>\0")).toMatch(/^5\d\d/)
      client.close()
    })

    test("cannot keep the server from responding while it reads the worst messages", async () => {
      const { val, client } = await open()
      client.close()
      await suite.untilAlone()
      const nested = Array.from(
        { length: 31 },
        (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
      )
      const worst = [
        `${head}Subject: ${"=?utf-8?Q?a?= ".repeat(15_000)}\r\n\r\nx`,
        `${head}To: ${'"(<a@b.example>,'.repeat(10_000)}\r\n\r\nx`,
        `${head}${nested.join("")}\r\nx`,
        `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\n".repeat(1_000)}`,
        `${head}Content-Type: text/html\r\n\r\n${"<a><b>&amp;".repeat(90_000)}`,
        `${head}Content-Transfer-Encoding: quoted-printable\r\n\r\n${"=\r\n".repeat(300_000)}`,
        `${head}DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x.example; s=s; h=${"from:".repeat(30_000)}; bh=x; b=x\r\n\r\nx`,
        `${head}References: ${"<a@b.example> ".repeat(15_000)}\r\n\r\nx`,
      ]
      const loopDelay = new LoopDelay()
      const replies = await Promise.all(
        worst.map(async (message) => {
          const client = await SmtpClient.open(suite.port)
          await client.begin(sender, val.address)
          const reply = await client.data(message)
          client.close()
          return reply.slice(0, 3)
        }),
      )
      loopDelay.stop()
      expect(replies.filter((code) => code !== "250" && code !== "554")).toEqual([])
      // Not a measurement: a message that is read on the main thread would use it for seconds.
      expect(loopDelay.report().work.maxSeconds).toBeLessThan(secondsOfLoopMax)
    }, 180_000)
  },
  { HAMLET_MAIL_PER_ADDRESS: "none", HAMLET_MAIL_DOMAIN: mailDomain },
)
