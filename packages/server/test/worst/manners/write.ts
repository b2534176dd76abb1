import type { Socket } from "node:net"
import { type Manner, mannerLimits } from "./manner.ts"

/** Pieces that are written before the event loop goes on. */
const piecesAtOnce = 64

/** Writes bytes as they are, byte by byte, or slice by slice with rests. */
export async function write(socket: Socket, bytes: Uint8Array, manner: Manner): Promise<void> {
  if (manner === "pieces") return await writeBytes(socket, bytes)
  if (manner === "slowly") return await writeSlices(socket, bytes)
  socket.write(bytes)
}

async function writeBytes(socket: Socket, bytes: Uint8Array): Promise<void> {
  const single = bytes.subarray(0, mannerLimits.piecesMax)
  for (let at = 0; at < single.length && socket.writable; at++) {
    socket.write(single.subarray(at, at + 1))
    if (at % piecesAtOnce === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  if (bytes.length > single.length) socket.write(bytes.subarray(single.length))
}

async function writeSlices(socket: Socket, bytes: Uint8Array): Promise<void> {
  const sliceBytes = Math.max(1, Math.ceil(bytes.length / mannerLimits.slices))
  for (let at = 0; at < bytes.length && socket.writable; at += sliceBytes) {
    socket.write(bytes.subarray(at, at + sliceBytes))
    await Bun.sleep(mannerLimits.sliceRestMs)
  }
}

const encoder = new TextEncoder()

/** A body of HTTP in chunks of one byte, as many as may be. */
export function toChunks(body: Uint8Array): Uint8Array {
  const count = Math.min(body.length, mannerLimits.piecesMax)
  const chunks = new Uint8Array(6 * count).fill(10)
  for (let at = 0; at < count; at++) chunks.set([49, 13, 10, body[at] ?? 0, 13, 10], at * 6)
  const rest = body.subarray(count)
  const end = "0\r\n\r\n"
  if (rest.length === 0) return Buffer.concat([chunks, encoder.encode(end)])
  const head = encoder.encode(`${rest.length.toString(16)}\r\n`)
  return Buffer.concat([chunks, head, rest, encoder.encode(`\r\n${end}`)])
}
