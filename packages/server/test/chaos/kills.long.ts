import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { AttackServer } from "../attacks/support/attack-server.ts"
import { isRunning } from "../attacks/support/processes.ts"
import { listSandboxes } from "../attacks/support/sandboxes.ts"
import { createRandom, testSeed } from "../support/random.ts"
import { Load, toEchoCode } from "./load.ts"

/** A whole run of `npm run long-test -- kills` has more of it. */
const guestKills = Number(process.env.HAMLET_CHAOS_GUESTS ?? 12)
const serverKills = Number(process.env.HAMLET_CHAOS_SERVERS ?? 3)
const seed = testSeed
const valCount = 5
/** Answers between two kills of a guest, and before each kill of the server. */
const answersBetween = 20
const answersBefore = 60
const startMsMax = 180_000
const msMax = startMsMax + guestKills * 2_000 + serverKills * 10_000

if (Bun.which("bwrap"))
  test(
    `${guestKills} guests and ${serverKills} servers are killed under load (HAMLET_TEST_SEED=${seed}): no wrong answer, no stuck run, nothing left over`,
    async () => {
      const server = await AttackServer.open({ HAMLET_RUN_SECONDS_MAX: "20" })
      try {
        const random = createRandom(seed)
        const vals = await Promise.all(
          Array.from({ length: valCount }, (_, index) =>
            server.save(index % 2 ? server.ada : server.mallory, {
              name: `talker${index}`,
              code: toEchoCode(`talker${index}`),
            }),
          ),
        )
        const load = new Load(server, vals, random)
        try {
          await load.more(answersBetween)
          for (let kill = 0; kill < guestKills; kill++) await killGuest(server, load, random)
          expect(load.tally.wrong).toEqual([])
          for (let kill = 0; kill < serverKills; kill++) await killServer(server, load)
        } finally {
          await load.stop()
        }
        const { good, broken, wrong } = load.tally
        expect(wrong).toEqual([])
        // Otherwise nothing was tested.
        expect(good).toBeGreaterThan(broken)
        expect(load.acknowledged.size).toBeGreaterThan(0)
        await server.expectHealthy()
        // A run is recorded after its response.
        await waitUntil(async () => (await countOpenRuns(server)) === 0)
        const { left, exitCode, stderr } = await server.stopGracefully()
        expect([left, exitCode, stderr]).toEqual([[], 0, ""])
      } finally {
        await server.stop()
      }
    },
    msMax,
  )
else notRun("chaos", "bubblewrap is not installed")

/** Kills any process of any sandbox, whether it serves, starts or waits; the vals go on. */
async function killGuest(server: AttackServer, load: Load, random: () => number): Promise<void> {
  const sandboxes = listSandboxes(server.hamlet.pid)
  const chosen = sandboxes[Math.floor(random() * sandboxes.length)]
  // Now and then the process around it: what is inside must not survive that.
  const pid = random() < 0.3 ? chosen?.guest.parent : chosen?.guest.pid
  if (pid !== undefined && pid !== server.hamlet.pid) kill(pid)
  const { good } = load.tally
  await load.more(answersBetween)
  await waitUntil(() => load.tally.good > good)
}

/** Kills the server while everything goes on, and starts it again at the same port. */
async function killServer(server: AttackServer, load: Load): Promise<void> {
  await load.more(answersBefore)
  const before = server.resources.record(server.hamlet.pid)
  expect(before.length).toBeGreaterThan(0)
  server.hamlet.signal("SIGKILL")
  // Clients that went on would only be refused, more often the longer a server takes to start.
  await Promise.all([server.hamlet.ended(), load.pause()])
  await server.start()
  // What was under way has ended with the server, in the records as in truth.
  await waitUntil(async () => (await countOpenRuns(server)) === 0)
  await waitUntil(() => before.filter(isRunning).length === 0)
  for (const [id, value] of [...load.acknowledged].slice(-20)) {
    const owner =
      value.startsWith("talker1") || value.startsWith("talker3") ? server.ada : server.mallory
    const { json } = await server.call("GET", `/v1/runs/${id}`, { as: owner })
    expect(`${json.status} ${json.returnValue}`).toBe(`succeeded ${value}`)
  }
  load.resume()
}

/** Runs that are said to be under way. */
async function countOpenRuns(server: AttackServer): Promise<number> {
  const db = await server.connect()
  try {
    const rows = await db.read<{ status: string }>(
      sql`select status from runs where status in ('queued', 'running')`,
    )
    return rows.length
  } finally {
    await db.stop()
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process has just ended by itself.
  }
}
