import type { Manner } from "../manners/manner.ts"
import type { WorstDoor } from "../worst-doors.ts"
import type { WorstStage } from "../worst-stage.ts"
import { measureRow, QuietWaits, type Row } from "./measure-row.ts"

/** A machine is not always quiet: a problem counts if it is there each time. */
const attemptsMax = 3
const warmMs = 3_000

interface MeasureOptions {
  /** Whether a wait is a problem: a machine that does other things too makes everything wait. */
  readonly isTimed?: boolean
  readonly onRow?: (row: Row) => void
}

/** Drives each door in each manner, and gives what each has caused. */
export async function measureDoors(
  worst: WorstStage,
  pairs: readonly (readonly [WorstDoor, Manner])[],
  options: MeasureOptions = {},
): Promise<readonly Row[]> {
  const quiet = new QuietWaits()
  // The first requests of the other user start a process.
  await worst.other.next()
  await Bun.sleep(warmMs)
  quiet.add(await worst.other.next())
  const rows: Row[] = []
  for (const [door, manner] of pairs) {
    const row = await measureDoor(worst, door, manner, quiet, options)
    options.onRow?.(row)
    rows.push(row)
  }
  return rows
}

/** The attempt with the fewest problems. Growth is that of the first: memory that was taken once stays. */
async function measureDoor(
  worst: WorstStage,
  door: WorstDoor,
  manner: Manner,
  quiet: QuietWaits,
  { isTimed = true }: MeasureOptions,
): Promise<Row> {
  const measure = async (isRepeated: boolean) => {
    const row = await measureRow(worst, door, manner, quiet, isRepeated)
    return { ...row, problems: isTimed ? [...row.problems, ...row.late] : row.problems }
  }
  let best = await measure(false)
  const { growthMb } = best
  for (let attempt = 2; attempt <= attemptsMax && best.problems.length > 0; attempt++) {
    const row = await measure(true)
    if (isBetter(row, best)) best = row
  }
  return { ...best, growthMb: Math.max(growthMb, best.growthMb) }
}

function isBetter(row: Row, best: Row): boolean {
  if (row.problems.length !== best.problems.length)
    return row.problems.length < best.problems.length
  return row.waitedMs - row.quietMs < best.waitedMs - best.quietMs
}
