import { expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { createClient } from "@hamlet/contract/client"
import { createValStore } from "../../src/storage/vals/vals.ts"
import { type SlowRequest, slowBodies, slowRoutes, slowVals } from "../freeze/attacks.ts"
import { measureSlowness, readPauses } from "../freeze/loop-meter.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

/**
 * How long a request may block the event loop, and the factor that compilation and garbage
 * collection may add.
 */
const pauseSecondsMax = 0.05
const tolerance = 2
const attempts = 3
const testMsMax = 240_000
const largeVals = 100

describeEachDatabase("process/freeze", (open) => {
  test(
    "no request and no message of a guest blocks the event loop",
    async () => {
      await using fixture = await openServerFixture(open)
      const { hamlet, baseUrl } = await fixture.serve({
        HAMLET_RATE_PER_TOKEN: "none",
        HAMLET_RATE_PER_ADDRESS: "none",
      })
      const client = createClient({ baseUrl, token: chosenToken })
      const headers = { authorization: `Bearer ${chosenToken}`, "content-type": "application/json" }
      await client.putSecret({ name: "FREEZE", value: `${"a".repeat(127)}b` })
      for (const [name, code] of Object.entries(slowVals))
        await client.saveVal({ name, code, type: "script" })
      await addLargeVals(fixture, (await client.getMe()).id)
      const { id } = await client.getValByName({ username: "ada", val_name: "takesArgs" })
      const runs = Object.keys(slowVals).map((name) => ({
        name: `${name} runs`,
        method: "POST",
        path: `/v1/run/ada.${name}`,
        body: "{}",
      }))

      // Bodies are read before the database is used, and messages of a guest afterwards, so one
      // database is enough.
      const others = fixture.url === undefined ? [...runs, ...slowBodies(id)] : []

      const bound = pauseSecondsMax * tolerance * measureSlowness()
      const pauses: string[] = []
      const findPauses = async ({ name, method, path, body }: SlowRequest) => {
        const before = await readPauses(baseUrl)
        const response = await fetch(`${baseUrl}${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        })
        await response.arrayBuffer()
        if (response.status === 500) pauses.push(`${name}: 500`)
        return [...(await readPauses(baseUrl))]
          .filter(([seconds, count]) => seconds >= bound && count > (before.get(seconds) ?? 0))
          .map(([seconds]) => `${name} (${response.status}): more than ${seconds} s`)
      }
      for (const request of [...others, ...slowRoutes(id)]) {
        // A request that blocks does so each time; garbage of earlier ones is collected once.
        let found = await findPauses(request)
        for (let again = 1; again < attempts && found.length > 0; again++)
          found = await findPauses(request)
        pauses.push(...found)
      }
      hamlet.signal("SIGTERM")
      await hamlet.ended()
      expect(pauses).toEqual([])
    },
    testMsMax,
  )
})

/** Writes the vals to the database itself: the server would parse each of them. */
async function addLargeVals(fixture: ServerFixture, ownerId: string): Promise<void> {
  const code = `//${"-".repeat(limits.codeCharsMax - 2)}`
  const db = await fixture.connect()
  try {
    const vals = createValStore(db)
    for (let number = 1; number <= largeVals; number++)
      await vals.create(
        {
          id: Bun.randomUUIDv7(),
          ownerId,
          ownerName: "ada",
          name: `large${number}`,
          privacy: "public",
          type: "script",
          readme: null,
          source: { code, imports: [] },
        },
        Date.now(),
      )
  } finally {
    await db.stop()
  }
}
