import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAuthority } from "@hamlet/kit/testing"
import { decode, encode, type Packet } from "dns-packet"
import { loadConfig } from "../../config/config.ts"
import { checkMail } from "./check-mail.ts"

/** A name server that has an MX record for one domain. */
let names: Bun.udp.Socket<"buffer">
let busy: Server
const folder = mkdtempSync(join(tmpdir(), "hamlet-check-mail-"))

beforeAll(async () => {
  names = await Bun.udpSocket({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes, port, address) {
        const { id = 0, questions = [] } = decode(bytes)
        const [question] = questions
        const answers: Packet["answers"] =
          question?.type === "MX" && question.name === "vals.example.com"
            ? [
                {
                  type: "MX",
                  name: question.name,
                  ttl: 1,
                  data: { preference: 10, exchange: "mail.example.com" },
                },
              ]
            : []
        socket.send(encode({ type: "response", id, questions, answers }), port, address)
      },
    },
  })
  busy = createServer()
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  names.close()
  await new Promise((resolve) => busy.close(resolve))
  rmSync(folder, { recursive: true })
})

const find = async (env: Record<string, string>) => {
  const settings = {
    HAMLET_MAIL_DOMAIN: "vals.example.com",
    HAMLET_SMTP_PORT: "0",
    HAMLET_SMTP_HOST: "127.0.0.1",
    HAMLET_MAIL_DNS: `127.0.0.1:${names.port}`,
  }
  const findings = await checkMail(loadConfig({ ...settings, ...env }, []))
  return findings.map(({ status, found }) => `${status}: ${found}`)
}

describe("checkMail", () => {
  test("finds the port, the certificate and the MX record of a server that receives mail", async () => {
    using authority = createAuthority()
    const { cert, key } = authority.issue("mail.example.com")
    const paths = [join(folder, "cert.pem"), join(folder, "key.pem")] as const
    writeFileSync(paths[0], cert)
    writeFileSync(paths[1], key)
    expect(
      await find({
        HAMLET_SMTP_PORT: String((busy.address() as { port: number }).port),
        HAMLET_SMTP_TLS_CERT: paths[0],
        HAMLET_SMTP_TLS_KEY: paths[1],
      }),
    ).toEqual([
      expect.stringMatching(/^ok: a program listens on 127\.0\.0\.1 port \d+/),
      expect.stringMatching(/^(ok|warning): the certificate is valid/),
      "ok: the MX record of vals.example.com names mail.example.com",
    ])
  })

  test("warns of mail without encryption and of a domain without a record", async () => {
    expect(await find({ HAMLET_MAIL_DOMAIN: "other.example.com" })).toEqual([
      "ok: any port that is free",
      "warning: mail is received unencrypted",
      "warning: other.example.com has no MX record",
    ])
  })

  test("says that a server receives no mail", async () => {
    const findings = await checkMail(loadConfig({}, []))
    expect(findings).toMatchObject([{ status: "ok", found: "the server receives none" }])
  })
})
