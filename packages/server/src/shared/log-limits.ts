/** How much of what a client sends is in a line of the log. */
export const logLimits = {
  methodCharsMax: 20,
  pathCharsMax: 1_000,
  /** An address is shorter; what a header says need not be one. */
  addressCharsMax: 100,
}
