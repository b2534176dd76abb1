import { BackupDamaged } from "@hamlet/contract/backup"

/**
 * What a data frame holds: something that JSON can say, and the bytes that it speaks of, one after
 * the other.
 */
export interface Payload {
  readonly json: unknown
  readonly bytes: Uint8Array
}

const lengthBytes = 4

/** As it is before it is compressed. */
export function toPayload(json: unknown, bytes: readonly Uint8Array[]): Buffer {
  const text = Buffer.from(JSON.stringify(json))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text, ...bytes])
}

/** The reverse. */
export function fromPayload(raw: Buffer): Payload {
  const length = raw.length < lengthBytes ? raw.length : raw.readUInt32LE(0)
  if (length > raw.length - lengthBytes) throw new BackupDamaged("it has a frame that is none")
  try {
    return {
      json: JSON.parse(raw.toString("utf8", lengthBytes, lengthBytes + length)),
      bytes: raw.subarray(lengthBytes + length),
    }
  } catch {
    throw new BackupDamaged("it holds something that is not JSON where JSON should be")
  }
}
