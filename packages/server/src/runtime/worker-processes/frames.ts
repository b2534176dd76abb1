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

/** A frame with the given parts, without a copy of them: they may be large. */
export function toFrameParts(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(parts.reduce((sum, part) => sum + part.length, 0))
  return [head, ...parts]
}

/**
 * A function that takes chunks and returns the contents of the frames that are complete with it. It
 * throws when a frame is longer than `bytesMax`. What a frame that is not complete has in a chunk is
 * copied: the caller may reuse its buffer, but not before it has read the contents.
 */
export function createFrameReader(
  bytesMax = Number.POSITIVE_INFINITY,
): (chunk: Buffer) => readonly Buffer[] {
  /** The beginning of a head. */
  let head = Buffer.alloc(0)
  /** A frame that is not complete, and how much of it there is. */
  let content: Buffer | undefined
  let contentBytes = 0
  return (chunk) => {
    const contents: Buffer[] = []
    let rest = chunk
    while (rest.length > 0) {
      if (content) {
        const taken = rest.copy(content, contentBytes)
        contentBytes += taken
        rest = rest.subarray(taken)
        if (contentBytes < content.length) break
        contents.push(content)
        content = undefined
        continue
      }
      const missing = headBytes - head.length
      head = Buffer.concat([head, rest.subarray(0, missing)])
      rest = rest.subarray(missing)
      if (head.length < headBytes) break
      const bytes = head.readUInt32LE()
      head = Buffer.alloc(0)
      if (bytes > bytesMax)
        throw new RangeError(`Cannot read a frame of ${headBytes + bytes} bytes`)
      if (rest.length >= bytes) {
        contents.push(rest.subarray(0, bytes))
        rest = rest.subarray(bytes)
      } else {
        // A buffer of its own, which holds the frame once.
        content = Buffer.allocUnsafeSlow(bytes)
        contentBytes = rest.copy(content)
        break
      }
    }
    return contents
  }
}
