import { appendFileSync } from "node:fs"

// Loaded into a server of any version before its own code: measures from inside how long its event
// loop delays callers.
const sampleMs = 5
const writeMs = 250
const file = process.env.BENCH_LOOP_FILE ?? ""
let lookedMs = performance.now()
let lastUs = threadUs()
let samples: string[] = []

setInterval(() => {
  const nowMs = performance.now()
  const nowUs = threadUs()
  const delayMs = Math.max(0, nowMs - lookedMs - sampleMs)
  samples.push(`${delayMs.toFixed(2)} ${Math.min(delayMs, (nowUs - lastUs) / 1000).toFixed(2)}`)
  lookedMs = nowMs
  lastUs = nowUs
}, sampleMs)

setInterval(() => {
  appendFileSync(file, samples.map((sample) => `${sample}\n`).join(""))
  samples = []
}, writeMs)

function threadUs(): number {
  const { user, system } = (
    process as unknown as { threadCpuUsage(): { user: number; system: number } }
  ).threadCpuUsage()
  return user + system
}
