const units = ["bytes", "KB", "MB", "GB", "TB"] as const

/** A number of bytes as one says it: `3.2 MB`. */
export function toBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
