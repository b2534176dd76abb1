import { replaceEach, toOwnJson } from "@hamlet/kit"

/** The log levels; each includes those after it. */
export const logLevels = ["debug", "info", "warn", "error", "none"] as const

/** A log level. */
export type LogLevel = (typeof logLevels)[number]

/** Writes one JSON object per line. Callers never log a token, a secret, a body or a query. */
export interface Log {
  debug(event: string, fields?: object): void
  info(event: string, fields?: object): void
  warn(event: string, fields?: object): void
  error(event: string, fields?: object): void
  /** Whether lines of that level are written. */
  writes(level: Exclude<LogLevel, "none">): boolean
  /** Writes the buffered lines. */
  flush(): void
}

const limits = { bufferCharsMax: 65_536, delayMs: 100, lineCharsMax: 1_000_000 }

/** Buffers lines for a short time: one write for many requests instead of one for each. */
export function createLog(
  level: LogLevel,
  write: (text: string) => void,
  now: () => number = Date.now,
): Log {
  let buffer = ""
  let timer: Timer | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (buffer !== "") write(buffer)
    buffer = ""
  }
  const writes = (lineLevel: Exclude<LogLevel, "none">) =>
    logLevels.indexOf(lineLevel) >= logLevels.indexOf(level)
  const at = (lineLevel: Exclude<LogLevel, "none">) => {
    if (!writes(lineLevel)) return () => {}
    return (event: string, fields: object = {}) => {
      // The fields are appended as text: copying them into a new object would double the cost of the
      // line, and every request writes one.
      const rest = toJsonObject(fields).slice(1)
      buffer += `{"at":"${new Date(now()).toISOString()}","level":"${lineLevel}","event":"${event}"${rest === "}" ? "" : ","}${rest}\n`
      if (buffer.length > limits.bufferCharsMax) flush()
      else timer ??= setTimeout(flush, limits.delayMs).unref()
    }
  }
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    writes,
    flush,
  }
}

/** Never throws, so that logging cannot fail a request; always returns one JSON object. */
function toJsonObject(fields: object): string {
  try {
    const text = toOwnJson(fields)
    const object = text?.startsWith("{") ? text : toOwnJson({ fields: text })
    return replaceEach(object, controlCharacters, toEscape, limits.lineCharsMax)
  } catch {
    return '{"fields":"not serializable"}'
  }
}

/** Allowed in JSON, but interpreted by terminals, or treated as a line break. */
const controlCharacters = /[\x7f-\x9f\u2028\u2029]/g

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}
