import { limits } from "../limits.ts"
import { chars } from "./lengths.ts"

/** Where a page begins: after the item of which the list's order has these keys. */
export interface Cursor {
  readonly keys: CursorKeys
}

/** What a list is ordered by, of one item. */
export type CursorKeys = readonly CursorKey[]

/** One of them: a time, a count, an id, a name, or null where the item has none. */
export type CursorKey = string | number | null

/**
 * The cursor as clients get it. It says nothing that the item itself does not, and no more is seen
 * with it: it only leaves out.
 */
export function toCursorText(keys: CursorKeys): string {
  return btoa(JSON.stringify(keys)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/**
 * A cursor as clients send it: as they got it, or, from the official client of before 1.0, the
 * whole link that has it.
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
    // It is not base64, or not JSON.
    return undefined
  }
}

/** Names are ASCII, and so is everything else: what is not was never in a cursor of ours. */
function isKey(key: unknown): boolean {
  return (
    key === null ||
    Number.isSafeInteger(key) ||
    (typeof key === "string" && /^[\x20-\x7e]{1,200}$/.test(key))
  )
}
