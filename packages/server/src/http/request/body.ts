import { readPieces } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"

const decoder = new TextDecoder("utf-8", { fatal: true })

/**
 * Reads the body of a request; throws as soon as it is larger than `bytesMax`. Senders, which are
 * user ids or addresses, take turns.
 */
export async function readBody(
  request: Request,
  bytesMax: number,
  sender: string,
): Promise<Uint8Array> {
  assertNotEncoded(request)
  const length = request.headers.get("content-length")
  if (length !== null && Number(length) > bytesMax) throw tooLarge(bytesMax)
  try {
    // Reading `request.body` would create a stream, which is slow for a small body.
    if (length !== null) return checkLength(await request.bytes(), bytesMax)
    return await readStream(request, bytesMax, sender)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    // The client disconnected, or its chunked encoding is invalid.
    throw new AppError("invalid_json", "Cannot read the body: it ended before it was complete", {
      cause,
    })
  }
}

/** Throws for a compressed body: the server does not decompress. */
export function assertNotEncoded(request: Request): void {
  const encoding = request.headers.get("content-encoding")
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new AppError(
      "unsupported_encoding",
      `Cannot read a body with content encoding "${encoding}": send it uncompressed`,
    )
  }
}

async function readStream(request: Request, bytesMax: number, sender: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of readPieces(request, sender)) {
    total += chunk.length
    if (total > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function checkLength(bytes: Uint8Array, bytesMax: number): Uint8Array {
  if (bytes.length > bytesMax) throw tooLarge(bytesMax)
  return bytes
}

function tooLarge(bytesMax: number): AppError {
  return new AppError("body_too_large", `Cannot accept a body of more than ${bytesMax} bytes`)
}

/**
 * Parses a body as JSON, whatever its content type: clients often send a wrong one. On a route that
 * takes code, a body of type text or JavaScript is the code itself, unless it is a JSON object with
 * a string `code`.
 */
export function parseBody(
  bytes: Uint8Array,
  contentType: string | null,
  isCodeBody: boolean,
): unknown {
  if (bytes.length === 0) return {}
  const text = decode(bytes)
  const isCodeType = isCodeBody && /^(text\/|[^;]*\/(x-)?javascript)/i.test(contentType ?? "")
  const value = parseJson(text)
  if (isCodeType && !hasCode(value)) return { code: text }
  if (value === undefined)
    throw new AppError("invalid_json", "Cannot read the body: it is not valid JSON")
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new AppError("invalid_json", "Cannot read the body: it is not UTF-8", { cause })
  }
}

/** Undefined for invalid JSON: no valid JSON text has this value. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function hasCode(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && "code" in value && typeof value.code === "string"
  )
}
