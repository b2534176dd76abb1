import { z } from "zod"

/**
 * The checks `min` and `max` of zod also look at the length of what is not of the type, and throw
 * where it cannot be compared, as in `{"length":{"toString":1}}`. These look only at what has a
 * length of its own.
 */
const when = ({ value }: { readonly value: unknown }) =>
  typeof value === "string" || Array.isArray(value)

const atMost = (maximum: number) =>
  new z.core.$ZodCheckMaxLength({ check: "max_length", maximum, when })
const atLeast = (minimum: number) =>
  new z.core.$ZodCheckMinLength({ check: "min_length", minimum, when })

/** A string of so many characters. */
export function chars(charsMax: number, charsMin = 0) {
  return charsMin > 0
    ? z.string().check(atLeast(charsMin), atMost(charsMax))
    : z.string().check(atMost(charsMax))
}

/** An array of so many items. */
export function list<Item extends z.ZodType>(item: Item, itemsMax: number, itemsMin = 0) {
  return itemsMin > 0
    ? z.array(item).check(atLeast(itemsMin), atMost(itemsMax))
    : z.array(item).check(atMost(itemsMax))
}

/** An email address of at most so many characters. */
export function email(charsMax: number) {
  return z.email().check(atMost(charsMax))
}
