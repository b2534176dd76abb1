import { quote } from "./control/outbox.ts"
import { toJson, type ValueText } from "./values/to-json.ts"
import { countBytes, cutToBytes } from "./values/utf8.ts"

const cutMark = "… [cut]"

/**
 * JSON that is too long becomes a string with its beginning, which is JSON again but no longer the
 * value.
 */
export function toReturned(value: unknown, bytesMax: number): ValueText {
  const { json, isTruncated } = toJson(value, bytesMax)
  if (!isTruncated && countBytes(json) <= bytesMax) return { json, isTruncated }
  return { json: quote(cutToBytes(json, bytesMax) + cutMark), isTruncated: true }
}
