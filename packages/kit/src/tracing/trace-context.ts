import { randomBytes } from "node:crypto"

/** The place of a request in a trace, as the headers `traceparent` and `tracestate` carry it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
  /** What other systems have added, as it came; empty for nothing. */
  readonly state: string
}

const limits = { headerCharsMax: 128, stateCharsMax: 512, randomBytes: 2_048 }

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const statePattern = /^[\x20-\x7e]*$/

/**
 * Reads the headers of a request. Undefined for none and for an invalid one, several included: the
 * request then begins a trace.
 */
export function parseTraceparent(
  header: string | null | undefined,
  state?: string | null,
): TraceContext | undefined {
  if (!header || header.length > limits.headerCharsMax) return undefined
  const [, version, traceId, spanId, flags] = pattern.exec(header) ?? []
  if (!traceId || !spanId || !flags || version === "ff" || isZero(traceId) || isZero(spanId))
    return undefined
  // Only a later version may be longer.
  if (version === "00" && header.length !== 55) return undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId, isSampled, state: toState(state) }
}

/** The header of a request that the span has caused. */
export function toTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`
}

/** A UUID as the id of a trace: the logs, the API and the collector then show the same digits. */
export function toTraceId(uuid: string): string {
  return (
    uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24)
  )
}

/** Random digits for the next ids: to ask for many at once takes half as long. */
let digits = ""
let used = 0

export function newSpanId(): string {
  if (used === digits.length) {
    digits = randomBytes(limits.randomBytes).toString("hex")
    used = 0
  }
  used += 16
  return digits.slice(used - 16, used)
}

function isZero(id: string): boolean {
  return /^0+$/.test(id)
}

/** A state that is too long or not ASCII is left out, as the specification allows. */
function toState(state: string | null | undefined): string {
  return state && state.length <= limits.stateCharsMax && statePattern.test(state) ? state : ""
}
