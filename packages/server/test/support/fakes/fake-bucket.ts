import type { Bucket } from "../../../src/storage/blobs/s3-objects.ts"

/** A request that the bucket got. */
interface BucketRequest {
  readonly method: string
  readonly path: string
  readonly range: string | null
}

/**
 * A service that speaks as much of the protocol of S3 as we do: put, multipart upload, get with a
 * range, delete. It believes every signature and keeps everything in memory, or, where only amounts
 * matter, nothing.
 */
export class FakeBucket {
  readonly #server: Bun.Server<undefined>
  readonly #uploads = new Map<string, Map<number, Uint8Array>>()
  readonly files = new Map<string, Uint8Array>()
  readonly requests: BucketRequest[] = []
  /** Responds to every request like this while it is set. */
  fault:
    | ((request: BucketRequest) => Response | undefined | Promise<Response | undefined>)
    | undefined

  constructor() {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      maxRequestBodySize: 1_073_741_824,
      fetch: (request) => this.#answer(request),
    })
  }

  /** The settings by which a server uses it. */
  get bucket(): Bucket {
    return {
      bucket: "hamlet",
      endpoint: this.#server.url.origin,
      region: "nowhere",
      accessKeyId: "key",
      secretAccessKey: "secret",
    }
  }

  /** The bucket as an operator writes it. */
  get url(): string {
    return `s3://key:secret@hamlet?endpoint=${encodeURIComponent(this.#server.url.origin)}&region=nowhere`
  }

  /** Uploads that were begun and not ended. */
  get openUploads(): number {
    return this.#uploads.size
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname: path, searchParams: query } = new URL(request.url)
    const seen = { method: request.method, path, range: request.headers.get("range") }
    this.requests.push(seen)
    const bytes = await request.bytes()
    const faulty = await this.fault?.(seen)
    if (faulty) return faulty
    const uploadId = query.get("uploadId")
    if (request.method === "POST" && uploadId !== null) return this.#complete(path, uploadId)
    if (request.method === "POST") return this.#begin()
    if (request.method === "PUT" && uploadId !== null)
      this.#uploads.get(uploadId)?.set(Number(query.get("partNumber")), bytes)
    else if (request.method === "PUT") this.files.set(path, bytes)
    else if (request.method === "DELETE" && uploadId !== null) this.#uploads.delete(uploadId)
    else if (request.method === "DELETE") this.files.delete(path)
    else return this.#get(path, seen.range)
    return new Response(null, {
      status: request.method === "DELETE" ? 204 : 200,
      headers: { etag: '"etag"' },
    })
  }

  #begin(): Response {
    const id = crypto.randomUUID()
    this.#uploads.set(id, new Map())
    return xml(
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }

  #complete(path: string, uploadId: string): Response {
    const parts = [...(this.#uploads.get(uploadId) ?? [])].sort(([one], [other]) => one - other)
    this.files.set(path, Buffer.concat(parts.map(([, part]) => part)))
    this.#uploads.delete(uploadId)
    return xml('<CompleteMultipartUploadResult><ETag>"etag"</ETag></CompleteMultipartUploadResult>')
  }

  #get(path: string, range: string | null): Response {
    const file = this.files.get(path)
    if (!file)
      return xml("<Error><Code>NoSuchKey</Code><Message>There is none</Message></Error>", 404)
    const [, first = "0", last = String(file.length - 1)] =
      /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? []
    const part = file.slice(Number(first), Number(last) + 1)
    return new Response(part, {
      status: range === null ? 200 : 206,
      headers: { "content-range": `bytes ${first}-${last}/${file.length}` },
    })
  }
}

function xml(text: string, status = 200): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, {
    status,
    headers: { "content-type": "application/xml" },
  })
}
