import type { ErrorText, GuestMessage, LogLevel } from "@hamlet/guest/protocol"
import { parseJson } from "@hamlet/kit"

/**
 * Parses a line that a guest sent. Undefined when it is not a message of the protocol. Written by
 * hand, because a schema library would take most of the time of a program that logs a lot. The result
 * has only the fields of the protocol, whatever else the line contains.
 */
export function parseGuestMessage(line: string): GuestMessage | undefined {
  const message = parseObject(line)
  if (!message) return undefined
  switch (message.kind) {
    case "log":
      return toLog(message)
    case "logs_skipped":
      return toSkipped(message)
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
    case "read_file":
      return toReadFile(message)
    case "warm":
      return { kind: "warm" }
    case "pong":
      return { kind: "pong" }
    default:
      return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The largest time that a Date can hold. */
const timeMsMax = 8.64e15
const headersMax = 1000
const levels: ReadonlySet<unknown> = new Set<LogLevel>(["debug", "log", "info", "warn", "error"])

/** The length of a line, which the control channel checks in bytes. */
const lineCharsMax = 1_048_576

function parseObject(line: string): Fields | undefined {
  try {
    const value: unknown = parseJson(line, lineCharsMax)
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

function toSkipped({ run, lines }: Fields): GuestMessage | undefined {
  const isCount = typeof lines === "number" && Number.isSafeInteger(lines) && lines > 0
  return typeof run === "string" && isCount ? { kind: "logs_skipped", run, lines } : undefined
}

/** Longer than the path of any file. */
const pathCharsMax = 1_000

function toReadFile({ id, path }: Fields): GuestMessage | undefined {
  const isPath = path === null || (typeof path === "string" && path.length <= pathCharsMax)
  return typeof id === "number" && Number.isSafeInteger(id) && isPath
    ? { kind: "read_file", id, path }
    : undefined
}

function toRefused({ run, status, headers, body }: Fields): GuestMessage | undefined {
  if (
    typeof run !== "string" ||
    typeof body !== "string" ||
    !Number.isInteger(status) ||
    !Array.isArray(headers)
  )
    return undefined
  // The statuses that a Response can have. 1xx is not a response to an upgrade request.
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
