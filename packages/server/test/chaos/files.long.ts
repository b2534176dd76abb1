import { test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { SQL } from "bun"
import { explained, NoResponse, Writer } from "../files-model/writer.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { createRandom, testSeed } from "../support/random.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

/*
 * `npm run long-test -- files`: random saves, moves, deletions, branches and deleted versions of several
 * writers, compared with a model, while the server is killed again and again. What was acknowledged
 * is there afterwards, and what was not is there as a whole or not at all.
 */

const steps = Number(process.env.HAMLET_CHAOS_STEPS ?? 300)
const kills = Number(process.env.HAMLET_CHAOS_KILLS ?? 3)
const stepsPerVal = 50
const writers = 4
/** A save takes a few milliseconds: the kill comes at any point of it. */
const killMsMax = 8

describeEachDatabase(`files of a server that is killed HAMLET_TEST_SEED=${testSeed}`, (open) => {
  test(`are as the model says after ${steps} steps and ${kills} kills`, async () => {
    await using fixture = await openServerFixture(open)
    const random = createRandom(testSeed)
    let words = 0
    const chance = { random, word: () => `zq${++words}zq` }
    const all = Array.from(
      { length: writers },
      (_, index) => new Writer(`w${index}x`, "ada", chance, stepsPerVal),
    )
    let done = 0
    for (let round = 1; round <= kills + 1; round += 1) {
      await using server = await serve(fixture)
      for (const writer of all)
        await explained(writer, async () => {
          await writer.settle(server.call)
          await writer.compare(server.call, (version, newest) => {
            return version === newest || random() < 0.2
          })
          await writer.compareFinished(server.call, round > kills ? undefined : random)
        })
      if (round > kills) break
      const goal = (steps * round) / kills
      await Promise.all([
        ...all.map((writer) => write(writer, server.call, () => (done += 1))),
        waitUntil(() => done >= goal, { msMax: 600_000 }).then(async () => {
          await Bun.sleep(random() * killMsMax)
          await server.kill()
        }),
      ])
    }
    for (const { unanswered } of all) console.info(unanswered)
  })
})

/** Makes steps until the server does not respond. */
async function write(writer: Writer, call: Server["call"], countStep: () => void): Promise<void> {
  try {
    for (;;) {
      await explained(writer, () => writer.step(call))
      countStep()
    }
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
  }
}

type Server = Awaited<ReturnType<typeof serve>>

async function serve(fixture: ServerFixture) {
  const others = await listConnections(fixture.url)
  const { hamlet, baseUrl } = await fixture.serve()
  const kill = async () => {
    hamlet.signal("SIGKILL")
    await hamlet.ended()
    // PostgreSQL goes on with what it was sent, and may commit it.
    await waitUntil(async () =>
      (await listConnections(fixture.url)).every((pid) => others.includes(pid)),
    )
  }
  return {
    kill,
    [Symbol.asyncDispose]: kill,
    async call(method: string, path: string, body?: unknown) {
      const headers = {
        authorization: `Bearer ${chosenToken}`,
        "content-type": "application/json",
        // Modules are texts for Deno, and JavaScript for other clients.
        "user-agent": "Deno/2",
      }
      const request =
        body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
      try {
        const response = await fetch(`${baseUrl}${path}`, request)
        const text = await response.text()
        const isJson = response.headers.get("content-type")?.includes("json") && text !== ""
        return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined }
      } catch (error) {
        throw new NoResponse(String(error))
      }
    },
  }
}

/** The processes of PostgreSQL that serve connections to the database. */
async function listConnections(url: string | undefined): Promise<readonly number[]> {
  if (url === undefined) return []
  const outsider = new SQL(url, { max: 1 })
  try {
    const found = await outsider<{ pid: number }[]>`select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
    return found.map(({ pid }) => pid)
  } finally {
    await outsider.close()
  }
}
