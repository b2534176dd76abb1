import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"

/**
 * Reads a response that may be large, chunk by chunk. It ends as the server has announced, or not at
 * all: a broken download must not pass for a complete one, and a server must neither send for ever
 * nor be silent for ever. `goal` completes "Cannot …".
 */
export async function* readDownload(
  { body, headers }: Pick<Response, "body" | "headers">,
  goal: string,
  { stalledMs, bytesMax }: { readonly stalledMs: number; readonly bytesMax: number } = {
    stalledMs: limits.stalledMs,
    bytesMax: limits.blobBytesMax,
  },
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body?.getReader()
  const announced = findLength(headers)
  let bytes = 0
  try {
    for (;;) {
      const chunk = await readChunk(reader, goal, stalledMs)
      if (chunk === undefined) break
      bytes += chunk.length
      if (bytes > (announced ?? bytesMax))
        throw new CliError(
          "failed",
          announced === undefined
            ? `Cannot ${goal}: the server sends more than ${bytesMax} bytes`
            : `Cannot ${goal}: the server sends more than the ${announced} bytes that it has announced`,
        )
      yield chunk
    }
  } finally {
    reader?.cancel().catch(() => {})
  }
  if (announced !== undefined && bytes < announced)
    throw toLost(goal, `after ${bytes} of ${announced} bytes`)
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function readChunk(
  reader: Reader | undefined,
  goal: string,
  stalledMs: number,
): Promise<Uint8Array | undefined> {
  const stalled = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => stalled.reject(toLost(goal, `nothing came for ${stalledMs / 1000} s`)),
    stalledMs,
  )
  try {
    const read = reader?.read()
    const next = await Promise.race([read, stalled.promise])
    return next?.value
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw toLost(goal, cause instanceof Error ? cause.message : String(cause), cause)
  } finally {
    clearTimeout(timer)
  }
}

function toLost(goal: string, how: string, cause?: unknown): CliError {
  return new CliError("unavailable", `Cannot ${goal}: the connection was lost (${how})`, {
    cause,
    advice: "try again",
  })
}

/** Undefined where the server announces none, or that of a compressed body. */
function findLength(headers: Headers): number | undefined {
  const length = headers.get("content-length")
  const isPlain = (headers.get("content-encoding") ?? "identity") === "identity"
  return isPlain && length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}
