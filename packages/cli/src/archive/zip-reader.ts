import { stat } from "node:fs/promises"
import { inflateRawSync } from "node:zlib"
import { type Entry, openPromise, type ZipFile } from "yauzl"
import { CliError } from "../cli-error.ts"
import { archiveLimits as limits } from "./archive-limits.ts"

/** An archive whose entries can be read in any order, until it is closed. */
export interface ZipReader {
  /** The paths of its entries; those of folders end with a slash. */
  readonly paths: readonly string[]
  /** The content of an entry; fails when it is not what the archive says. */
  read(path: string): Promise<Uint8Array>
  close(): void
}

const methods = { stored: 0, deflated: 8 }

/**
 * Opens a zip file. An archive may be hostile: every entry is checked before the first is read, and
 * nothing is unpacked beyond the size that its entry declares.
 */
export async function openZip(path: string): Promise<ZipReader> {
  const { size } = await stat(path)
  if (size > limits.archiveBytesMax)
    throw unreadable(path, `it is larger than ${limits.archiveBytesMax} bytes`)
  const zip = await attempt(path, () =>
    // Names are decoded below: yauzl would take those that are not marked as UTF-8 for CP437.
    openPromise(path, { autoClose: false, decodeStrings: false }),
  )
  try {
    const entries = await attempt(path, () => readEntries(zip, path))
    return {
      paths: [...entries.keys()],
      read: (name) => readEntry(zip, path, name, entries.get(name)),
      close: () => zip.close(),
    }
  } catch (error) {
    zip.close()
    throw error
  }
}

/** Every error of yauzl concerns the file. */
async function attempt<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw unreadable(path, `it is not a valid zip file (${(cause as Error).message})`, cause)
  }
}

async function readEntries(zip: ZipFile, archive: string): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > limits.entriesMax)
    throw unreadable(archive, `it has more than ${limits.entriesMax} entries`)
  const entries = new Map<string, Entry>()
  let bytes = 0
  let directoryBytes = 0
  for await (const entry of zip.eachEntry()) {
    directoryBytes += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
    if (directoryBytes > limits.directoryBytesMax)
      throw unreadable(archive, `its directory is larger than ${limits.directoryBytesMax} bytes`)
    const path = decodeName(entry.fileNameRaw, archive)
    assertEntry(entry, path, archive)
    if (entries.has(path)) throw unreadable(archive, `it contains "${path}" twice`)
    entries.set(path, entry)
    bytes += entry.uncompressedSize
    if (bytes > limits.unpackedBytesMax)
      throw unreadable(archive, `it is larger than ${limits.unpackedBytesMax} bytes unpacked`)
  }
  return entries
}

function decodeName(bytes: Uint8Array, archive: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    const name = Buffer.from(bytes).toString("latin1")
    throw unreadable(archive, `the name of its entry "${name}" is not UTF-8`)
  }
}

function assertEntry(entry: Entry, path: string, archive: string): void {
  if (/^[/\\]|^[a-z]:|\0/i.test(path) || path.split(/[/\\]/).includes(".."))
    throw unreadable(archive, `its entry "${path}" points outside the archive`)
  if (entry.isEncrypted()) throw unreadable(archive, `its entry "${path}" is encrypted`)
  if (!Object.values(methods).includes(entry.compressionMethod))
    throw unreadable(archive, `its entry "${path}" uses an unsupported compression method`)
}

async function readEntry(
  zip: ZipFile,
  archive: string,
  path: string,
  entry: Entry | undefined,
): Promise<Uint8Array> {
  const fail = (problem: string, cause?: unknown) =>
    new CliError("failed", `Cannot read "${path}" in "${archive}": ${problem}`, { cause })
  if (!entry) throw fail("there is no such entry")
  if (Math.max(entry.uncompressedSize, entry.compressedSize) > limits.entryBytesMax)
    throw fail(`it is larger than ${limits.entryBytesMax} bytes`)
  let content: Uint8Array
  try {
    const stream = await zip.openReadStreamPromise(entry, { decodeFileData: false })
    content = inflate(Buffer.concat(await Array.fromAsync(stream)), entry)
  } catch (cause) {
    throw fail("it is damaged", cause)
  }
  // yauzl does not compare checksums.
  if (content.length !== entry.uncompressedSize || Bun.hash.crc32(content) !== entry.crc32)
    throw fail("it is damaged")
  return content
}

/** Throws when it would be larger than its entry declares. */
function inflate(bytes: Buffer, { compressionMethod, uncompressedSize }: Entry): Uint8Array {
  if (compressionMethod === methods.stored) return bytes
  return inflateRawSync(bytes, { maxOutputLength: Math.max(1, uncompressedSize) })
}

function unreadable(archive: string, problem: string, cause?: unknown): CliError {
  return new CliError("failed", `Cannot read "${archive}": ${problem}`, { cause })
}
