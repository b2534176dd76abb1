import type { SandboxExit } from "../sandboxes/sandbox.ts"
import type { Pool } from "./pool.ts"
import { memoryUsedUp, type ProcessShares, processesUsedUp } from "./process-shares.ts"
import type { ProgramProcess } from "./program-process.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/** All processes of the server, and what they may use together. */
export interface ProcessBudget {
  readonly limits: RunnerLimits
  readonly processes: ReadonlySet<ProgramProcess>
  readonly pool: Pick<Pool, "size" | "waiting" | "isAwaitedBeside">
  readonly shares: Pick<ProcessShares, "noteMemory" | "findAccountToReduce">
  /** The memory of a process as last measured; 0 before the first measurement. */
  memoryOf(process: ProgramProcess): number
  end(process: ProgramProcess, reason?: SandboxExit["reason"], message?: string): void
}

/** The memory of all processes, those of the pool included. */
export function countUsedBytes(budget: ProcessBudget): number {
  let bytes = budget.pool.size * budget.limits.warmBytes
  for (const process of budget.processes) bytes += bytesOf(budget, process)
  return bytes
}

/**
 * Whether one more process may start. If not, it ends idle processes, one for each run that waits
 * for a process, and never to refill the pool. There is room once they are gone.
 */
export function makeRoom(budget: ProcessBudget): boolean {
  if (hasRoom(budget)) return true
  while (countEnding(budget) < budget.pool.waiting && evictIdle(budget));
  return false
}

/**
 * Ends processes when memory or processes run out. One at a time: only when it is gone is it known
 * what it has freed.
 */
export function enforceBudget(budget: ProcessBudget, nowMs: number): void {
  const { limits, pool, shares } = budget
  const bytesByAccount = sumBytesAtWork(budget)
  shares.noteMemory(bytesByAccount)
  // There is none, as on an idle server, or one is ending.
  if (budget.processes.size === 0 || countEnding(budget) > 0) return
  const freeBytes = limits.memoryBytesMax - countUsedBytes(budget)
  if (freeBytes < 0 && evictIdle(budget)) return
  const [largest] = [...bytesByAccount].sort(([, a], [, b]) => b - a)
  const isShort = (accountId: string) =>
    freeBytes < 0 || (freeBytes < limits.startBytes && pool.isAwaitedBeside(accountId))
  if (largest && isShort(largest[0])) {
    const largestFirst = (process: ProgramProcess) => bytesOf(budget, process)
    endAtWork(budget, largest[0], largestFirst, "memory", memoryUsedUp)
  }
  const reduced = shares.findAccountToReduce(nowMs)
  if (reduced !== undefined) {
    const oldestFirst = (process: ProgramProcess) => nowMs - process.startedMs
    endAtWork(budget, reduced, oldestFirst, "killed", processesUsedUp)
  }
}

/** A process that was not measured yet counts as one that has just started. */
function bytesOf({ limits, memoryOf }: ProcessBudget, process: ProgramProcess): number {
  return Math.max(limits.warmBytes, memoryOf(process))
}

function sumBytesAtWork(budget: ProcessBudget): ReadonlyMap<string, number> {
  const bytesByAccount = new Map<string, number>()
  for (const process of budget.processes) {
    if (!process.isAtWork) continue
    const { accountId } = process.program
    const bytes = (bytesByAccount.get(accountId) ?? 0) + bytesOf(budget, process)
    bytesByAccount.set(accountId, bytes)
  }
  return bytesByAccount
}

function hasRoom(budget: ProcessBudget): boolean {
  const { processesMax, memoryBytesMax, startBytes } = budget.limits
  return (
    budget.processes.size + budget.pool.size < processesMax &&
    countUsedBytes(budget) + startBytes <= memoryBytesMax
  )
}

function countEnding({ processes }: ProcessBudget): number {
  let count = 0
  for (const { isEnding } of processes) if (isEnding) count++
  return count
}

/**
 * Ends an idle process: of the account with the most processes, the one that has been idle for
 * longest. Returns false when no process is idle.
 */
function evictIdle({ processes, end }: ProcessBudget): boolean {
  const counts = new Map<string, number>()
  for (const { program } of processes)
    counts.set(program.accountId, (counts.get(program.accountId) ?? 0) + 1)
  const countOf = (process: ProgramProcess) => counts.get(process.program.accountId) ?? 0
  let chosen: ProgramProcess | undefined
  for (const process of processes) {
    if (process.runs > 0 || process.isAtWork || process.isEnding) continue
    const difference = chosen ? countOf(process) - countOf(chosen) : 1
    if (difference > 0 || (difference === 0 && chosen && process.usedMs < chosen.usedMs))
      chosen = process
  }
  if (!chosen) return false
  end(chosen)
  return true
}

/** Ends the process at work of the account that has the highest rank. */
function endAtWork(
  { processes, end }: ProcessBudget,
  accountId: string,
  rankOf: (process: ProgramProcess) => number,
  reason: SandboxExit["reason"],
  message: string,
): void {
  let chosen: ProgramProcess | undefined
  for (const process of processes) {
    if (!process.isAtWork || process.program.accountId !== accountId || process.isEnding) continue
    if (!chosen || rankOf(process) > rankOf(chosen)) chosen = process
  }
  if (chosen) end(chosen, reason, message)
}
