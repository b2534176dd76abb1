import {
  bytesSet,
  bytesSubarray,
  readerCancel,
  readerRead,
  responseBody,
  streamReader,
} from "../primordials.ts"

const Bytes = Uint8Array

/** The start of a response's body, up to `bytesMax`. */
export async function readBody(
  response: Response,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; isTruncated: boolean }> {
  const body = responseBody(response)
  let bytes = new Bytes(0)
  if (body === null) return { bytes, isTruncated: false }
  const reader = streamReader(body)
  for (let read = await readerRead(reader); !read.done; read = await readerRead(reader)) {
    if (!(read.value instanceof Bytes)) continue
    bytes = concat(bytes, bytesSubarray(read.value, 0, bytesMax + 1 - bytes.length))
    if (bytes.length <= bytesMax) continue
    void cancel(reader)
    return { bytes: bytesSubarray(bytes, 0, bytesMax), isTruncated: true }
  }
  return { bytes, isTruncated: false }
}

/** Cancels the stream without waiting for it. */
async function cancel(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  try {
    await readerCancel(reader)
  } catch {}
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Bytes(head.length + tail.length)
  bytesSet(whole, head, 0)
  bytesSet(whole, tail, head.length)
  return whole
}
