// What the server and a worker process send to each other: messages. A message is a frame, which is a
// length in 4 bytes and that many bytes: the length of its head in 4 bytes, the head as JSON, and
// bytes that belong to it.

/** The file descriptor of the worker process that frames are read from and written to. */
export const frameDescriptor = 3

const headBytes = 4

/** A frame without a message: the worker is ready. */
export const readyFrame = Buffer.alloc(headBytes)

/** The parts of a frame with a message. Its bytes are not copied: they may be large. */
export function toMessage(
  head: string,
  bytes: readonly Uint8Array[] = [],
): readonly [Buffer, ...Uint8Array[]] {
  const length = Buffer.byteLength(head)
  const start = Buffer.allocUnsafe(2 * headBytes + length)
  start.writeUInt32LE(bytes.reduce((sum, part) => sum + part.length, headBytes + length))
  start.writeUInt32LE(length, headBytes)
  start.write(head, 2 * headBytes)
  return [start, ...bytes]
}

/** A message that was received. */
export interface WorkerMessage {
  /** The head of the message as JSON. */
  readonly head: string
  readonly bytes: Buffer
}

/** The message in a frame. */
export function splitMessage(frame: Buffer): WorkerMessage {
  const end = headBytes + frame.readUInt32LE()
  return { head: frame.toString("utf8", headBytes, end), bytes: frame.subarray(end) }
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
