import { addCount, emptyCounts, type MinuteCounts } from "./minute-counts.ts"

/**
 * What one node asks about a limit per time. A *token* is what one request, run or byte costs.
 * `key` is unique among all limits.
 */
export interface RateAsk {
  readonly key: string
  readonly capacity: number
  readonly periodMs: number
  /** Tokens that this node has taken and not reported before. */
  readonly spent: number
  /** Tokens that it wants to take now. */
  readonly wanted: number
  /** Its own count of used tokens, `spent` included. The database takes it if it stores none. */
  readonly used: number
  /** Tokens of the last minute that were not reported, for a limit whose use users can see. */
  readonly counted?: number
}

/** What one node asks about a limit on what is open at once. */
export interface SlotAsk {
  readonly key: string
  readonly max: number
  /** Slots that are open on this node: it cannot have fewer. */
  readonly open: number
  /** Slots that it wants to hold, `open` included. */
  readonly wanted: number
}

/** What one node asks about one limit. */
export type BudgetAsk = RateAsk | SlotAsk

/** What is left of a limit per time, for all nodes together. */
export interface RateAnswer {
  /** The used part of the capacity; more than all of it is a debt. */
  readonly used: number
  /** How many of the wanted tokens were taken. */
  readonly granted: number
}

/** What a node holds of a limit on what is open at once. */
export interface SlotAnswer {
  readonly held: number
  /** The most that the node should have open now. It may have more, which others have not left it. */
  readonly openMax: number
}

export type BudgetAnswer = RateAnswer | SlotAnswer

/** The state of a limit that all nodes share. Times are those of the database's clock. */
export interface Budget {
  /** A rate: when nothing will be used any more. Slots: when the state may be forgotten. */
  readonly fullAt: number
  /** Slots of each node; null for a rate. */
  readonly holders: Holders | null
  /** What nodes have reported of the last minute; undefined where it is not counted. */
  readonly recent?: MinuteCounts | undefined
}

type Holders = Readonly<Record<string, SlotHolder>>

/** The slots that a node holds, and how many more it wants. */
export type SlotHolder = readonly [held: number, wanted: number]

/** How long slots are remembered of which nothing is heard. */
export const slotsKeptMs = 60_000

/** How often a node reports slots that it holds and of which nothing changes. */
export const slotsRenewedMs = slotsKeptMs / 4

/** The nodes among which slots are divided. */
export interface SlotNodes {
  isLive(nodeId: string): boolean
  /** How many nodes may hold slots that are not stored, since the database has crashed; 1 otherwise. */
  readonly unknownCount: number
}

/** Whether the ask is about slots. */
export function isSlotAsk(ask: BudgetAsk): ask is SlotAsk {
  return "open" in ask
}

/**
 * Decides about tokens. `fullAt` is undefined for a limit of which nothing is stored. Adds to `recent`
 * what is counted.
 */
export function settleRate(
  { capacity, periodMs, ...ask }: RateAsk,
  fullAt: number | undefined,
  now: number,
  recent = ask.counted === undefined ? undefined : emptyCounts(),
): { readonly budget: Budget; readonly answer: RateAnswer } {
  const msPerToken = periodMs / capacity
  const before =
    fullAt === undefined ? ask.used - ask.spent : Math.max(0, fullAt - now) / msPerToken
  // The debt is at most the capacity, as in a TokenBucket.
  const reported = Math.min(before + ask.spent, 2 * capacity)
  const granted = Math.max(0, Math.min(ask.wanted, Math.floor(capacity - reported)))
  const used = reported + granted
  if (recent) addCount(recent, (ask.counted ?? 0) + granted, now)
  return {
    budget: { fullAt: now + Math.floor(used * msPerToken), holders: null, recent },
    answer: { used, granted },
  }
}

/**
 * Decides about slots: as many as the other nodes do not hold. While others want some too, no node
 * keeps more than its part, so that none waits for ever; nor while it is not known what they hold.
 */
export function settleSlots(
  { max, open, wanted }: SlotAsk,
  nodeId: string,
  holders: Holders,
  { isLive, unknownCount }: SlotNodes,
  now: number,
): { readonly budget: Budget; readonly answer: SlotAnswer } {
  const others = Object.entries(holders).filter(([id]) => id !== nodeId && isLive(id))
  const heldByOthers = others.reduce((sum, [, [held]]) => sum + held, 0)
  const share = Math.max(1, Math.floor(max / (others.length + 1)))
  // Up to their part only: otherwise each node would leave the remainder of the division to the others.
  const reserved = others
    .map(([, [has, more]]) => Math.min(more, Math.max(0, share - has)))
    .reduce((sum, count) => sum + count, 0)
  const fair = reserved === 0 ? max : Math.max(share, max - heldByOthers - reserved)
  const part = Math.max(1, Math.floor(max / unknownCount))
  const openMax = Math.max(0, Math.min(fair, part, max - heldByOthers))
  const held = Math.max(open, Math.min(wanted, openMax))
  const own: SlotHolder = [held, Math.max(0, wanted - held)]
  const all = own[0] + own[1] === 0 ? others : [...others, [nodeId, own] as const]
  return {
    budget: {
      fullAt: all.length === 0 ? now : now + slotsKeptMs,
      holders: Object.fromEntries(all),
    },
    answer: { held, openMax },
  }
}
