import type { Dialect } from "@hamlet/database"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"
import { Progress } from "./progress.ts"
import type { SeededTable, Value } from "./seeded-table.ts"
import { tablesOf } from "./tables.ts"
import { createWorld, type World } from "./world.ts"

/** A database with our schema that takes rows in bulk. */
export interface SeedTarget {
  readonly dialect: Dialect
  /** The note that the last complete seeding has left. */
  findFingerprint(): Promise<string | undefined>
  /** Creates an empty schema, without what slows down a bulk load. */
  begin(): Promise<void>
  insert(table: SeededTable, rows: readonly (readonly Value[])[]): Promise<void>
  /** Creates everything that `begin` left out, in named steps. */
  readonly endings: () => Promise<readonly Ending[]>
  writeFingerprint(text: string): Promise<void>
  stop(): Promise<void>
}

export interface Ending {
  readonly name: string
  run(): Promise<void> | void
}

const limits = { batchRows: 2_000 }

/** To be raised when the seeded data changes, so that kept databases are seeded again. */
const seedVersion = 1

/** Fills the database with a world of `vals` vals, unless it already contains exactly that. */
export async function seed(target: SeedTarget, vals: number): Promise<World> {
  const world = createWorld(vals)
  const fingerprint = fingerprintOf(target.dialect, vals)
  if ((await target.findFingerprint()) === fingerprint) return world
  const progress = new Progress(`${target.dialect.name}, ${vals.toLocaleString("en")} vals`)
  await progress.step("schema", () => target.begin())
  for (const table of tablesOf(world)) {
    await progress.step(`${table.count.toLocaleString("en")} ${table.name}`, (report) =>
      fill(target, table, report),
    )
  }
  for (const ending of await target.endings()) await progress.step(ending.name, () => ending.run())
  await target.writeFingerprint(fingerprint)
  return world
}

async function fill(
  target: SeedTarget,
  table: SeededTable,
  report: (part: number) => void,
): Promise<void> {
  // The next batch is built while the previous one is written.
  let writing: Promise<void> = Promise.resolve()
  for (let begin = 0; begin < table.count; begin += limits.batchRows) {
    const length = Math.min(limits.batchRows, table.count - begin)
    const rows = Array.from({ length }, (_, index) => table.row(begin + index))
    await writing
    writing = target.insert(table, rows)
    report(begin / table.count)
  }
  await writing
}

function fingerprintOf(dialect: Dialect, vals: number): string {
  const schema = migrations.flatMap((migration) => migration.statements(dialect)).join("\n")
  return `${seedVersion} ${vals} ${Bun.hash(schema).toString(16)}`
}
