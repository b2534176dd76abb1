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
 * A function that takes chunks and returns the contents of the frames that are complete with it. It
 * throws when a frame is longer than `bytesMax`. The rest of a chunk is copied: the caller may reuse
 * its buffer, but not before it has read the contents.
 */
export function createFrameReader(
  bytesMax = Number.POSITIVE_INFINITY,
): (chunk: Buffer) => readonly Buffer[] {
  let chunks: Buffer[] = []
  let chunkBytes = 0
  /** The bytes of the first frame with its head, or of the head as long as that is incomplete. */
  let frameBytes = headBytes
  const join = () => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
  return (chunk) => {
    chunks.push(chunk)
    chunkBytes += chunk.length
    const contents: Buffer[] = []
    while (chunkBytes >= frameBytes) {
      const bytes = join()
      frameBytes = headBytes + bytes.readUInt32LE()
      if (frameBytes > headBytes + bytesMax)
        throw new RangeError(`Cannot read a frame of ${frameBytes} bytes`)
      chunks = [bytes]
      if (chunkBytes < frameBytes) break
      contents.push(bytes.subarray(headBytes, frameBytes))
      chunks = [bytes.subarray(frameBytes)]
      chunkBytes -= frameBytes
      frameBytes = headBytes
    }
    const last = chunks.pop()
    if (last && chunkBytes > 0) chunks.push(Buffer.from(last))
    return contents
  }
}
