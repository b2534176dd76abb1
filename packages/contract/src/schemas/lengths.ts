import { z } from "zod"

/**
 * zod's `min` and `max` also check the length of values of other types, and throw where it cannot
 * be compared, as in `{"length":{"toString":1}}`. These check only strings and arrays.
 */
const when = ({ value }: { readonly value: unknown }) =>
  typeof value === "string" || Array.isArray(value)

const atMost = (maximum: number) =>
  new z.core.$ZodCheckMaxLength({ check: "max_length", maximum, when })
const atLeast = (minimum: number) =>
  new z.core.$ZodCheckMinLength({ check: "min_length", minimum, when })

/** Each method of a schema copies it, and a copy takes some KB: the checks are added together. */
const string = z.string()

/** A string of limited length that passes the checks. */
export function chars(
  charsMax: number,
  charsMin = 0,
  ...checks: readonly z.core.$ZodCheck<string>[]
) {
  return charsMin > 0
    ? string.check(atLeast(charsMin), atMost(charsMax), ...checks)
    : string.check(atMost(charsMax), ...checks)
}

/** An array of limited length. */
export function list<Item extends z.ZodType>(item: Item, itemsMax: number, itemsMin = 0) {
  return itemsMin > 0
    ? z.array(item).check(atLeast(itemsMin), atMost(itemsMax))
    : z.array(item).check(atMost(itemsMax))
}

/** An email address of limited length. */
export function email(charsMax: number) {
  return z.email().check(atMost(charsMax))
}
