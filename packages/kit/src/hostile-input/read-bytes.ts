type Pieces = AsyncIterable<Uint8Array> | null

/** All bytes of a stream; undefined if there are too many, and then the stream is cancelled. */
export async function readBytes(
  pieces: Pieces,
  bytesMax: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const start = await readStart(pieces, bytesMax + 1)
  return start.length > bytesMax ? undefined : start
}

/** The beginning of a stream, which is cancelled if there is more. */
export async function readStart(pieces: Pieces, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces ?? []) {
    read.push(piece)
    bytes += piece.length
    // Leaving the loop cancels it.
    if (bytes >= bytesMax) break
  }
  return Buffer.concat(read).subarray(0, bytesMax)
}
