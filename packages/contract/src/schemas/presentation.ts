import { limits } from "../limits.ts"
import { text } from "./fields.ts"
import { chars } from "./lengths.ts"

/** What a val is for, in one line of its owner; an empty one is none. */
export const description = text(limits.descriptionCharsMax)
  .nullable()
  .transform((value) => (value === "" ? null : value))

/**
 * A picture of a val: the address of one, or a small one itself, without the formats that can contain
 * scripts; an empty text is none.
 */
const imageUrl = chars(limits.imageUrlCharsMax)
  .refine(
    (value) => value === "" || isPicture(value) || isWebAddress(value),
    "must be an http or https URL without a user name, or a PNG, JPEG, WebP or GIF as data: URL in Base64",
  )
  .nullable()
  .transform((value) => (value === "" ? null : value))

/** How a val presents itself; what is absent stays. */
export const presentation = { description: description.optional(), imageUrl: imageUrl.optional() }

function isPicture(value: string): boolean {
  return /^data:image\/(?:png|jpeg|webp|gif);base64,[a-zA-Z0-9+/]+={0,2}$/.test(value)
}

/** Of characters that every URL parser treats alike. */
export function isWebAddress(value: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(value)) return false
  const parsed = URL.parse(value)
  return parsed !== null && parsed.username === "" && parsed.password === ""
}
