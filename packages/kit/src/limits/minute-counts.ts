const limits = {
  /** The last minute is the current slot and the five before it. */
  slotMs: 10_000,
  slotCount: 6,
}

/** Counts of the last minute, in slots of ten seconds. */
export interface MinuteCounts {
  /** The number of the current slot, counted from 1970. */
  slot: number
  readonly counts: number[]
}

export function emptyCounts(): MinuteCounts {
  return { slot: 0, counts: new Array<number>(limits.slotCount).fill(0) }
}

/** Counts an amount at a time. */
export function addCount(counts: MinuteCounts, amount: number, nowMs: number): void {
  advance(counts, nowMs)
  const index = counts.slot % limits.slotCount
  counts.counts[index] = (counts.counts[index] ?? 0) + amount
}

/** What was counted in the last 50 to 60 seconds. */
export function sumCounts(counts: MinuteCounts, nowMs: number): number {
  advance(counts, nowMs)
  return counts.counts.reduce((sum, count) => sum + count, 0)
}

/** Clears the slots that have passed; all of them if the clock was set back. */
function advance(counts: MinuteCounts, nowMs: number): void {
  const slot = Math.floor(nowMs / limits.slotMs)
  const passed = slot - counts.slot
  if (passed < 0 || passed >= limits.slotCount) counts.counts.fill(0)
  else for (let back = 0; back < passed; back++) counts.counts[(slot - back) % limits.slotCount] = 0
  counts.slot = slot
}
