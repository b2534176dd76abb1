import { type FileHandle, open } from "node:fs/promises"
import { inflateRawSync } from "node:zlib"
import {
  findZipData,
  type ReadPart,
  readZipDirectory,
  type ZipEntry,
  ZipRefused,
} from "@hamlet/contract/zip-directory"
import { CliError } from "../cli-error.ts"
import { archiveLimits as limits } from "./archive-limits.ts"

/** An archive whose entries can be read in any order, until it is closed. */
export interface ZipReader {
  /** The paths of its entries; those of folders end with a slash. */
  readonly paths: readonly string[]
  /** The content of an entry; fails when it is not what the archive says. */
  read(path: string): Promise<Uint8Array>
  close(): Promise<void>
}

/**
 * Opens a zip file. An archive may be hostile: its directory is checked before the first entry is
 * read, and nothing is unpacked beyond the size that its entry declares.
 */
export async function openZip(path: string): Promise<ZipReader> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size > limits.archiveBytesMax)
      throw new ZipRefused(`it is larger than ${limits.archiveBytesMax} bytes`)
    const read = toReadPart(file)
    const entries = checkEntries(await readZipDirectory(size, read, limits))
    return {
      paths: [...entries.keys()],
      read: (name) => readEntry(read, path, name, entries.get(name)),
      close: () => file.close(),
    }
  } catch (cause) {
    await file.close()
    const problem = cause instanceof ZipRefused ? cause.message : "it is not a valid zip file"
    throw new CliError("failed", `Cannot read "${path}": ${problem}`, { cause })
  }
}

/** Fewer bytes where the file ends before. */
function toReadPart(file: FileHandle): ReadPart {
  return async (from, to) => {
    const bytes = new Uint8Array(Math.max(0, to - from))
    let at = 0
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return bytes.subarray(0, at)
  }
}

function checkEntries(listed: readonly ZipEntry[]): ReadonlyMap<string, ZipEntry> {
  if (listed.length > limits.entriesMax)
    throw new ZipRefused(`it has more than ${limits.entriesMax} entries`)
  const entries = new Map<string, ZipEntry>()
  let bytes = 0
  for (const entry of listed) {
    const { path } = entry
    // What a decoder writes for bytes that are not UTF-8.
    if (path.includes("\ufffd"))
      throw new ZipRefused(`the name of its entry "${path}" is not UTF-8`)
    if (/^[/\\]|^[a-z]:|\0/i.test(path) || path.split(/[/\\]/).includes(".."))
      throw new ZipRefused(`its entry "${path}" points outside the archive`)
    if (entries.has(path)) throw new ZipRefused(`it contains "${path}" twice`)
    entries.set(path, entry)
    bytes += entry.bytes
    if (bytes > limits.unpackedBytesMax)
      throw new ZipRefused(`it is larger than ${limits.unpackedBytesMax} bytes unpacked`)
  }
  return entries
}

async function readEntry(
  read: ReadPart,
  archive: string,
  path: string,
  entry: ZipEntry | undefined,
): Promise<Uint8Array> {
  const fail = (problem: string, cause?: unknown) =>
    new CliError("failed", `Cannot read "${path}" in "${archive}": ${problem}`, { cause })
  if (!entry) throw fail("there is no such entry")
  if (entry.problem !== undefined) throw fail(entry.problem)
  if (Math.max(entry.bytes, entry.packedBytes) > limits.entryBytesMax)
    throw fail(`it is larger than ${limits.entryBytesMax} bytes`)
  let content: Uint8Array
  try {
    const from = await findZipData(entry, read)
    content = inflate(await read(from, from + entry.packedBytes), entry)
  } catch (cause) {
    throw fail("it is damaged", cause)
  }
  if (content.length !== entry.bytes || Bun.hash.crc32(content) !== entry.crc32)
    throw fail("it is damaged")
  return content
}

/** Throws when it would be larger than its entry declares. */
function inflate(packed: Uint8Array, { method, bytes }: ZipEntry): Uint8Array {
  if (method === 0) return packed
  return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) })
}
