/** What the host keeps of a program and of its runs. */
export const programLimits = {
  /** The JSON of arguments or of a result, and an error. */
  valueBytesMax: 100_000,
  /** The lines that one run logs. */
  logBytesMax: 100_000,
  /** The code of one module. */
  moduleCharsMax: 256_000,
} as const
