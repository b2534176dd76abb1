import type { Blobs, StoredBlob } from "../../domain/blobs/blobs.ts"
import { findRange, type Range } from "../request/range.ts"
import { type ApiResponse, toBodyStream } from "./api-response.ts"

const limits = {
  /** A blob up to this size is read before the response begins: it cannot fail halfway. */
  wholeBytesMax: 1_048_576,
}

// A blob may be a page with scripts, and this is the origin of the API: browsers must not render,
// sniff or run it.
const safetyHeaders = {
  "content-security-policy": "sandbox; default-src 'none'",
  "content-disposition": "attachment",
}

/** Sends a blob, or the requested range of it. */
export async function toBlobResponse(
  blobs: Blobs,
  blob: StoredBlob,
  request: Request,
  onError: (error: unknown) => void,
): Promise<ApiResponse> {
  const etag = toEtag(blob)
  const part = findRange(request.headers, blob.size, etag)
  const { start, end } = part ?? { start: 0, end: blob.size }
  const headers = {
    ...safetyHeaders,
    "content-type": blob.contentType ?? "application/octet-stream",
    "content-length": String(end - start),
    "last-modified": new Date(blob.modifiedAt).toUTCString(),
    "accept-ranges": "bytes",
    etag,
    ...(part ? { "content-range": `bytes ${start}-${end - 1}/${blob.size}` } : {}),
  }
  const status = part ? 206 : 200
  if (request.method === "HEAD") return { status, headers, body: null }
  return { status, headers, ...(await toBody(blobs, blob.content, { start, end }, onError)) }
}

/** Different content has a different tag, even when stored in the same millisecond. */
function toEtag({ content, modifiedAt }: StoredBlob): string {
  return `"${modifiedAt.toString(36)}-${content instanceof Uint8Array ? Bun.hash(content).toString(36) : content.id}"`
}

async function toBody(
  blobs: Blobs,
  content: StoredBlob["content"],
  { start, end }: Range,
  onError: (error: unknown) => void,
): Promise<Pick<ApiResponse, "body" | "stream">> {
  if (content instanceof Uint8Array) return { body: content.subarray(start, end) }
  const chunks = blobs.read(content, start, end)
  if (end - start <= limits.wholeBytesMax)
    return { body: Buffer.concat(await Array.fromAsync(chunks)) }
  // The first chunk is read before the response begins, so that an unreadable object is an error.
  let first: IteratorResult<Uint8Array, void> | undefined = await chunks.next()
  const next = async () => {
    const { value } = first ?? (await chunks.next())
    first = undefined
    return value ?? undefined
  }
  return { body: null, stream: toBodyStream(next, () => chunks.return(), onError) }
}
