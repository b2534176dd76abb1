/**
 * Says which vals or accounts have had so many runs, or so many bytes of them, that some may have
 * to go.
 */
export interface ActiveRunCounts {
  note(id: string, amount?: number): void
  /** Those that are due, each once. */
  take(): readonly string[]
}

/**
 * One is due with its first run since the start, whatever there was before, and then with every so
 * many runs or bytes.
 */
export function createActiveRunCounts(limits: {
  readonly between: number
  readonly idsMax: number
}): ActiveRunCounts {
  const counts = new Map<string, number>()
  const due = new Set<string>()
  return {
    note(id, amount = 1) {
      const count = (counts.get(id) ?? limits.between - amount) + amount
      if (count >= limits.between) due.add(id)
      // Forgetting them all only means that some are looked at once more.
      if (counts.size >= limits.idsMax) counts.clear()
      counts.set(id, count % limits.between)
    },
    take() {
      const taken = [...due]
      due.clear()
      return taken
    },
  }
}
