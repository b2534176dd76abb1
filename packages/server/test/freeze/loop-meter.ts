import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { waitUntil } from "@hamlet/kit/testing"

/**
 * What a fixed piece of work took on the machine on which the limit was set, in time of the
 * processor.
 */
const referenceMs = 22

/** How long an event may block the event loop. */
export const pauseMsMax = 50
/** The factor that compilation, garbage collection and a core that is shared with another thread may add. */
export const tolerance = 3

/** A pause that the measured server makes for a signal. It is a bit too long. */
export const longPause = { signal: "SIGUSR2", cpuMs: 1.2 * pauseMsMax * tolerance } as const

/** How much slower this machine is than that one; never less than 1. */
export function measureSlowness(): number {
  const text = `[${"[1,2,{}],".repeat(20_000)}1]`
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    JSON.stringify(JSON.parse(text))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.max(1, Math.min(...times) / referenceMs)
}

/**
 * How often the server's event loop was at work without a pause for longer than each bound, in
 * seconds, as its metrics say. Their port may still be busy with requests of a door.
 */
export async function readPauses(metricsPort: number): Promise<ReadonlyMap<number, number>> {
  const text = await waitUntil(async () => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined)
    return response?.status === 200 && response.text()
  })
  const [, count = ""] = /^hamlet_event_loop_work_seconds_count (\d+)$/m.exec(text) ?? []
  const buckets = text.matchAll(/^hamlet_event_loop_work_seconds_bucket\{le="([\d.]+)"\} (\d+)$/gm)
  return new Map(
    Array.from(buckets, ([, bound, below]) => [Number(bound), Number(count) - Number(below)]),
  )
}

/** The memory of a process in MB: what it has now, and the most since `forgetPeak`. */
export function readMemory(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const toMb = (name: string) =>
    Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m"))?.[1]) / 1_024
  return { now: toMb("VmRSS"), peak: toMb("VmHWM") }
}

/** From now on, the peak is that of what follows. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5")
}

/** How many files and sockets a process has open. */
export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** The least time of the processor, in milliseconds, that some work in this process takes. */
export function measureWork(work: () => unknown, attempts: number): number {
  const times = Array.from({ length: attempts }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...times)
}
