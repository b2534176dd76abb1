const units = ["bytes", "KB", "MB", "GB", "TB"] as const

/** A number of bytes with the unit that fits: `3.2 MB`. */
export function toBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

/** A duration with the unit that fits: `12 ms`, `3.4 s`, `2 min 5 s`. */
export function toDuration(ms: number | null): string {
  if (ms === null) return "…"
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}
