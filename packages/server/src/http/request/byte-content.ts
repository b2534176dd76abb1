import { limits } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { IncomingContent } from "../../domain/blobs/blobs.ts"
import { assertNotEncoded } from "./body.ts"

/** The body of a request, to be taken as it is. */
export function toContent(request: Request): IncomingContent {
  assertNotEncoded(request)
  const length = parseLength(request.headers.get("content-length"))
  return {
    length,
    async bytes() {
      // To look at `body` makes a stream of it, which takes longer than everything else about a
      // small one.
      const bytes = await request.bytes().catch(brokenOff)
      return bytes.length === length ? bytes : brokenOff()
    },
    stream: () => readStream(request, length),
  }
}

/** The type that the body is of, as the client says. */
export function toContentType(request: Request): string | null {
  const type = request.headers.get("content-type")?.trim() ?? ""
  if (type === "") return null
  if (/^[\x20-\x7e]*$/.test(type) && type.length <= limits.blobTypeCharsMax) return type
  const message = `must be at most ${limits.blobTypeCharsMax} ASCII characters`
  throw new AppError("invalid_request", `Cannot accept header content-type: it ${message}`, {
    issues: [{ path: "content-type", message }],
  })
}

/** A length that is none does not get here over a socket, and says nothing. */
function parseLength(header: string | null): number | undefined {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}

async function* readStream(
  request: Request,
  length: number | undefined,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  try {
    for await (const piece of request.body ?? []) {
      bytes += piece.length
      yield piece
    }
  } catch (cause) {
    brokenOff(cause)
  }
  if (length !== undefined && bytes !== length) brokenOff()
}

/** The client went away, or sent chunks that are none. */
function brokenOff(cause?: unknown): never {
  throw new AppError("invalid_request", "Cannot read the body: it ended before it was complete", {
    cause,
  })
}
