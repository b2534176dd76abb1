import { measureSlowness, pauseMsMax, readPauses, tolerance } from "../../freeze/loop-meter.ts"
import { Connections } from "../manners/connections.ts"
import { type Manner, mannerLimits } from "../manners/manner.ts"
import type { WorstDoor } from "../worst-doors.ts"
import type { WorstStage } from "../worst-stage.ts"
import type { OtherUserWindow } from "./other-user-window.ts"

/** What a row of the report may have. */
const bars = {
  /** How much longer others wait than beside nothing. */
  waitMsMax: 100,
  growthMbMax: 300,
  /** Processes of users and of workers have limits of their own; together they stay below this. */
  childrenMbMax: 1_500,
  /** From the end of the input until others wait as before, and memory is free again. */
  backMsMax: 20_000,
  /** What may stay: memory that was taken once is not given back in full. */
  keptMbMax: 150,
}

const quietLimits = { windows: 12, share: 0.8 }

/** How long nothing is done before a row that is repeated, and how long between two looks. */
const restMs = { quiet: 2_000, look: 300 }

/** What one input has caused. */
export interface Row {
  readonly door: string
  readonly manner: Manner
  readonly waitedMs: number
  /** What was slowest, for others. */
  readonly action: string
  /** The longest that others waited beside nothing. */
  readonly quietMs: number
  /** A pause of the event loop was longer than this; 0 if none was too long. */
  readonly pauseMs: number
  readonly growthMb: number
  readonly childrenMb: number
  readonly backMs: number
  readonly tookMs: number
  /** What depends on the machine too. */
  readonly late: readonly string[]
  readonly problems: readonly string[]
}

/** The waits beside nothing, of the last rows. Now and then one is long; that is not how it is. */
export class QuietWaits {
  readonly #waits: number[] = []

  add({ slowest }: OtherUserWindow): void {
    this.#waits.push(slowest.ms)
    if (this.#waits.length > quietLimits.windows) this.#waits.shift()
  }

  /** What all but a few of them were. */
  get longestMs(): number {
    const sorted = this.#waits.toSorted((one, other) => one - other)
    return sorted[Math.floor((sorted.length - 1) * quietLimits.share)] ?? 0
  }
}

export async function measureRow(
  worst: WorstStage,
  door: WorstDoor,
  manner: Manner,
  quiet: QuietWaits,
  isRepeated: boolean,
): Promise<Row> {
  const { stage, other } = worst
  if (isRepeated) {
    await Bun.sleep(restMs.quiet)
    quiet.add(await other.next())
  }
  const before = await readPauses(stage.metricsPort)
  const quietMs = quiet.longestMs
  await other.next()
  const startMs = performance.now()
  const failures = await drive(worst, door, manner)
  const tookMs = performance.now() - startMs
  const window = await other.next()
  const pauseMs = findPause(before, await readPauses(stage.metricsPort))
  const backMs = await waitUntilBack(worst, window, quiet)
  const row = {
    door: door.name,
    manner,
    quietMs,
    pauseMs,
    backMs,
    tookMs,
    waitedMs: window.slowest.ms,
    action: window.slowest.action,
    growthMb: window.server.peakMb - window.server.beforeMb,
    childrenMb: window.children.peakMb - window.children.beforeMb,
  }
  const problems = [...failures, ...window.failures.slice(0, 3), ...judge(row)]
  return { ...row, late: judgeTimes(row), problems }
}

/** All clients of the manner at once. Those that have no answer in time leave. */
async function drive(worst: WorstStage, door: WorstDoor, manner: Manner): Promise<string[]> {
  const connections = new Connections()
  const timer = setTimeout(() => connections[Symbol.dispose](), mannerLimits.exchangeMsMax)
  const driving = Array.from({ length: mannerLimits.clients[manner] }, () =>
    door.drive(worst, manner, connections),
  )
  const left = new Promise<"left">((resolve) =>
    setTimeout(() => resolve("left"), mannerLimits.exchangeMsMax + 2_000).unref(),
  )
  const ended = await Promise.race([Promise.allSettled(driving), left])
  clearTimeout(timer)
  connections[Symbol.dispose]()
  if (ended === "left") return manner === "whole" ? ["has no end"] : []
  return ended
    .flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []))
    .filter((reason) => manner === "whole" || reason.includes("500"))
    .slice(0, 1)
}

function findPause(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>) {
  const longer = [...after].flatMap(([seconds, count]) =>
    count > (before.get(seconds) ?? 0) ? [seconds * 1_000] : [],
  )
  const longest = Math.max(0, ...longer)
  const isTooLong = longest >= pauseMsMax * tolerance
  return isTooLong && longest >= pauseMsMax * tolerance * measureSlowness() ? longest : 0
}

async function waitUntilBack(
  { other }: WorstStage,
  { server, children }: OtherUserWindow,
  quiet: QuietWaits,
): Promise<number> {
  const startMs = performance.now()
  for (;;) {
    await Bun.sleep(restMs.look)
    const window = await other.next()
    const ms = performance.now() - startMs
    const isBack =
      window.slowest.ms <= bars.waitMsMax + quiet.longestMs &&
      window.server.nowMb - server.beforeMb <= bars.keptMbMax &&
      window.children.nowMb - children.beforeMb <= bars.childrenMbMax / 2
    if (isBack) quiet.add(window)
    if (isBack || ms > bars.backMsMax) return ms
  }
}

type Measured = Omit<Row, "problems" | "late">

function judge(row: Measured): string[] {
  return [
    ...(row.pauseMs > 0 ? [`blocks for more than ${row.pauseMs} ms`] : []),
    ...(row.growthMb > bars.growthMbMax ? [`grows by ${row.growthMb.toFixed()} MB`] : []),
    ...(row.childrenMb > bars.childrenMbMax
      ? [`processes grow by ${row.childrenMb.toFixed()} MB`]
      : []),
  ]
}

function judgeTimes({ waitedMs, quietMs, action, backMs }: Measured): string[] {
  const beside = `(${action}), beside nothing ${quietMs.toFixed()}`
  return [
    ...(waitedMs - quietMs > bars.waitMsMax
      ? [`others waited ${waitedMs.toFixed()} ms ${beside}`]
      : []),
    ...(backMs > bars.backMsMax ? ["is not back in time"] : []),
  ]
}
