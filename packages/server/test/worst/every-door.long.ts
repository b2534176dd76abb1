import { expect, test } from "bun:test"
import { databases } from "../support/databases.ts"
import { createRandom, testSeed } from "../support/random.ts"
import { openServerFixture } from "../support/server-fixture.ts"
import { type Manner, manners } from "./manners/manner.ts"
import { measureDoors } from "./measure/measure-doors.ts"
import type { Row } from "./measure/measure-row.ts"
import { toLine, toReport } from "./report.ts"
import { worldSizes } from "./world/world-limits.ts"
import { isForPostgres, toSlug, type WorstDoor, worstDoors } from "./worst-doors.ts"
import { openWorstStage } from "./worst-stage.ts"

/*
 * `npm run long-test -- worst`: every way into the server with its largest legal input, whole, in
 * pieces of one byte, slowly, by many clients and by clients that do not read, in a world in which
 * everything is at its limits, beside another user. `--doors list-my-vals,mail` and
 * `--manners whole,pieces` select rows, `--database postgres` the database.
 */

const { env } = process
const wanted = env.HAMLET_WORST_DATABASE === "postgres" ? "PostgreSQL" : "SQLite"

test(`no input makes others wait or the server grow (HAMLET_TEST_SEED=${testSeed})`, async () => {
  const database = databases.find(({ name }) => name === wanted)
  if (!database) throw new Error(`Cannot use ${wanted}: there is no server for tests`)
  await using fixture = await openServerFixture(database.open)
  const startMs = performance.now()
  await using worst = await openWorstStage(fixture, worldSizes.full)
  console.info(`the world was built in ${((performance.now() - startMs) / 1_000).toFixed()} s`)
  const rows = await measureDoors(worst, selectRows(), { onRow: print })
  const options = `${env.HAMLET_WORST_DATABASE ? ` --database ${env.HAMLET_WORST_DATABASE}` : ""} --seed ${testSeed}`
  console.info(toReport(rows, options))
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.filter(({ problems }) => problems.length > 0).length).toBe(0)
}, 0)

function print(row: Row): void {
  console.info(toLine(row))
  for (const problem of row.problems) console.info(`      ${problem}`)
}

/** The rows that are asked for, in the order of the seed: what one leaves behind meets another. */
function selectRows(): readonly (readonly [WorstDoor, Manner])[] {
  const names = split(env.HAMLET_WORST_DOORS)
  const only = split(env.HAMLET_WORST_MANNERS)
  const random = createRandom(testSeed)
  return worstDoors
    .filter((door) => wanted === "PostgreSQL" || !isForPostgres(door))
    .filter(({ name }) => isNamed(toSlug(name), names))
    .flatMap((door) => door.manners.map((manner) => [door, manner] as const))
    .filter(([, manner]) => only.length === 0 || only.includes(manner))
    .map((pair) => ({ pair, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ pair }) => pair)
}

function isNamed(slug: string, names: readonly string[]): boolean {
  if (names.length === 0) return true
  const all = new Set(worstDoors.map(({ name }) => toSlug(name)))
  return names.some((name) => (all.has(name) ? slug === name : slug.includes(name)))
}

function split(text: string | undefined): readonly string[] {
  return text?.split(",").filter((part) => part !== "") ?? []
}

// A manner that does not exist would select nothing.
for (const manner of split(env.HAMLET_WORST_MANNERS))
  if (!manners.includes(manner as Manner))
    throw new Error(`Cannot use manner "${manner}": they are ${manners.join(", ")}`)
