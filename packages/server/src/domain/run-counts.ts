/** Says which vals have had so many runs that some may have to go. */
export interface RunCounts {
  note(valId: string): void
  /** Those that are due, each once. */
  take(): readonly string[]
}

/** A val is due with its first run since the start, whatever there was before, and then with every so many runs. */
export function createRunCounts(limits: { readonly runsBetween: number; readonly valsMax: number }): RunCounts {
  const counts = new Map<string, number>()
  const due = new Set<string>()
  return {
    note(valId) {
      const count = counts.get(valId) ?? limits.runsBetween - 1
      if (count + 1 >= limits.runsBetween) due.add(valId)
      // Forgetting them all only means that some are looked at once more.
      if (counts.size >= limits.valsMax) counts.clear()
      counts.set(valId, (count + 1) % limits.runsBetween)
    },
    take() {
      const taken = [...due]
      due.clear()
      return taken
    },
  }
}
