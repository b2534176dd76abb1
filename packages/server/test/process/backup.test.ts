import { expect, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { createBackupChecker } from "@hamlet/contract/backup"
import { waitUntil } from "@hamlet/kit/testing"
import { describeSqlite } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const headers = { authorization: `Bearer ${chosenToken}` }
/** More than fits into what lies between a server and a client. */
const blobBytes = 32 * 1024 ** 2

describeSqlite("GET /v1/backup over a socket", (open) => {
  test("allows one backup at a time, and the next one at once when the client disconnects", async () => {
    await using fixture = await openServerFixture(open)
    const { baseUrl } = await fixture.serve()
    const content = crypto.getRandomValues(Buffer.alloc(65_536))
    const body = Buffer.alloc(blobBytes)
    // Nothing that could be made smaller.
    for (let at = 0; at < blobBytes; at += content.length)
      crypto.getRandomValues(body.subarray(at, at + content.length))
    expect(
      (await fetch(`${baseUrl}/v1/blob/large`, { method: "POST", headers, body })).status,
    ).toBe(201)

    const idler = await takeNothing(new URL(baseUrl))
    const refused = await fetch(`${baseUrl}/v1/backup`, { headers })
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      409,
      "backup_running",
    ])
    expect(
      (await fetch(`${baseUrl}/v1/backup`, { method: "HEAD", headers })).headers.get(
        "content-disposition",
      ),
    ).toMatch(/^attachment; filename="hamlet-\d{8}-\d{6}\.backup"$/)
    idler.destroy()

    const response = await untilFree(() => fetch(`${baseUrl}/v1/backup`, { headers }))
    const checker = createBackupChecker()
    checker.add(await response.bytes())
    const { trailer, bytes } = checker.end()
    expect(bytes).toBeGreaterThan(blobBytes)
    expect(trailer.sections.find(({ name }) => name === "objects")?.items).toBe(blobBytes / 4096)
  }, 180_000)
})

/** A client that asks for a backup, sees it begin and then reads no further. */
async function takeNothing({ hostname, port }: URL): Promise<Socket> {
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET /v1/backup HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\n\r\n`,
  )
  await new Promise((resolve) => socket.once("data", resolve))
  socket.pause()
  return socket
}

/** Retries until no other backup runs. */
async function untilFree(ask: () => Promise<Response>): Promise<Response> {
  return waitUntil(async () => {
    const response = await ask()
    if (response.status !== 409) return response
    await response.body?.cancel()
    return undefined
  })
}
