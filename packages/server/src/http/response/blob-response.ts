import type { StoredBlob } from "../../domain/blobs/blobs.ts"
import type { ObjectStore } from "../../domain/blobs/objects.ts"
import { findRange, type Range } from "../request/range.ts"
import type { ApiResponse } from "./api-response.ts"

const limits = {
  /**
   * Up to this size a blob is answered with in one piece: it arrives whole or not at all, and its
   * length is told.
   */
  wholeBytesMax: 1_048_576,
}

// What users store may be a page with scripts, and this is the origin of the API: no browser shows
// it, guesses what it is or runs it.
const harmless = {
  "content-security-policy": "sandbox; default-src 'none'",
  "content-disposition": "attachment",
}

/** The answer with a blob, or with the part of it that is asked for. */
export async function toBlobResponse(
  objects: ObjectStore,
  blob: StoredBlob,
  request: Request,
  onBroken: (error: unknown) => void,
): Promise<ApiResponse> {
  const etag = toEtag(blob)
  const part = findRange(request.headers, blob.size, etag)
  const { start, end } = part ?? { start: 0, end: blob.size }
  const headers = {
    ...harmless,
    "content-type": blob.contentType ?? "application/octet-stream",
    "content-length": String(end - start),
    "last-modified": new Date(blob.modifiedAt).toUTCString(),
    "accept-ranges": "bytes",
    etag,
    ...(part ? { "content-range": `bytes ${start}-${end - 1}/${blob.size}` } : {}),
  }
  const status = part ? 206 : 200
  if (request.method === "HEAD") return { status, headers, body: null }
  return { status, headers, ...(await toBody(objects, blob.content, { start, end }, onBroken)) }
}

/** New content has another tag, even when it is stored in the same millisecond. */
function toEtag({ content, modifiedAt }: StoredBlob): string {
  return `"${modifiedAt.toString(36)}-${content instanceof Uint8Array ? Bun.hash(content).toString(36) : content.id}"`
}

async function toBody(
  objects: ObjectStore,
  content: StoredBlob["content"],
  { start, end }: Range,
  onBroken: (error: unknown) => void,
): Promise<Pick<ApiResponse, "body" | "stream">> {
  if (content instanceof Uint8Array) return { body: content.subarray(start, end) }
  const pieces = objects.read(content, start, end)
  if (end - start <= limits.wholeBytesMax)
    return { body: Buffer.concat(await Array.fromAsync(pieces)) }
  // The first piece before the answer begins: what cannot be read at all is an error, not an answer
  // that breaks off.
  const first = await pieces.next()
  return { body: null, stream: toStream(first, pieces, onBroken) }
}

function toStream(
  first: IteratorResult<Uint8Array, void>,
  pieces: AsyncGenerator<Uint8Array, void>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array, void> | undefined = first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = next ?? (await pieces.next())
          next = undefined
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          onBroken(error)
          // Bun prints whatever else a stream breaks with. The connection ends in the middle, so
          // that nobody takes what came for the whole.
          controller.error(undefined)
        }
      },
      async cancel() {
        await pieces.return()
      },
    },
    { highWaterMark: 0 },
  )
}
