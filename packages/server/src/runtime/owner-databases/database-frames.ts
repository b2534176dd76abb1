// What goes between the server and a database process: frames, each a length and that many bytes. A
// request is JSON; an answer is a letter that says what it is, and JSON, which the server passes on
// without a look where it is the results.

/** The first answer of a process, before it is asked anything. */
export const readyMark = "r".charCodeAt(0)
/** The results follow. */
export const doneMark = "d".charCodeAt(0)
/** Another outcome follows. */
export const outcomeMark = "o".charCodeAt(0)

/** On the process's side, both ways go through this file descriptor. */
export const frameDescriptor = 3

/** A frame around a text. */
export function toRequestFrame(json: string): Buffer {
  const bytes = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(headBytes + bytes)
  frame.writeUInt32LE(bytes)
  frame.write(json, headBytes)
  return frame
}

/** A frame around an answer. */
export function toAnswerFrame(mark: number, json: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + 1 + json.length)
  frame.writeUInt32LE(1 + json.length)
  frame[headBytes] = mark
  frame.set(json, headBytes + 1)
  return frame
}

/**
 * Gives what is in a frame as soon as all of it has come; throws if it is too long. There is never
 * more than one on its way. Chunks are copied if they are not all.
 */
export function createFrameReader(
  bytesMax = Number.POSITIVE_INFINITY,
): (chunk: Buffer) => Buffer | undefined {
  let begun: Buffer[] = []
  let begunBytes = 0
  return (chunk) => {
    const bytes = begunBytes + chunk.length
    const [first = chunk] = begun
    const head = first.length < headBytes ? Buffer.concat([first, chunk]) : first
    const wanted = bytes < headBytes ? headBytes : headBytes + head.readUInt32LE()
    if (wanted > headBytes + bytesMax)
      throw new RangeError(`Cannot read a frame of ${wanted} bytes`)
    if (bytes >= headBytes && bytes >= wanted) {
      const frame = begunBytes === 0 ? chunk : Buffer.concat([...begun, chunk])
      begun = []
      begunBytes = 0
      return frame.subarray(headBytes)
    }
    // What is shorter than a head is kept together, so that the first chunk always has it.
    if (begunBytes < headBytes) begun = [Buffer.concat([...begun, chunk])]
    else begun.push(Buffer.from(chunk))
    begunBytes = bytes
    return undefined
  }
}

const headBytes = 4
