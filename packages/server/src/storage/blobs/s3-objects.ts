import type { NetworkSink, S3Client } from "bun"
import { AppError } from "../../domain/app-error.ts"
import type { ContentPlace } from "./content-store.ts"

/** A bucket of any service that speaks the protocol of S3. */
export interface Bucket {
  readonly bucket: string
  readonly endpoint: string | undefined
  readonly region: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const limits = {
  /** The smallest that the protocol allows, and how many it allows. */
  partBytesMin: 5 * 1024 ** 2,
  partsMax: 10_000,
  partsAtOnce: 2,
  retriesMax: 3,
  /** What is read at a time. */
  readBytes: 4 * 1024 ** 2,
  /** How long the bucket may take to answer. */
  answerMsMax: 60_000,
}

/** Content in a bucket, an object each. */
export function createBucketPlace(bucket: Bucket, objectBytesMax: number): ContentPlace {
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
      const writer = client
        .file(toKey(id))
        .writer({ partSize: partBytes, queueSize: limits.partsAtOnce, retry: limits.retriesMax })
      try {
        await writeAll(writer, pieces, partBytes)
      } catch (error) {
        // Bun cannot break an upload off. One that has ended is deleted like any other; one left
        // open would be kept, and paid for, for ever.
        await ask(() => writer.end()).catch(() => {})
        throw error
      }
      await ask(() => writer.end())
    },
    // A request for each part instead of one stream: memory stays the same however slowly it is
    // read.
    async *read(id, start, end) {
      for (let at = start; at < end; at += limits.readBytes)
        yield await readPart(client, id, at, Math.min(end, at + limits.readBytes))
    },
    async remove(id) {
      await ask(() => client.delete(toKey(id)))
      return false
    },
  }
}

async function writeAll(
  writer: NetworkSink,
  pieces: AsyncIterable<Uint8Array>,
  partBytes: number,
): Promise<void> {
  let waiting = 0
  for await (const piece of pieces) {
    await ask(() => writer.write(piece))
    waiting += piece.length
    if (waiting < partBytes) continue
    waiting = 0
    await ask(() => writer.flush())
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
    `Cannot read the blob: the bucket gave ${bytes.length} bytes instead of ${end - start}`,
  )
}

function toKey(id: string): string {
  return `blobs/${id}`
}

/** What the bucket says, unless it takes too long. */
async function ask<T>(work: () => T | Promise<T>): Promise<T> {
  const expiry = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => expiry.reject(new Error(`no answer within ${limits.answerMsMax} ms`)),
    limits.answerMsMax,
  )
  try {
    return await Promise.race([work(), expiry.promise])
  } catch (cause) {
    throw new AppError("storage_unavailable", "Cannot reach the bucket that keeps large blobs", {
      cause,
    })
  } finally {
    clearTimeout(timer)
  }
}
