/**
 * Mechanisms of a server that many users share: turns, limits, loops, threads, traces. They know
 * nothing of vals.
 *
 * ```ts
 * import { FairSlots } from "@hamlet/kit"
 *
 * const slots = new FairSlots(1, { waitingMax: 100 }, () => new Error("too many requests wait"))
 * const order: string[] = []
 * const work = (owner: string) => slots.run(owner, async () => void order.push(owner))
 * await Promise.all([work("ada"), work("ada"), work("ada"), work("bob")])
 * console.log(order.join(" ")) // ada ada bob ada
 * ```
 */

export { prepareOnce } from "./caches/prepare-once.ts"
export { RecentMap } from "./caches/recent-map.ts"
export { Counter, OpenCounts } from "./counts/counter.ts"
export { Histogram } from "./counts/histogram.ts"
export { TokenBucket, TokenBuckets } from "./counts/token-bucket.ts"
export {
  decodePercent,
  decodeValidPercents,
  parseJson,
  parseOwnJson,
  repeatText,
  replaceEach,
  toOwnJson,
  toRegExp,
} from "./hostile-input/bounded.ts"
export { hasFewValues } from "./hostile-input/has-few-values.ts"
export { readBytes, readStart } from "./hostile-input/read-bytes.ts"
export { nextReadTurn, PieceRate, readPieces } from "./hostile-input/read-pieces.ts"
export { alone, type BudgetStore, Budgets, type Sharing, toBudgetKey } from "./limits/budgets.ts"
export { type MinuteCounts, sumCounts } from "./limits/minute-counts.ts"
export {
  admit,
  createRateLimiter,
  minuteMs,
  RateLimited,
  type RateLimits,
} from "./limits/rate-limit.ts"
export {
  type Budget,
  type BudgetAnswer,
  type BudgetAsk,
  isSlotAsk,
  type RateAsk,
  type SlotHolder,
  type SlotNodes,
  settleRate,
  settleSlots,
  slotsRenewedMs,
} from "./limits/settle-budget.ts"
export { SharedRates } from "./limits/shared-rates.ts"
export { runsAtOnce, SharedSlots } from "./limits/shared-slots.ts"
export { createUsageMeter, type Used } from "./limits/usage-meter.ts"
export { createMask, type Mask, noMask } from "./mask/secret-mask.ts"
export {
  findOnce,
  type IdempotentRequest,
  type KeyClaim,
  makeOnce,
  Once,
  type OnceStep,
  runOnce,
} from "./once.ts"
export { type Issue, Refused } from "./refused.ts"
export { openCLibrary } from "./system/c-library.ts"
export { estimateOpenFiles, readOpenFilesMax } from "./system/open-files.ts"
export { limitReceiveBuffers } from "./system/receive-buffers.ts"
export { readResidentBytes } from "./system/resident-bytes.ts"
export { tryList, tryListEntries, tryReadText } from "./system/try-read.ts"
export { fromBase32, toBase32 } from "./text/base32.ts"
export { toBase62 } from "./text/base62.ts"
export { isJsonText, type JsonText } from "./text/json-text.ts"
export { isSameSecret, sha256 } from "./text/sha256.ts"
export {
  truncateError,
  truncateMasked,
  truncateMeasured,
  truncateText,
  truncateValue,
} from "./text/truncate.ts"
export { lowerPriority } from "./threads/lower-priority.ts"
export { serveJobs } from "./threads/serve-jobs.ts"
export { WorkerPool, WorkerPoolError } from "./threads/worker-pool.ts"
export { type Backoff, findRetryDelay, toRetryDelay } from "./time/backoff.ts"
export { Loop } from "./time/loop.ts"
export { LoopDelay, type LoopDelayReport, loopDelayLimits } from "./time/loop-delay.ts"
export { Watchdog, type Watched } from "./time/watchdog.ts"
export { orLate, withinTime } from "./time/within-time.ts"
export { startRequest, toFailure } from "./tracing/request-span.ts"
export { createSampler } from "./tracing/sampler.ts"
export { explainWaits, SlowLog } from "./tracing/slow-log.ts"
export { parseTraceparent, toTraceId } from "./tracing/trace-context.ts"
export { traceTask } from "./tracing/trace-task.ts"
export {
  type Attributes,
  type SpanCounts,
  type SpanKind,
  type SpanSink,
  Tracer,
  type TraceSpan,
} from "./tracing/tracer.ts"
export { currentWork, detachWork, runWork, Work } from "./tracing/work.ts"
export { ByteBudget, type HeldBytes } from "./turns/byte-budget.ts"
export { FairQueue, type Waiter } from "./turns/fair-queue.ts"
export { FairSlots } from "./turns/fair-slots.ts"
export { findIdlePlace, type Place } from "./turns/idle-places.ts"
export { createTimeSlice, mapInSlices, type TimeSlice } from "./turns/time-slice.ts"
