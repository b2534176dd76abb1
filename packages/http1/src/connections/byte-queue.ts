/** The socket, or other source, that fills a queue. */
export interface ByteSource {
  pause(): void
  resume(): void
}

/** Parts are joined until they have so many bytes. */
const joinedBytesMin = 16_384

/** Reads a body part by part; undefined at the end. Rejects when the body is incomplete. */
export interface PartReader {
  next(): Promise<Uint8Array | undefined>
}

/**
 * The parts of a body, from the source that receives them to the code that reads them. The source
 * is paused while more than `bufferedBytesMax` wait to be read. One reader at a time.
 */
export class ByteQueue implements PartReader {
  readonly #source: ByteSource
  readonly #bufferedBytesMax: number
  #parts: Uint8Array[] = []
  /** Bytes that were not read yet. */
  bufferedBytes = 0
  #isPaused = false
  #end: { readonly error: unknown } | undefined
  #reader: PromiseWithResolvers<Uint8Array | undefined> | undefined

  constructor(source: ByteSource, bufferedBytesMax: number) {
    this.#source = source
    this.#bufferedBytesMax = bufferedBytesMax
  }

  /** Whether the end has arrived, even if it was not read yet. */
  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  push(bytes: Uint8Array): void {
    if (this.#end) return
    const reader = this.#takeReader()
    if (reader) return void reader.resolve(bytes)
    this.#parts.push(bytes)
    this.bufferedBytes += bytes.length
    if (this.bufferedBytes <= this.#bufferedBytesMax || this.#isPaused) return
    this.#isPaused = true
    this.#source.pause()
  }

  /** Marks the end. What is buffered is still read. */
  end(): void {
    if (this.#end) return
    this.#end = { error: undefined }
    this.#takeReader()?.resolve(undefined)
  }

  /** Ends it with an error, which the reader gets after what is buffered. */
  fail(error: unknown): void {
    if (this.#end) return
    this.#end = { error }
    this.#takeReader()?.reject(error)
  }

  /** The next part, with those that have come after it; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const part = this.#takeJoined()
    if (part) this.bufferedBytes -= part.length
    if (this.#isPaused && this.#parts.length === 0) {
      this.#isPaused = false
      // After the end, the source may serve another request already.
      if (!this.#end) this.#source.resume()
    }
    if (part) return part
    if (this.#end?.error !== undefined) throw this.#end.error
    if (this.#end) return undefined
    this.#reader = Promise.withResolvers<Uint8Array | undefined>()
    return this.#reader.promise
  }

  /** All of a body that has arrived completely; otherwise undefined. */
  takeWhole(): Uint8Array | undefined {
    if (!this.#end || this.#end.error !== undefined) return undefined
    const parts = this.#parts
    this.#parts = []
    this.bufferedBytes = 0
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  /** Many small parts are one large part: each would cost its reader as much. */
  #takeJoined(): Uint8Array | undefined {
    const parts = this.#parts
    if (parts.length <= 1) return parts.pop()
    let [count, bytes] = [0, 0]
    while (count < parts.length && bytes < joinedBytesMin) bytes += parts[count++]?.length ?? 0
    const taken = parts.splice(0, count)
    return taken.length === 1 ? taken[0] : Buffer.concat(taken, bytes)
  }

  #takeReader(): PromiseWithResolvers<Uint8Array | undefined> | undefined {
    const reader = this.#reader
    this.#reader = undefined
    return reader
  }
}

/** The body as a stream, which reads a part when its own reader wants one. */
export function toStream(body: PartReader, onCancel?: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
        const part = await body.next()
        if (part) controller.enqueue(part)
        else controller.close()
      },
      cancel: () => onCancel?.(),
    },
    { highWaterMark: 0 },
  )
}
