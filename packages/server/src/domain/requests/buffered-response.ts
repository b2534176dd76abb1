import type { valResponse } from "@hamlet/contract"
import type { Stored } from "../records/stored.ts"
/** The response of a val, as far as it was read. */
export type BufferedResponse = Omit<Stored<typeof valResponse>, "statusText">

/** Reads a response to its end, or until it is too large or takes too long; then cancels it. */
export async function bufferResponse(
  response: Response,
  bytesMax: number,
  msMax: number,
): Promise<Omit<BufferedResponse, "durationMs">> {
  const { status, headers } = response
  const { bytes, isTruncated } = response.body
    ? await readUpTo(response.body, bytesMax, msMax)
    : { bytes: Buffer.alloc(0), isTruncated: false }
  const text = bytes.length === 0 ? "" : isText(headers) ? decode(bytes, isTruncated) : undefined
  return {
    status,
    headers: [...headers],
    body: text ?? bytes.toString("base64"),
    isBase64: text === undefined,
    isTruncated,
    runId: headers.get("x-run-id"),
  }
}

async function readUpTo(body: ReadableStream<Uint8Array>, bytesMax: number, msMax: number) {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let bytes = 0
  let isTruncated = false
  const cut = () => {
    isTruncated = true
    reader.cancel().catch(() => {})
  }
  const timer = setTimeout(cut, msMax)
  try {
    while (!isTruncated) {
      const { done, value } = await reader.read()
      if (done) break
      const room = bytesMax - bytes
      chunks.push(value.length > room ? value.subarray(0, room) : value)
      bytes += Math.min(value.length, room)
      if (value.length > room) cut()
    }
  } catch {
    // The val did not complete its response. Its run says why.
    isTruncated = true
  } finally {
    clearTimeout(timer)
  }
  return { bytes: Buffer.concat(chunks), isTruncated }
}

const textTypes =
  /^(?:text\/.*|application\/(?:json|javascript|ecmascript|xml|x-www-form-urlencoded|graphql|yaml|toml|x-ndjson|ndjson)|.*\+(?:json|xml|yaml))$/

/** Whether the headers declare uncompressed text that may be UTF-8. */
function isText(headers: Headers): boolean {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";")
  const charset = parameters
    .find((parameter) => parameter.trim().startsWith("charset="))
    ?.trim()
    .slice("charset=".length)
  const isUtf8 = charset === undefined || /^"?(?:utf-?8|us-ascii)"?$/.test(charset)
  const encoding = headers.get("content-encoding") ?? "identity"
  return textTypes.test(type.trim()) && isUtf8 && encoding.trim().toLowerCase() === "identity"
}

/** Undefined when it is not UTF-8. A truncated text may end within a character. */
function decode(bytes: Uint8Array, isTruncated: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: isTruncated,
    })
  } catch {
    return undefined
  }
}
