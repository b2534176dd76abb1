import { limits } from "@hamlet/contract"
import { readPieces } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { IncomingContent } from "../../domain/blobs/uploads.ts"
import { assertNotEncoded } from "./body.ts"
import { invalidHeader } from "./preconditions.ts"

/** The body of a request, without parsing. Senders take turns. */
export function toContent(request: Request, sender: string): IncomingContent {
  assertNotEncoded(request)
  const length = parseLength(request.headers.get("content-length"))
  return {
    length,
    async bytes() {
      // Reading `request.body` would create a stream, which is slow for a small body.
      const bytes = await request.bytes().catch(throwIncomplete)
      return bytes.length === length ? bytes : throwIncomplete()
    },
    stream: () => readStream(request, length, sender),
  }
}

/** The content type that the client has declared. */
export function toContentType(request: Request): string | null {
  const type = request.headers.get("content-type")?.trim() ?? ""
  if (type === "") return null
  if (/^[\x20-\x7e]*$/.test(type) && type.length <= limits.blobTypeCharsMax) return type
  throw invalidHeader("content-type", `must be at most ${limits.blobTypeCharsMax} ASCII characters`)
}

/** Undefined for an invalid length, which Bun refuses before a request gets here. */
function parseLength(header: string | null): number | undefined {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}

async function* readStream(
  request: Request,
  length: number | undefined,
  sender: string,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  try {
    for await (const chunk of readPieces(request, sender)) {
      bytes += chunk.length
      yield chunk
    }
  } catch (cause) {
    throwIncomplete(cause)
  }
  if (length !== undefined && bytes !== length) throwIncomplete()
}

/** The client disconnected, or its chunked encoding is invalid. */
function throwIncomplete(cause?: unknown): never {
  throw new AppError("invalid_request", "Cannot read the body: it ended before it was complete", {
    cause,
  })
}
