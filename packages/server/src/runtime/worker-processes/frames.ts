// What the server and a worker process send to each other: frames. A frame is a length in 4 bytes,
// and that many bytes.

/** The file descriptor of the worker process that frames are read from and written to. */
export const frameDescriptor = 3

const headBytes = 4

/** A frame with the given parts one after the other. */
export function toFrame(...parts: readonly (string | Uint8Array)[]): Buffer {
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  const frame = Buffer.allocUnsafe(headBytes + bytes)
  let at = frame.writeUInt32LE(bytes)
  for (const part of parts) {
    if (typeof part === "string") at += frame.write(part, at)
    else {
      frame.set(part, at)
      at += part.length
    }
  }
  return frame
}

/**
 * A function that takes chunks and returns the content of a frame once it is complete. It throws
 * when a frame is longer than `bytesMax`. There is never more than one frame under way. A chunk
 * that is not a whole frame is copied: the caller may reuse its buffer.
 */
export function createFrameReader(
  bytesMax = Number.POSITIVE_INFINITY,
): (chunk: Buffer) => Buffer | undefined {
  let chunks: Buffer[] = []
  let chunkBytes = 0
  return (chunk) => {
    const bytes = chunkBytes + chunk.length
    const [first = chunk] = chunks
    const head = first.length < headBytes ? Buffer.concat([first, chunk]) : first
    const frameBytes = bytes < headBytes ? headBytes : headBytes + head.readUInt32LE()
    if (frameBytes > headBytes + bytesMax)
      throw new RangeError(`Cannot read a frame of ${frameBytes} bytes`)
    if (bytes >= headBytes && bytes >= frameBytes) {
      const frame = chunkBytes === 0 ? chunk : Buffer.concat([...chunks, chunk])
      chunks = []
      chunkBytes = 0
      return frame.subarray(headBytes)
    }
    // The first chunk always contains the whole head.
    if (chunkBytes < headBytes) chunks = [Buffer.concat([...chunks, chunk])]
    else chunks.push(Buffer.from(chunk))
    chunkBytes = bytes
    return undefined
  }
}
