import { closeSync, fstatSync, openSync, readSync } from "node:fs"
import { inflateRawSync } from "node:zlib"
import { CliError } from "../cli-error.ts"
import { archiveLimits as limits } from "./archive-limits.ts"

/** A file in an archive. */
export interface ZipEntry {
  readonly path: string
  readonly isPacked: boolean
  readonly checksum: number
  readonly packedBytes: number
  readonly bytes: number
  readonly offset: number
}

/** An archive whose entries can be read in any order, until it is stopped. */
export interface ZipReader {
  readonly entries: readonly ZipEntry[]
  /** The content of an entry; fails when that is not what the archive says of it. */
  read(entry: ZipEntry): Uint8Array
  stop(): void
}

const signatures = { end: 0x06054b50, entry: 0x02014b50, file: 0x04034b50 }
const sizes = { end: 22, entry: 46, file: 30, commentMax: 65_535 }
const methods = { stored: 0, packed: 8 }

/**
 * Opens a zip file by the list at its end: only that tells whether the file is complete, and where
 * each entry is, so that vals can be read in the order in which they are wanted. Nothing is
 * unpacked before it is asked for, and nothing beyond the size that the list says.
 */
export function openZip(path: string): ZipReader {
  const file = openSync(path, "r")
  try {
    const { size } = fstatSync(file)
    const read = (offset: number, length: number) => readAt(file, path, offset, length, size)
    const { directory, directoryAt } = readDirectory(read, path, size)
    const entries = [...parseEntries(directory, path)]
    assertEntries(entries, path)
    return {
      entries,
      read: (entry) => readEntry(read, path, entry, directoryAt),
      stop: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

type Read = (offset: number, length: number) => Buffer

function readAt(file: number, path: string, offset: number, length: number, size: number): Buffer {
  if (offset < 0 || offset + length > size)
    throw damaged(path, "it says that something is beyond its end")
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const count = readSync(file, bytes, done, length - done, offset + done)
    if (count === 0) throw damaged(path, "it got shorter while it was read")
    done += count
  }
  return bytes
}

function readDirectory(
  read: Read,
  path: string,
  size: number,
): { readonly directory: Buffer; readonly directoryAt: number } {
  if (size > limits.archiveBytesMax)
    throw damaged(path, `it is larger than ${limits.archiveBytesMax} bytes`)
  const tailBytes = Math.min(size, sizes.end + sizes.commentMax)
  const tail = read(size - tailBytes, tailBytes)
  const end = findEnd(tail)
  if (end === undefined) throw damaged(path, "it is no zip file, or its end is missing")
  const [bytes, directoryAt, count] = [
    tail.readUInt32LE(end + 12),
    tail.readUInt32LE(end + 16),
    tail.readUInt16LE(end + 10),
  ]
  if (directoryAt === 0xffffffff || count === 0xffff)
    throw damaged(path, `it has more than ${limits.entriesMax} entries, or is too large`)
  if (tail.readUInt32LE(end + 4) !== 0) throw damaged(path, "it is a part of several")
  if (bytes > limits.directoryBytesMax)
    throw damaged(path, `its list of entries is larger than ${limits.directoryBytesMax} bytes`)
  if (directoryAt + bytes > size - tailBytes + end)
    throw damaged(path, "its list of entries is beyond its end")
  return { directory: read(directoryAt, bytes), directoryAt }
}

/** The last place that can be the end: what follows it is a comment of the length that it says. */
function findEnd(tail: Buffer): number | undefined {
  for (let at = tail.length - sizes.end; at >= 0; at -= 1) {
    if (
      tail.readUInt32LE(at) === signatures.end &&
      at + sizes.end + tail.readUInt16LE(at + 20) === tail.length
    )
      return at
  }
  return undefined
}

function* parseEntries(directory: Buffer, archive: string): Generator<ZipEntry> {
  for (let at = 0; at < directory.length; ) {
    if (at + sizes.entry > directory.length || directory.readUInt32LE(at) !== signatures.entry)
      throw damaged(archive, "its list of entries is not one")
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
      directory.readUInt16LE(at + field),
    ) as [number, number, number]
    const nameAt = at + sizes.entry
    if (nameAt + nameBytes > directory.length)
      throw damaged(archive, "its list of entries ends in the middle")
    const path = decodeName(directory.subarray(nameAt, nameAt + nameBytes), archive)
    const [flags, method] = [directory.readUInt16LE(at + 8), directory.readUInt16LE(at + 10)]
    if ((flags & 1) !== 0) throw damaged(archive, `its entry "${path}" is encrypted`)
    if (method !== methods.stored && method !== methods.packed)
      throw damaged(archive, `its entry "${path}" is packed in a way that is not known`)
    yield {
      path,
      isPacked: method === methods.packed,
      checksum: directory.readUInt32LE(at + 16),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    }
    at = nameAt + nameBytes + extraBytes + commentBytes
  }
}

function decodeName(bytes: Uint8Array, archive: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw damaged(
      archive,
      `its entry "${Buffer.from(bytes).toString("latin1")}" has a name that is not UTF-8`,
    )
  }
}

/**
 * An archive in which anything of this is wrong was not made by anybody who means well, or not for
 * us.
 */
function assertEntries(entries: readonly ZipEntry[], archive: string): void {
  if (entries.length > limits.entriesMax)
    throw damaged(archive, `it has more than ${limits.entriesMax} entries`)
  const paths = new Set<string>()
  let total = 0
  for (const { path, bytes } of entries) {
    if (/^[/\\]|^[a-z]:|\0/i.test(path) || path.split(/[/\\]/).includes(".."))
      throw damaged(archive, `its entry "${path}" leads out of the archive`)
    if (paths.has(path)) throw damaged(archive, `it has the entry "${path}" twice`)
    paths.add(path)
    total += bytes
  }
  if (total > limits.unpackedBytesMax)
    throw damaged(archive, `unpacked it is larger than ${limits.unpackedBytesMax} bytes`)
}

function readEntry(read: Read, archive: string, entry: ZipEntry, directoryAt: number): Uint8Array {
  const { path, bytes, packedBytes, offset } = entry
  const broken = (problem: string) =>
    new CliError("failed", `Cannot read "${path}" in "${archive}": ${problem}`)
  if (bytes > limits.entryBytesMax || packedBytes > limits.entryBytesMax)
    throw broken(`it is larger than ${limits.entryBytesMax} bytes`)
  if (offset + sizes.file > directoryAt) throw broken("it is not where it should be")
  const header = read(offset, sizes.file)
  const start = offset + sizes.file + header.readUInt16LE(26) + header.readUInt16LE(28)
  if (header.readUInt32LE(0) !== signatures.file || start + packedBytes > directoryAt)
    throw broken("it is not where it should be")
  const content = unpack(read(start, packedBytes), entry)
  if (content?.length !== bytes || Bun.hash.crc32(content) !== entry.checksum)
    throw broken("it is damaged")
  return content
}

/** Undefined when it cannot be unpacked, or would be larger than it should be. */
function unpack(packed: Buffer, { isPacked, bytes }: ZipEntry): Uint8Array | undefined {
  if (!isPacked) return packed
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) })
  } catch {
    return undefined
  }
}

function damaged(archive: string, problem: string): CliError {
  return new CliError("failed", `Cannot read "${archive}": ${problem}`)
}
