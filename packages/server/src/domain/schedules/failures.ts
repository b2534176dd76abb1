/** After how many failures in a row something happens. */
export const failureLimits = {
  /** The owner is told. */
  failingAfter: 10,
}
