import type { PageEntry, PageLevel } from "../../../page-console/page-message.ts"
import { toDuration } from "../../../ui/units.ts"

/** A line of the console of a page. */
export interface PageLine {
  /** When it came. */
  readonly at: string
  readonly level: PageLevel
  readonly message: string
  /** A path or an address of the page, and a line; may be empty. */
  readonly source: string
  /** Whether it says that a page was loaded. */
  readonly isPage: boolean
}

/** The line for what a page has told. */
export function toPageLine(entry: PageEntry): Omit<PageLine, "at"> {
  const base = { source: "", isPage: false }
  if (entry.kind === "line")
    return { ...base, level: entry.level, message: entry.text, source: entry.source }
  if (entry.kind === "page")
    return {
      ...base,
      level: "info",
      message: `── Page loaded: ${toOneLine(entry.path)} ──`,
      isPage: true,
    }
  if (entry.kind === "omitted")
    return {
      ...base,
      level: "warn",
      message: `… ${entry.count.toLocaleString("en")} more lines left out`,
    }
  const { method, url, status, ms, failure } = entry
  const outcome = failure === "" ? `${status}` : failure
  return {
    ...base,
    level: isFailed(entry) ? "error" : "log",
    message: toOneLine(`${method} ${url} → ${outcome}, ${toDuration(ms)}`),
  }
}

function isFailed({ status, failure }: Extract<PageEntry, { kind: "request" }>): boolean {
  // The page has stopped it, or asked for a response that it may not read.
  return status >= 400 || (failure !== "" && !/^(?:opaque|abort)/i.test(failure))
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, " ")
}
