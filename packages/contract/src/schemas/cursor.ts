import { limits } from "../limits.ts"
import { chars } from "./lengths.ts"

/** Where a page starts: after the item with these sort keys. */
export interface Cursor {
  readonly keys: CursorKeys
}

/** The sort keys of one item. */
export type CursorKeys = readonly CursorKey[]

/** One sort key: a time, a count, an id, a name, or null. */
export type CursorKey = string | number | null

/**
 * Encodes a cursor for clients. It contains nothing that the item does not show, and grants no
 * access: it only skips items.
 */
export function toCursorText(keys: CursorKeys): string {
  return btoa(JSON.stringify(keys)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/**
 * Parses a cursor from a client: as it was sent, or as the whole link, which the official client
 * sends before 1.0.
 */
export const cursorParam = chars(limits.cursorCharsMax, 1)
  .transform((value, context): Cursor => {
    const keys = parseCursor(
      /^https?:/i.test(value) ? (URL.parse(value)?.searchParams.get("cursor") ?? "") : value,
    )
    if (keys === undefined)
      context.addIssue({ code: "custom", message: "must be the cursor of a link to a next page" })
    return { keys: keys ?? [] }
  })
  .meta({ wire: { type: "string", minLength: 1, maxLength: limits.cursorCharsMax } })

function parseCursor(text: string): CursorKeys | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined
  try {
    const keys: unknown = JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")))
    const isSound =
      Array.isArray(keys) &&
      keys.length > 0 &&
      keys.length <= limits.cursorKeysMax &&
      keys.every(isKey)
    return isSound ? (keys as CursorKeys) : undefined
  } catch {
    // Not base64, or not JSON.
    return undefined
  }
}

/** The longest are paths. */
const keyPattern = new RegExp(`^[\\x20-\\x7e]{1,${limits.filePathCharsMax}}$`)

/** All keys are ASCII: anything else was never in one of our cursors. */
function isKey(key: unknown): boolean {
  return (
    key === null || Number.isSafeInteger(key) || (typeof key === "string" && keyPattern.test(key))
  )
}
