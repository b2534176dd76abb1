import { expect } from "bun:test"
import { listening, type Takeover, takeovers, toTakeoverModule } from "./probes/globals.ts"
import { hostileValues } from "./probes/hostile-values.ts"
import { holdRun, toHoldingCode } from "./support/live-run.ts"
import { describeVillage, probe } from "./support/test-village.ts"
import type { SavedVal, Village } from "./support/village.ts"

let count = 0

const messagesOf = (run: { readonly logs: readonly { readonly message: string }[] }) =>
  run.logs.map(({ message }) => message)

async function takeOver(
  village: Village,
  { code, isOwnLoss }: Takeover,
  victim: SavedVal,
): Promise<void> {
  const { mallory, treasures } = village
  const name = `n${++count}`
  const live = await holdRun(village, victim, name)
  const val = await village.save(mallory, { code: toTakeoverModule(code, live.id) })

  const answers = [
    await village.visit(val),
    await village.visit(val, { path: "/again", method: "POST", body: "body" }),
  ]

  for (const answer of isOwnLoss ? [] : answers) {
    expect(`${answer.status} ${answer.text}`).toBe("200 fine")
    expect(answer.headers.get("x-hamlet-failure")).toBeNull()
    const run = await village.loggedRun(answer.headers.get("x-run-id") ?? "", mallory, 1)
    expect(run).toMatchObject({ status: "succeeded", error: null })
    expect(messagesOf(run)).toEqual(["mine"])
  }
  const noted = (await village.visit(val, { path: "/noted" })).text
  for (const treasure of [...treasures, village.dataDir, village.place.neighbourFolder])
    expect(noted).not.toContain(treasure)
  const untouched = await live.end()
  expect(untouched).toMatchObject({ status: "succeeded", error: null, logsTruncated: false })
  expect(messagesOf(untouched)).toEqual([`begin ${name}`, `end ${name}`])
}

describeVillage(
  "what a val tries with what the guest is made of",
  { HAMLET_RUN_SECONDS_MAX: "25" },
  (village) => {
    let victim: Promise<SavedVal> | undefined
    const getVictim = () => {
      victim ??= village().save(village().ada, { name: "victim", code: toHoldingCode() })
      return victim
    }

    for (const takeover of [...listening, ...takeovers])
      probe(village, `a val tries ${takeover.tries}`, async (place) =>
        takeOver(place, takeover, await getVictim()),
      )

    for (const { tries, code, status, run } of hostileValues)
      probe(village, `a val tries ${tries}`, async (place) => {
        const val = await place.save(place.mallory, {
          code: `export default async function (request) {\n${code}\n}\n`,
        })
        const answer = await place.visit(val)
        expect(`${answer.status}`).toBe(`${status}`)
        const record = await place.runOf(answer, place.mallory)
        expect(
          `${record.status} ${record.error ? `${record.error.name}: ${record.error.message}` : ""}`,
        ).toMatch(run)
        expect(JSON.stringify(record)).not.toContain(place.dataDir)
        // The process has survived it, or there is another.
        expect((await place.visit(val)).status).toBe(status)
      })
  },
)
