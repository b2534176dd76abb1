import { expect, setDefaultTimeout, test } from "bun:test"
import { once } from "node:events"
import { existsSync, readdirSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase, describeSqlite } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

// A busy machine is slow with servers that start, and with hundreds of writes.
setDefaultTimeout(240_000)

describeEachDatabase("hamlet serve, told to stop by SIGTERM,", (open) => {
  test("finishes the request and the run in flight, closes everything and exits with 0", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet, baseUrl } = await fixture.serve()
    await beginRun(baseUrl)
    const idle = await openIdle(baseUrl)
    const slow = await beginPost(baseUrl, { name: "slow", code: "1" })

    hamlet.signal("SIGTERM")
    // New connections are refused and idle ones closed, while the server still waits for the
    // request.
    await Promise.all([refused(baseUrl), idle.closed])
    const response = await slow.finish()

    expect(response).toStartWith("HTTP/1.1 200 OK")
    expect(await hamlet.ended()).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('"route":"createVal","status":200'),
    })
    // One file of SQLite, which can be copied.
    expect(existsSync(fixture.dataDir) && readdirSync(fixture.dataDir).sort()).toEqual(
      fixture.url === undefined ? ["hamlet.db", "secret.key"] : ["secret.key"],
    )
    // No process that it started has the port either.
    await refused(baseUrl)
    const db = await fixture.connect()
    expect(await db.read(sql`select name from vals order by id`)).toEqual([
      { name: "run" },
      { name: "slow" },
    ])
    expect(await db.read(sql`select status, return_value from runs`)).toEqual([
      { status: "succeeded", returnValue: "7" },
    ])
    await db.stop()
  })
})

describeSqlite("hamlet serve, told to stop by SIGTERM,", (open) => {
  test("tells balancers first, for HAMLET_DRAIN_SECONDS, and serves meanwhile", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet, baseUrl } = await fixture.serve({ HAMLET_DRAIN_SECONDS: "3600" })
    const client = createClient({ baseUrl, token: chosenToken })
    expect((await client.getReadiness()).status).toBe("ok")
    hamlet.signal("SIGTERM")
    const readiness = await waitUntil(async () => {
      const response = await fetch(`${baseUrl}/readyz`)
      return response.status === 503 && ((await response.json()) as { code: string })
    })
    expect(readiness.code).toBe("overloaded")
    expect((await client.createVal({ name: "late", code: "1" })).name).toBe("late")
    expect(await client.evalCode({ code: "6 * 7" })).toBe(42)
    // A later Ctrl-C does not wait.
    const impatient = setInterval(() => hamlet.signal("SIGINT"), 100)
    expect((await hamlet.ended()).exitCode).toBe(130)
    clearInterval(impatient)
  })

  test("stops by itself when the time for balancers is over, and logs its start and its end", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet } = await fixture.serve({ HAMLET_DRAIN_SECONDS: "1" })
    hamlet.signal("SIGTERM")
    const { exitCode, stderr } = await hamlet.ended()
    expect(exitCode).toBe(0)
    const events = stderr.split("\n").flatMap((line) => /"event":"(\w+)"/.exec(line)?.[1] ?? [])
    expect(events[0]).toBe("started")
    expect(events.filter((event) => event.startsWith("stop"))).toEqual(["stopping", "stopped"])
    expect(stderr).toContain('"drainSeconds":1')
  })
})

test("hamlet serve treats two signals at once as one, and stops waiting after a later one", async () => {
  await using fixture = await openServerFixture()
  const { hamlet, baseUrl } = await fixture.serve()
  const slow = await beginPost(baseUrl, { name: "never", code: "1" })
  hamlet.signal("SIGTERM")
  hamlet.signal("SIGINT")
  await refused(baseUrl)
  const impatient = setInterval(() => hamlet.signal("SIGINT"), 100)
  expect((await hamlet.ended()).exitCode).toBe(130)
  clearInterval(impatient)
  slow.socket.destroy()
})

/** Begins with a respond-async run that takes seconds. */
async function beginRun(baseUrl: string): Promise<void> {
  const client = createClient({ baseUrl, token: chosenToken })
  const code =
    'export default async () => { console.log("begun"); await new Promise((end) => setTimeout(end, 2_000)); return 7 }'
  const { id: val_id } = await client.createVal({ name: "run", code })
  const { id } = await client.createRun({ val_id }, { respondAsync: true })
  await waitUntil(async () => (await client.getRunLogs({ run_id: id })).data.length !== 0)
}

/** A connection that has had its answer and is kept open. */
async function openIdle(baseUrl: string): Promise<{ readonly closed: Promise<unknown> }> {
  const socket = await open(baseUrl)
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
  await once(socket, "data")
  return { closed: once(socket, "close") }
}

/** A request whose body has arrived in part. */
async function beginPost(
  baseUrl: string,
  value: object,
): Promise<{ readonly socket: Socket; finish(): Promise<string> }> {
  const body = JSON.stringify(value)
  const socket = await open(baseUrl)
  socket.write(
    `POST /v1/vals HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${chosenToken}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  // The server reads its connections in turn: when it has answered two later requests, it has begun
  // with this one.
  for (let turn = 0; turn < 2; turn++) await fetch(`${baseUrl}/healthz`)
  return {
    socket,
    async finish() {
      socket.write(body.slice(5))
      const [response = "the connection was closed"] = await Promise.race([
        once(socket, "data"),
        once(socket, "close").then(() => []),
      ])
      return String(response)
    },
  }
}

async function open(baseUrl: string): Promise<Socket> {
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1")
  await once(socket, "connect")
  return socket
}

/** Waits until the port is closed. */
async function refused(baseUrl: string): Promise<void> {
  await waitUntil(async () => {
    try {
      ;(await open(baseUrl)).destroy()
      return false
    } catch {
      return true
    }
  })
}
