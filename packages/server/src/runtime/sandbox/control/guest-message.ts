import type { ErrorText, GuestMessage, LogLevel } from "@hamlet/guest/protocol"

/**
 * Reads a line that a guest wrote; undefined when it is nothing that a guest may say. By hand,
 * since a schema library would take most of the time of a val that logs a lot. What comes out has
 * exactly the fields of the protocol, however much else was in the line.
 */
export function parseGuestMessage(line: string): GuestMessage | undefined {
  const message = parseObject(line)
  if (!message) return undefined
  switch (message.kind) {
    case "log":
      return toLog(message)
    case "logs_cut":
      return typeof message.run === "string" ? { kind: "logs_cut", run: message.run } : undefined
    case "uncaught": {
      const error = toErrorText(message.error)
      return error && typeof message.run === "string"
        ? { kind: "uncaught", run: message.run, error }
        : undefined
    }
    case "refused":
      return toRefused(message)
    case "loaded":
      return typeof message.isCallable === "boolean"
        ? { kind: "loaded", isCallable: message.isCallable }
        : undefined
    case "load_failed": {
      const error = toErrorText(message.error)
      return error && { kind: "load_failed", error }
    }
    case "warm":
      return { kind: "warm" }
    case "pong":
      return { kind: "pong" }
    default:
      return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The last moment that a Date can hold. */
const timeMsMax = 8.64e15
const headersMax = 1000
const levels: ReadonlySet<unknown> = new Set<LogLevel>(["debug", "log", "info", "warn", "error"])

function parseObject(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null
}

function toLog({ run, at, level, message }: Fields): GuestMessage | undefined {
  if (
    typeof run !== "string" ||
    typeof message !== "string" ||
    typeof at !== "number" ||
    !levels.has(level)
  )
    return undefined
  if (!(Math.abs(at) <= timeMsMax)) return undefined
  return { kind: "log", run, at, level: level as LogLevel, message }
}

function toRefused({ run, status, headers, body }: Fields): GuestMessage | undefined {
  if (
    typeof run !== "string" ||
    typeof body !== "string" ||
    !Number.isInteger(status) ||
    !Array.isArray(headers)
  )
    return undefined
  // What a Response can be made with; 1xx, and what has no body, are not answers to an upgrade
  // request.
  if ((status as number) < 200 || (status as number) > 599 || headers.length > headersMax)
    return undefined
  if (!headers.every(isHeader)) return undefined
  return {
    kind: "refused",
    run,
    status: status as number,
    headers: headers.map(([name, value]) => [name, value] as const),
    body,
  }
}

function isHeader(value: unknown): value is [string, string] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    typeof value[0] === "string" &&
    typeof value[1] === "string"
  )
}

function toErrorText(value: unknown): ErrorText | undefined {
  if (!isFields(value)) return undefined
  const { name, message, stack } = value
  if (typeof name !== "string" || typeof message !== "string") return undefined
  if (stack === undefined) return { name, message }
  return typeof stack === "string" ? { name, message, stack } : undefined
}
