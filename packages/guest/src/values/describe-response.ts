import {
  arrayPush,
  decodeBeginning,
  decodeStrictly,
  headersForEach,
  isArray,
  responseHeaders,
  responseStatus,
  toBase64,
} from "../primordials.ts"
import { readBody } from "../requests/read-body.ts"

/**
 * Converts a Response that a call returned to a value, `{ status, headers, body }`. The body is
 * text, or base64 if it is not UTF-8.
 */
export async function describeResponse(
  response: Response,
  bytesMax: number,
): Promise<{ value: unknown; isTruncated: boolean }> {
  const { bytes, isTruncated } = await readBody(response, bytesMax)
  return {
    value: {
      status: responseStatus(response),
      headers: describeHeaders(responseHeaders(response)),
      body: toText(bytes, isTruncated),
    },
    isTruncated,
  }
}

/** A header that occurs several times, as Set-Cookie may, is an array. */
export function describeHeaders(headers: Headers): Record<string, string | string[]> {
  const described: Record<string, string | string[]> = Object.create(null)
  headersForEach(headers, (value, name) => {
    const before = described[name]
    if (before === undefined) described[name] = value
    else if (isArray(before)) arrayPush(before, value)
    else described[name] = [before, value]
  })
  return described
}

function toText(bytes: Uint8Array, isTruncated: boolean): string {
  try {
    return isTruncated ? decodeBeginning(bytes) : decodeStrictly(bytes)
  } catch {
    return toBase64(bytes)
  }
}
