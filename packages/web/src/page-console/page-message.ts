/** The levels of lines, the least severe first. */
export const pageLevels = ["debug", "log", "info", "warn", "error"] as const

/** The level of a line. */
export type PageLevel = (typeof pageLevels)[number]

/** What the page of a val tells the app. */
export type PageEntry =
  /** A page has begun to load. */
  | { readonly kind: "page"; readonly path: string }
  | {
      readonly kind: "line"
      readonly level: PageLevel
      readonly text: string
      /** A path or an address, and a line; empty if it is unknown. */
      readonly source: string
    }
  | {
      readonly kind: "request"
      readonly method: string
      readonly url: string
      /** 0 if there was no response, or one that the page may not read. */
      readonly status: number
      readonly ms: number
      /** Why there was no response; otherwise empty. */
      readonly failure: string
    }
  | { readonly kind: "omitted"; readonly count: number }

/** The limits of a message, which the script keeps and the app checks. */
export const pageLimits = {
  entriesMax: 200,
  textCharsMax: 4_000,
  urlCharsMax: 300,
  methodCharsMax: 20,
  /** All texts of a message. JSON has up to six characters for one. */
  textsCharsMax: 100_000,
  messageCharsMax: 700_000,
} as const

/** A page sends other messages too. */
const prefix = "hamlet-page-console:"

/** The message with the entries: a text, whose size is known before it is read. */
export function toPageMessage(entries: readonly PageEntry[]): string {
  return prefix + JSON.stringify(entries)
}

/**
 * Reads a message of a page, which may be made up. Undefined if it is none; entries that are not what
 * they should be are left out, and long texts are cut.
 */
export function parsePageMessage(data: unknown): readonly PageEntry[] | undefined {
  if (typeof data !== "string" || data.length > pageLimits.messageCharsMax) return undefined
  if (!data.startsWith(prefix)) return undefined
  try {
    const entries: unknown = JSON.parse(data.slice(prefix.length))
    if (!Array.isArray(entries)) return undefined
    return entries.slice(0, pageLimits.entriesMax).flatMap((entry) => toEntry(entry) ?? [])
  } catch {
    return undefined
  }
}

function toEntry(value: unknown): PageEntry | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const entry = value as Readonly<Record<string, unknown>>
  const { textCharsMax, urlCharsMax, methodCharsMax } = pageLimits
  const { kind } = entry
  if (kind === "page") return { kind, path: toText(entry.path, urlCharsMax) }
  if (kind === "omitted") return { kind, count: toNumber(entry.count) }
  if (kind === "line") {
    const level = pageLevels.find((known) => known === entry.level)
    const text = toText(entry.text, textCharsMax)
    return level && { kind, level, text, source: toText(entry.source, urlCharsMax) }
  }
  if (kind !== "request") return undefined
  return {
    kind,
    method: toText(entry.method, methodCharsMax),
    url: toText(entry.url, urlCharsMax),
    status: toNumber(entry.status),
    ms: toNumber(entry.ms),
    failure: toText(entry.failure, urlCharsMax),
  }
}

function toText(value: unknown, charsMax: number): string {
  return typeof value === "string" ? value.slice(0, charsMax) : ""
}

function toNumber(value: unknown): number {
  return typeof value === "number" && value >= 0 && value < 1e9 ? Math.round(value * 10) / 10 : 0
}
