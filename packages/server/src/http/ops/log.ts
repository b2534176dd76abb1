/** How much is written down; each level includes those after it. */
export const logLevels = ["debug", "info", "warn", "error", "none"] as const

/** How much is written down. */
export type LogLevel = (typeof logLevels)[number]

/**
 * What happened, one JSON object a line. Callers never hand in a token, a secret, a body or a query
 * string.
 */
export interface Log {
  debug(event: string, fields?: object): void
  info(event: string, fields?: object): void
  warn(event: string, fields?: object): void
  error(event: string, fields?: object): void
  /** Whether lines of that level are written at all. */
  writes(level: Exclude<LogLevel, "none">): boolean
  /** Writes what still waits. */
  flush(): void
}

const limits = { bufferCharsMax: 65_536, delayMs: 100 }

/** Lines are gathered for a moment: one write for many requests instead of one for each. */
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
  const writes = (wanted: Exclude<LogLevel, "none">) =>
    logLevels.indexOf(wanted) >= logLevels.indexOf(level)
  const at = (wanted: Exclude<LogLevel, "none">) => {
    if (!writes(wanted)) return () => {}
    return (event: string, fields: object = {}) => {
      // The fields go last, as they are: copying them into a new object would double the cost of
      // the line that every request writes.
      const rest = toJsonObject(fields).slice(1)
      buffer += `{"at":"${new Date(now()).toISOString()}","level":"${wanted}","event":"${event}"${rest === "}" ? "" : ","}${rest}\n`
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

/** Whatever is handed in, the line is one JSON object, and never the reason why a request fails. */
function toJsonObject(fields: object): string {
  try {
    const text = JSON.stringify(fields)
    return (text?.startsWith("{") ? text : JSON.stringify({ fields: text })).replaceAll(
      obeyed,
      toEscape,
    )
  } catch {
    return '{"fields":"no JSON"}'
  }
}

/** What JSON may hold as it is, but a terminal obeys, or takes for the end of a line. */
const obeyed = /[\x7f-\x9f\u2028\u2029]/g

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}
