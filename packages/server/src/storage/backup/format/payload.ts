import { BackupDamaged } from "@hamlet/contract/backup"

/**
 * The content of a data frame: JSON, and the bytes that it refers to, one after the other.
 */
export interface Payload {
  readonly json: unknown
  readonly bytes: Uint8Array
}

const lengthBytes = 4

/** Encodes a payload, without compression. */
export function toPayload(json: unknown, bytes: readonly Uint8Array[]): Buffer {
  const text = Buffer.from(JSON.stringify(json))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text, ...bytes])
}

/** Decodes a payload. */
export function fromPayload(raw: Buffer): Payload {
  const length = raw.length < lengthBytes ? raw.length : raw.readUInt32LE(0)
  if (length > raw.length - lengthBytes) throw new BackupDamaged("it contains an invalid frame")
  try {
    return {
      json: JSON.parse(raw.toString("utf8", lengthBytes, lengthBytes + length)),
      bytes: raw.subarray(lengthBytes + length),
    }
  } catch {
    throw new BackupDamaged("it contains a frame with invalid JSON")
  }
}
