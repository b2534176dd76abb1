import { expect } from "bun:test"
import { listening, type Takeover, takeovers, toTakeoverModule } from "./probes/globals.ts"
import { type HostileValue, hostileValues } from "./probes/hostile-values.ts"
import type { AttackServer, SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { holdRun, toHoldingCode } from "./support/live-run.ts"

let count = 0

/** How many hostile values share a process. */
const valuesPerVal = 9

const messagesOf = (run: { readonly logs: readonly { readonly message: string }[] }) =>
  run.logs.map(({ message }) => message)

async function takeOver(
  server: AttackServer,
  { code, isOwnLoss }: Takeover,
  victim: SavedVal,
): Promise<void> {
  const { mallory, confidentialTexts } = server
  const name = `n${++count}`
  const live = await holdRun(server, victim, name)
  const val = await server.save(mallory, { code: toTakeoverModule(code, live.id) })

  const responses = [
    await server.request(val),
    await server.request(val, { path: "/again", method: "POST", body: "body" }),
  ]

  for (const response of isOwnLoss ? [] : responses) {
    expect(`${response.status} ${response.text}`).toBe("200 fine")
    expect(response.headers.get("x-hamlet-failure")).toBeNull()
    const run = await server.loggedRun(response.headers.get("x-run-id") ?? "", mallory, 1)
    expect(run).toMatchObject({ status: "succeeded", error: null })
    expect(messagesOf(run)).toEqual(["mine"])
  }
  const noted = (await server.request(val, { path: "/noted" })).text
  for (const text of [...confidentialTexts, server.dataDir, server.targets.neighbourFolder])
    expect(noted).not.toContain(text)
  const untouched = await live.end()
  expect(untouched).toMatchObject({ status: "succeeded", error: null, logsTruncated: false })
  expect(messagesOf(untouched)).toEqual([`begin ${name}`, `end ${name}`])
}

/** A line that comes later than this after the beginning of its run is dropped. */
const env = { HAMLET_RUN_SECONDS_MAX: "120" }

describeAttacks("attacks/globals of the guest", env, (getServer) => {
  let victim: Promise<SavedVal> | undefined
  const getVictim = () => {
    victim ??= getServer().save(getServer().ada, { name: "victim", code: toHoldingCode() })
    return victim
  }

  for (const takeover of [...listening, ...takeovers])
    probe(getServer, `a val tries ${takeover.tries}`, async (server) =>
      takeOver(server, takeover, await getVictim()),
    )

  const small = hostileValues.filter(({ isLarge }) => !isLarge)
  for (let from = 0; from < small.length; from += valuesPerVal)
    probeValues(getServer, small.slice(from, from + valuesPerVal))
  for (const value of hostileValues.filter(({ isLarge }) => isLarge))
    probeValues(getServer, [value])
})

/** Defines a test for each of the values of one val. */
function probeValues(getServer: () => AttackServer, values: readonly HostileValue[]): void {
  let saving: Promise<SavedVal> | undefined
  const functions = values.map(({ code }) => `async (request) => {\n${code}\n}`)
  const module = `const values = [${functions.join(", ")}]
export default (request) => values[Number(new URL(request.url).pathname.slice(1))](request)
`
  for (const [index, { tries, status, run }] of values.entries())
    probe(getServer, `a val tries ${tries}`, async (server) => {
      saving ??= server.save(server.mallory, { code: module })
      const val = await saving
      const response = await server.request(val, { path: `/${index}` })
      expect(`${response.status}`).toBe(`${status}`)
      const record = await server.runOf(response, server.mallory)
      expect(
        `${record.status} ${record.error ? `${record.error.name}: ${record.error.message}` : ""}`,
      ).toMatch(run)
      expect(JSON.stringify(record)).not.toContain(server.dataDir)
      // The process has survived it, or there is another.
      expect((await server.request(val, { path: `/${index}` })).status).toBe(status)
    })
}
