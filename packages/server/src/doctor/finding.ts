/**
 * Fine, a warning that the operator should know, or a failure that keeps the server from working.
 */
export type Status = "ok" | "warning" | "failure"

/** The result of one check. With --json it is printed as one line. */
export interface Finding {
  readonly check: string
  readonly status: Status
  /** What was found, for the operator. */
  readonly found: string
  /** How to fix it; null if there is nothing to do. */
  readonly mend: string | null
}

/** The result of a check, which may be about several things. */
export type Findings = readonly Finding[]

/** What findings are about. */
export type Topic = ReturnType<typeof about>

export function about(name: string) {
  const tell =
    (status: Status) =>
    (found: string, mend: string): Findings => [{ check: name, status, found, mend }]
  return {
    name,
    fine: (found: string): Findings => [{ check: name, status: "ok", found, mend: null }],
    /** The server works, but not as well as it could. */
    warning: tell("warning"),
    /** The server does not start, or cannot use its data. */
    failure: tell("failure"),
  }
}

const order: readonly Status[] = ["ok", "warning", "failure"]

export function worse(one: Status, other: Status): Status {
  return order.indexOf(one) > order.indexOf(other) ? one : other
}

/** The message of any thrown value. */
export function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const sizes = ["bytes", "kB", "MB", "GB", "TB"] as const

/** Formats a number of bytes. */
export function toSize(bytes: number): string {
  const power = Math.min(sizes.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${sizes[power]}`
}
