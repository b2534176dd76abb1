import { RecentMap } from "@hamlet/kit"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Allowances } from "../limits/allowances.ts"
import type { QueueDepth, QueueStore } from "./queue-store.ts"

/** The queue: its runs start on any node. */
export interface RunQueue {
  /** From now on this node claims runs. */
  start(): void
  /** Call after the commit that has added runs: an idle node starts them at once. */
  wake(): void
  /** This node claims no more runs, and returns those that have not started. */
  stop(): Promise<void>
  /** Counts the runs that wait, for the metrics. Undefined when the database is unavailable. */
  readDepth(): Promise<QueueDepth | undefined>
  /** For the metrics. */
  stats(): QueueStats
}

/** What this node has done with the queue since its start. */
export interface QueueStats {
  /** Runs that this node has claimed. */
  readonly claimed: number
  /** Runs that this node has returned, because it could not start them. */
  readonly returned: number
  /** Runs of nodes that were gone, by what this node did with them. */
  readonly requeued: number
  readonly retried: number
  readonly crashed: number
  /** Runs that were taken from this node. */
  readonly lost: number
  /** Runs of the queue that this node has now. */
  readonly active: number
}

const limits = {
  /** How long a count of waiting runs is valid. Meanwhile this node adds its own. */
  countedMs: 1_000,
  /** How long a count that has reached the limit is valid. */
  fullMs: 100,
  /** Accounts whose counts are remembered. */
  accountsMax: 10_000,
}

/** Limits how many runs of an account wait. */
export type QueueRoom = ReturnType<typeof createQueueRoom>

/**
 * Counts seldom: with many waiting runs, counting them takes longer than adding one. Several nodes
 * may exceed the limit together by what they add between two counts.
 */
export function createQueueRoom(
  store: Pick<QueueStore, "countWaiting">,
  queuedMax: number,
  { now }: Pick<Clock, "now">,
) {
  const counts = new RecentMap<string, WaitingCount>(limits.accountsMax)
  const count = async (accountId: string): Promise<WaitingCount> => {
    const counted = await store.countWaiting(accountId, queuedMax)
    const fresh = { at: now(), counted, count: counted }
    counts.set(accountId, fresh)
    return fresh
  }
  const isValid = (known: WaitingCount) => {
    const ageMs = now() - known.at
    if (known.count < queuedMax) return ageMs < limits.countedMs
    // Runs that were added here may have started meanwhile.
    return known.counted >= queuedMax && ageMs < limits.fullMs
  }
  const find = async (accountId: string): Promise<WaitingCount> => {
    const known = counts.get(accountId)
    return known && isValid(known) ? known : await count(accountId)
  }
  return {
    /** Whether one more may wait. */
    has: async (accountId: string) => (await find(accountId)).count < queuedMax,
    /** Counts one more run on the account, whether there is room or not. */
    add(accountId: string): void {
      const known = counts.get(accountId)
      if (known) known.count += 1
    },
    /** Counts one more run if it may wait, and returns what uncounts it. Throws `queue_full` otherwise. */
    async take(accountId: string): Promise<() => void> {
      const known = await find(accountId)
      if (known.count >= queuedMax)
        throw new AppError(
          "queue_full",
          `Cannot queue another run: ${queuedMax} runs on this account wait already`,
        )
      known.count += 1
      return () => {
        known.count -= 1
      }
    },
  }
}

/**
 * Counts one more run for the queue, or throws. A full queue is noticed first: what is refused and
 * tried again later must not use up the allowance.
 */
export async function takeQueuedRun(
  allowances: Pick<Allowances, "takeRun">,
  room: Pick<QueueRoom, "take">,
  accountId: string,
): Promise<void> {
  const giveBack = await room.take(accountId)
  try {
    await allowances.takeRun(accountId)
  } catch (error) {
    giveBack()
    throw error
  }
}

interface WaitingCount {
  readonly at: number
  /** The runs that waited then. */
  readonly counted: number
  /** The runs that waited then and those that were added since. */
  count: number
}
