import { currentWork, withinTime } from "@hamlet/kit"
import type { NetworkSink, S3Client } from "bun"
import { AppError } from "../../domain/app-error.ts"
import type { ContentStore } from "./object-chunks.ts"

/** A bucket of any service with the S3 protocol. */
export interface Bucket {
  readonly bucket: string
  readonly endpoint: string | undefined
  readonly region: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const limits = {
  /** The smallest part that the protocol allows, and the most parts. */
  partBytesMin: 5 * 1024 ** 2,
  partsMax: 10_000,
  partsAtOnce: 2,
  retriesMax: 3,
  /** Bytes read at a time. */
  readBytes: 4 * 1024 ** 2,
  /** How long the bucket may take to respond. */
  responseMsMax: 60_000,
  /** Spans of one upload or download: a large one takes thousands of requests. */
  spansMax: 50,
}

/** Content in a bucket, one S3 object for each. */
export function createBucketContent(bucket: Bucket, objectBytesMax: number): ContentStore {
  const client = new Bun.S3Client({
    bucket: bucket.bucket,
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey,
    ...(bucket.endpoint === undefined ? {} : { endpoint: bucket.endpoint }),
    ...(bucket.region === undefined ? {} : { region: bucket.region }),
  })
  const partBytes = Math.max(limits.partBytesMin, Math.ceil(objectBytesMax / limits.partsMax))
  return {
    async write(id, pieces) {
      const trace = createTrace("bucket write", bucket)
      const writer = client
        .file(toKey(id))
        .writer({ partSize: partBytes, queueSize: limits.partsAtOnce, retry: limits.retriesMax })
      try {
        await writeAll(writer, pieces, partBytes, trace)
      } catch (error) {
        // Bun cannot abort an upload. A completed one is deleted like any other object; one left
        // open would be stored, and charged for, forever.
        await ask(() => writer.end()).catch(() => {})
        throw error
      }
      await trace(() => ask(() => writer.end()))
    },
    // One request for each part instead of one stream: a slow reader does not fill the memory.
    async *read(id, start, end) {
      const trace = createTrace("bucket read", bucket)
      for (let at = start; at < end; at += limits.readBytes)
        yield await trace(() => readPart(client, id, at, Math.min(end, at + limits.readBytes)))
    },
    async remove(id) {
      const trace = createTrace("bucket delete", bucket)
      await trace(() => ask(() => client.delete(toKey(id))))
      return false
    },
  }
}

/** Adds requests to the trace of the work that waits for them, if there is one. */
function createTrace(
  name: string,
  { bucket, endpoint }: Bucket,
): <T>(request: () => Promise<T>) => Promise<T> {
  const span = currentWork()?.span
  if (!span?.isSampled) return (request) => request()
  const host = endpoint === undefined ? undefined : URL.parse(endpoint)?.hostname
  const attributes = { "aws.s3.bucket": bucket, "server.address": host }
  let left = limits.spansMax
  return async (request) => {
    const startMs = performance.now()
    const end = (error?: string) => {
      if (left-- > 0) span.addChild(name, "client", startMs, attributes, error)
    }
    try {
      const result = await request()
      end()
      return result
    } catch (error) {
      end(error instanceof AppError ? error.code : "error")
      throw error
    }
  }
}

async function writeAll(
  writer: NetworkSink,
  pieces: AsyncIterable<Uint8Array>,
  partBytes: number,
  trace: ReturnType<typeof createTrace>,
): Promise<void> {
  let waiting = 0
  for await (const piece of pieces) {
    await ask(() => writer.write(piece))
    waiting += piece.length
    if (waiting < partBytes) continue
    waiting = 0
    await trace(() => ask(() => writer.flush()))
  }
}

async function readPart(
  client: S3Client,
  id: string,
  start: number,
  end: number,
): Promise<Uint8Array> {
  const bytes = await ask(() => client.file(toKey(id)).slice(start, end).bytes())
  if (bytes.length === end - start) return bytes
  throw new AppError(
    "storage_unavailable",
    `Cannot read the blob: the bucket returned ${bytes.length} bytes instead of ${end - start}`,
  )
}

/** An object that only probes read and write. */
const probeId = "hamlet-probe"

/**
 * Throws when the bucket cannot be used; the message has the code of the service. A bucket that knows
 * no such object has responded, and that is all that is asked of it. One that hides which objects there
 * are refuses to read what does not exist: there the object is written once.
 */
export async function probeBucket(content: ContentStore): Promise<void> {
  try {
    await Array.fromAsync(content.read(probeId, 0, 1))
  } catch (error) {
    const code = toBucketCode(error)
    if (code === "NoSuchKey") return
    if (code !== "AccessDenied") throw toProbeError(error)
    await content.write(probeId, toProbe()).catch((cause: unknown) => {
      throw toProbeError(cause)
    })
  }
}

function toProbeError(cause: unknown): Error {
  return new Error(`the bucket failed with ${toBucketCode(cause)}`, { cause })
}

async function* toProbe(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("hamlet")
}

/** Why a request to the bucket failed: the code of the service. Its message may repeat the key. */
export function toBucketCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error"
  const { code, cause } = error as Error & { readonly code?: unknown }
  if (cause !== undefined) return toBucketCode(cause)
  return typeof code === "string" && /^\w{1,100}$/.test(code) ? code : "unknown error"
}

function toKey(id: string): string {
  return `blobs/${id}`
}

/** The response of the bucket. Fails when it takes too long. */
async function ask<T>(work: () => T | Promise<T>): Promise<T> {
  const { responseMsMax } = limits
  const toError = () => new Error(`no response within ${responseMsMax} ms`)
  try {
    return await withinTime(Promise.try(work), responseMsMax, toError)
  } catch (cause) {
    throw new AppError("storage_unavailable", "Cannot reach the bucket that stores large blobs", {
      cause,
    })
  }
}
