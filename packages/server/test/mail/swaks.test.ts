import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Authority, createAuthority, notRun } from "@hamlet/kit/testing"
import { describeMail, type MailSuite, mailDomain } from "./support/mail-suite.ts"
import { SmtpClient } from "./support/smtp-client.ts"

const title = "mail from swaks"
const certificateName = `mail.${mailDomain}`
const folder = mkdtempSync(join(tmpdir(), "hamlet-swaks-"))
let authority: Authority | undefined

const hasTls = Bun.which("perl") && Bun.spawnSync(["perl", "-MNet::SSLeay", "-e", "1"]).success
if (Bun.which("swaks") && hasTls && Bun.which("openssl")) {
  authority = createAuthority()
  const { cert, key } = authority.issue(certificateName)
  writeFileSync(join(folder, "cert.pem"), cert)
  writeFileSync(join(folder, "key.pem"), key)
  describeMail(title, define, {
    HAMLET_SMTP_TLS_CERT: join(folder, "cert.pem"),
    HAMLET_SMTP_TLS_KEY: join(folder, "key.pem"),
    HAMLET_SMTP_NAME: certificateName,
    HAMLET_MAIL_MB_MAX: "25",
  })
} else notRun(title, "swaks, Net::SSLeay of Perl or openssl is not installed")

afterAll(() => {
  authority?.[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

function define(suite: MailSuite): void {
  let files: string
  beforeAll(() => {
    files = mkdtempSync(join(folder, "files-"))
  })
  const swaks = async (...args: string[]) => {
    const child = Bun.spawn(
      [
        "swaks",
        "--server",
        `127.0.0.1:${suite.port}`,
        "--helo",
        "client.example.com",
        "--suppress-data",
        ...args,
      ],
      { stdout: "pipe", stderr: "pipe", cwd: files },
    )
    const output =
      (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
    return { code: await child.exited, output }
  }
  const write = (name: string, content: string | Uint8Array) => {
    const path = join(files, name)
    writeFileSync(path, content)
    return path
  }
  const open = async () => {
    const owner = await suite.addUser()
    const val = await suite.addVal(owner)
    return { owner, val, base: ["--from", "eve@sender.example.com", "--to", val.address] }
  }

  test("comes with STARTTLS and the certificate of the operator", async () => {
    const { owner, val, base } = await open()
    const { output } = await swaks(
      ...base,
      "--tls",
      "--tls-verify",
      "--tls-ca-path",
      authority?.path ?? "",
      "--body",
      "secret",
    )
    expect(output).toContain("250 2.6.0")
    const [run] = await suite.runsOf(owner, val.id, 1)
    expect(run.returnValue.text).toContain("secret")
  })

  test("comes with 50 attachments", async () => {
    const { owner, val, base } = await open()
    const attach = Array.from({ length: 50 }, (_, index) => [
      "--attach-name",
      `file ${index}.txt`,
      "--attach",
      `@${write(`file${index}`, `content ${index}`)}`,
    ]).flat()
    const { output } = await swaks(...base, "--body", "many", ...attach)
    expect(output).toContain("250 2.6.0")
    const [run] = await suite.runsOf(owner, val.id, 1)
    expect(run.returnValue.attachments).toHaveLength(50)
    expect(run.returnValue.attachments[49][2]).toBe("content 49")
    expect(run.email.attachments).toBe(50)
  })

  test("comes with some megabytes in one file", async () => {
    const owner = await suite.addUser()
    const code =
      "export default async (email) => (await email.attachments[0].arrayBuffer()).byteLength"
    const val = await suite.addVal(owner, { code })
    const path = write("large.bin", new Uint8Array(3_000_000).fill(7))
    const sent = await swaks(
      "--from",
      "eve@sender.example.com",
      "--to",
      val.address,
      "--attach",
      `@${path}`,
    )
    expect(sent.output).toContain("250 2.6.0")
    const [run] = await suite.runsOf(owner, val.id, 1)
    expect(run.returnValue).toBe(3_000_000)
  }, 180_000)

  test("comes with 8-bit text, and over a pipeline", async () => {
    const { owner, val, base } = await open()
    const data = write(
      "8bit.eml",
      `From: eve@sender.example.com\nSubject: 8-bit\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nZoë €\n`,
    )
    const { output } = await swaks(...base, "--pipeline", "--data", `@${data}`)
    expect(output).toContain("250 2.6.0")
    const [run] = await suite.runsOf(owner, val.id, 1)
    expect(run.returnValue.text).toContain("Zoë €")
  })

  test("with an address in UTF-8 is accepted with SMTPUTF8", async () => {
    const { owner, val } = await open()
    const client = await SmtpClient.open(suite.port)
    const utf8 = (text: string) => Buffer.from(text).toString("latin1")
    await client.send("EHLO client.example.com")
    expect(
      await client.send(utf8("MAIL FROM:<zoë@sender.example.com> SMTPUTF8 BODY=8BITMIME")),
    ).toStartWith("250")
    expect(await client.send(`RCPT TO:<${val.address}>`)).toStartWith("250")
    expect(
      await client.data(utf8("From: Zoë <zoë@sender.example.com>\r\nSubject: Größe\r\n\r\n€")),
    ).toStartWith("250")
    client.close()
    const [run] = await suite.runsOf(owner, val.id, 1)
    expect(run.returnValue).toMatchObject({
      from: "Zoë <zoë@sender.example.com>",
      envelopeFrom: "zoë@sender.example.com",
      subject: "Größe",
    })
  })

  test("to an unknown address, or to another domain, is refused with 550", async () => {
    const from = ["--from", "eve@sender.example.com", "--body", "x"]
    const unknown = await swaks(...from, "--to", `no.body@${mailDomain}`)
    expect(unknown.output).toContain("550 5.1.1")
    const other = await swaks(...from, "--to", "victim@example.org")
    expect(other.output).toContain("550 5.7.1")
    expect([unknown.code, other.code]).toEqual([26, 24])
  })

  describe("STARTTLS", () => {
    test("drops commands that were sent before the handshake", async () => {
      const { val } = await open()
      const client = await SmtpClient.open(suite.port)
      await client.send("EHLO client.example.com")
      client.write(`STARTTLS\r\nMAIL FROM:<eve@sender.example.com>\r\nRCPT TO:<${val.address}>\r\n`)
      expect(await client.reply()).toStartWith("220")
      // Neither command behind STARTTLS gets a reply in plain text.
      expect(
        await Promise.race([
          client.reply().catch(() => "closed"),
          Bun.sleep(300).then(() => "silent"),
        ]),
      ).toMatch(/^(closed|silent)$/)
      client.close()
    })
  })
}
