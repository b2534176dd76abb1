import { AppError } from "../../domain/app-error.ts"

const decoder = new TextDecoder("utf-8", { fatal: true })

/** The bytes of a request's body, refused as soon as they are too many. */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  assertNotEncoded(request)
  const length = request.headers.get("content-length")
  if (length !== null && Number(length) > bytesMax) throw tooLarge(bytesMax)
  try {
    // To look at `body` makes a stream of it, which takes longer than everything else about a small
    // one.
    if (length !== null) return checkLength(await request.bytes(), bytesMax)
    return request.body ? await readStream(request.body, bytesMax) : new Uint8Array()
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    // The client went away, or sent chunks that are none.
    throw new AppError("invalid_json", "Cannot read the body: it ended before it was complete", {
      cause,
    })
  }
}

/** Refuses a body that is compressed: nobody here makes it what it was. */
export function assertNotEncoded(request: Request): void {
  const encoding = request.headers.get("content-encoding")
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new AppError(
      "unsupported_encoding",
      `Cannot read a body with content encoding "${encoding}": send it as it is`,
    )
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of stream) {
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
  return new AppError("body_too_large", `Cannot take a body of more than ${bytesMax} bytes`)
}

/**
 * The value of a body. It is read as JSON whatever its type says, since clients are careless with
 * it; only where a route takes code and the type is that of text or JavaScript, what is no JSON
 * object with a string `code` is the code itself.
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

/** Undefined, which no JSON text stands for, where the text is none. */
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
