import { residentMbOf } from "../harness/process-tree.ts"
import { type Hamlet, startHamlet } from "../runs/hamlet.ts"
import { createLoad, type Load } from "./load.ts"

const limits = { minutesDefault: 120, idleMs: 60_000, reportMs: 60_000 }

/** One account causes all of the load, so its allowances are switched off. */
const settings = {
  HAMLET_RATE_PER_TOKEN: "none",
  HAMLET_RATE_PER_ADDRESS: "none",
  HAMLET_RUNS_PER_MINUTE: "none",
  HAMLET_EGRESS_REQUESTS_PER_MINUTE: "none",
  HAMLET_EGRESS_MB_PER_MINUTE: "none",
  HAMLET_STORAGE_REQUESTS_PER_MINUTE: "none",
}

const minutes = Number(process.argv[2] ?? limits.minutesDefault)
if (Number.isFinite(minutes) && minutes > 0) await soak(minutes)
else {
  console.error(
    `Cannot soak for "${process.argv[2]}" minutes: give a number, as in npm run soak -- 120`,
  )
  process.exitCode = 2
}

/**
 * Loads one server for a long time and prints its memory each minute, then once more when idle.
 */
async function soak(minutes: number): Promise<void> {
  const hamlet = await startHamlet(settings)
  try {
    const load = await createLoad(hamlet)
    const samples = await sample(hamlet, load, minutes)
    const counts = await load.stop()
    await Bun.sleep(limits.idleMs)
    const idleMb = residentMbOf(hamlet.program.pid)
    console.log(`idle for ${limits.idleMs / 1_000} s: ${idleMb.toFixed(0)} MB`)
    console.log(`growth: ${toGrowth(samples)}`)
    console.log(
      `requests: ${counts.good} good, ${counts.refused} refused, ${counts.wrong.length} wrong`,
    )
    for (const wrong of counts.wrong.slice(0, 10)) console.log(`wrong: ${wrong}`)
    process.exitCode = counts.wrong.length > 0 ? 1 : 0
  } finally {
    await hamlet.stop()
  }
}

async function sample(hamlet: Hamlet, load: Load, minutes: number): Promise<readonly number[]> {
  const samples = [residentMbOf(hamlet.program.pid)]
  console.log("minute | server, MB | requests")
  while (samples.length <= minutes) {
    await Bun.sleep(limits.reportMs)
    const residentMb = residentMbOf(hamlet.program.pid)
    console.log(`${samples.length} | ${residentMb.toFixed(0)} | ${load.counts.good}`)
    samples.push(residentMb)
  }
  return samples
}

/**
 * Megabytes per minute in each quarter, by least squares: without a leak it ends near zero.
 */
function toGrowth(samples: readonly number[]): string {
  const size = Math.max(2, Math.ceil(samples.length / 4))
  const quarters = [0, 1, 2, 3].map((index) => samples.slice(index * size, (index + 1) * size))
  return quarters
    .filter((quarter) => quarter.length > 1)
    .map((quarter) => `${slopeOf(quarter).toFixed(2)} MB/min`)
    .join(", ")
}

function slopeOf(values: readonly number[]): number {
  const meanX = (values.length - 1) / 2
  const meanY = values.reduce((sum, value) => sum + value, 0) / values.length
  const covariance = values.reduce((sum, y, x) => sum + (x - meanX) * (y - meanY), 0)
  const variance = values.reduce((sum, _, x) => sum + (x - meanX) ** 2, 0)
  return covariance / variance
}
