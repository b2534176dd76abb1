/**
 * How something stands: as it should, so that one ought to know, or so that the server cannot do
 * its work.
 */
export type Status = "ok" | "warning" | "failure"

/** What one look at the machine has shown. One line of JSON each, for whoever asks for that. */
export interface Finding {
  readonly check: string
  readonly status: Status
  /** How things stand, in words for the operator. */
  readonly found: string
  /** What to do about it; null where there is nothing to do. */
  readonly mend: string | null
}

/** All is well. */
export function fine(check: string, found: string): Finding {
  return { check, status: "ok", found, mend: null }
}

/** The server works, but not as well as it could. */
export function warning(check: string, found: string, mend: string): Finding {
  return { check, status: "warning", found, mend }
}

/** The server does not start, or not with what it has. */
export function failure(check: string, found: string, mend: string): Finding {
  return { check, status: "failure", found, mend }
}

const order: readonly Status[] = ["ok", "warning", "failure"]

/** The worse of two. */
export function worse(one: Status, other: Status): Status {
  return order.indexOf(one) > order.indexOf(other) ? one : other
}

/** What an error says, whoever threw it. */
export function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const sizes = ["bytes", "kB", "MB", "GB", "TB"] as const

/** A number of bytes as people read it. */
export function toSize(bytes: number): string {
  const power = Math.min(sizes.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${sizes[power]}`
}
