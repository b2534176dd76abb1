import { afterEach, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { SmtpClient } from "../../../test/mail/support/smtp-client.ts"
import type { MailVal } from "../../domain/mail/inbound/mail-rules.ts"
import { MailServer, type MailServerOptions, type MailServerParts } from "./mail-server.ts"
import { smtpLimits } from "./smtp-limits.ts"

const to = "ada.inbox@vals.example.com"
const val: MailVal = {
  file: { id: "v", branchId: "v" },
  id: "v",
  ownerId: "u",
  privacy: "public",
  isOwnerSuspended: false,
  ownerAddress: null,
}
let server: MailServer

/** A server that knows one val, and whose messages are never read. */
async function open(
  times: MailServerOptions["times"],
  found: MailVal | undefined = val,
): Promise<{ readonly client: SmtpClient; readonly codes: number[] }> {
  const { codes, port } = await listen(times, found)
  return { client: await SmtpClient.connect(port), codes }
}

async function listen(
  times?: MailServerOptions["times"],
  found: MailVal | undefined = val,
): Promise<{ readonly port: number; readonly codes: number[] }> {
  const codes: number[] = []
  const parts = {
    mailbox: { findVal: async () => found, async assertRoom() {} },
    mailReader: { read: () => Promise.reject(new Error("no message was to be read")) },
    logMail: ({ code }: { code: number }) => void codes.push(code),
    onError() {},
    now: Date.now,
  } as unknown as MailServerParts
  server = new MailServer(parts, {
    host: "127.0.0.1",
    port: 0,
    domain: "vals.example.com",
    name: "vals.example.com",
    messageBytesMax: 1_000_000,
    perAddressPerMinute: undefined,
    certificate: undefined,
    ...(times && { times }),
  })
  return { port: await server.listen(), codes }
}

afterEach(() => server.stop())

/** The last reply before the connection ended. */
async function lastReply(client: SmtpClient, onReply = () => {}): Promise<string> {
  let last = ""
  for (;;) {
    const next = await client.reply().catch(() => undefined)
    if (next === undefined) return last
    last = next
    onReply()
  }
}

describe("MailServer", () => {
  test("disconnects a client that says nothing", async () => {
    const { client } = await open({ ...smtpLimits, idleMsMax: 200 })
    expect(await lastReply(client)).toStartWith("421")
  })

  test("disconnects a client that sends its message too slowly, however busy it is", async () => {
    const { client, codes } = await open({ ...smtpLimits, messageMsMax: 2_000 })
    await client.expect("220")
    await client.begin("eve@sender.example.com", to)
    await client.send("DATA")
    const dripping = setInterval(() => client.write("x\r\n"), 20)
    expect(await lastReply(client)).toBe("421 4.4.2 Too slow")
    clearInterval(dripping)
    expect(codes).not.toContain(250)
  })

  test("disconnects a client that stays too long, whatever it does", async () => {
    const { client } = await open({ ...smtpLimits, connectionMsMax: 400 })
    const talk = () => client.write("NOOP\r\n")
    expect(await lastReply(client, talk)).toBe("421 4.4.2 Too slow")
  })

  test("disconnects a client that tries too many recipients that need a message each", async () => {
    const { client } = await open(undefined, { ...val, privacy: "private" })
    await client.expect("220")
    await client.begin("eve@sender.example.com", to)
    let count = 0
    for (let reply = ""; !reply.startsWith("421"); count += 1) {
      reply = await client.send(`RCPT TO:<ada.val${count}@vals.example.com>`)
      expect(reply).toMatch(/^(452 4\.5\.3|421 4\.7\.0)/)
    }
    expect(count).toBe(smtpLimits.postponementsPerConnectionMax)
  })

  // Only Linux has many addresses of its own.
  test.skipIf(process.platform !== "linux")(
    "closes idle connections of the addresses with most of them for a client that is new",
    async () => {
      const { port } = await listen()
      const { connectionsMax, connectionsPerAddressMax } = smtpLimits
      const receiving = await SmtpClient.connect(port, "127.0.1.1")
      await receiving.expect("220")
      await receiving.begin("eve@sender.example.com", to)
      await receiving.send("DATA")
      const openMany = (address: string, count: number) =>
        Promise.all(
          Array.from({ length: count }, async () => {
            const client = await SmtpClient.connect(port, address)
            await client.expect("220")
            return client
          }),
        )
      const idle: SmtpClient[] = []
      for (let address = 1; idle.length < connectionsMax; address++)
        idle.push(...(await openMany(`127.0.2.${address}`, connectionsPerAddressMax)))
      const countClosed = () => idle.filter((client) => client.isClosed).length
      await waitUntil(() => countClosed() === 1)
      // The new address gets as many connections as the others have then.
      await openMany("127.0.3.1", connectionsPerAddressMax - 1)
      await waitUntil(() => countClosed() === connectionsPerAddressMax)
      expect(server.stats.connections).toBe(connectionsMax)
      expect(receiving.isClosed).toBe(false)
    },
    30_000,
  )
})
