import {
  findZipData,
  type ReadPart,
  readZipDirectory,
  type ZipEntry,
  ZipRefused,
} from "@hamlet/contract/zip-directory"
import { Inflate } from "fflate"
import type { FileSource } from "./select-files.ts"

const limits = {
  archiveBytesMax: 100_000_000,
  directoryBytesMax: 8_000_000,
  /** What is inflated between two looks at the size: a byte becomes at most 1,032. */
  chunkBytes: 4_096,
  /** What deflate adds at most to what it cannot make smaller. */
  addedBytesMax: 1_000,
}
const commentStart = "hamlet:"

/** The comment of an entry, in which an archive of ours keeps the type of the file. */
export function toEntryComment(type: string): string {
  return commentStart + type
}

/** The files in an archive. They are read, and inflated, one by one and later. */
export async function listZip(archive: Blob): Promise<readonly FileSource[]> {
  if (archive.size > limits.archiveBytesMax)
    throw new ZipRefused(`it is larger than ${limits.archiveBytesMax} bytes`)
  const read: ReadPart = async (from, to) =>
    new Uint8Array(await archive.slice(from, to).arrayBuffer())
  const entries = await readZipDirectory(archive.size, read, limits)
  const paths = new Set<string>()
  for (const { path } of entries) {
    if (paths.has(path)) throw new ZipRefused(`it contains "${path}" twice`)
    paths.add(path)
  }
  return entries
    .filter(({ path }) => !path.endsWith("/"))
    .map((entry) => ({
      path: entry.path,
      bytes: entry.bytes,
      problem: entry.problem,
      type: entry.comment.startsWith(commentStart)
        ? entry.comment.slice(commentStart.length)
        : undefined,
      read: () => readEntry(entry, read),
    }))
}

async function readEntry(entry: ZipEntry, read: ReadPart): Promise<Uint8Array> {
  const isPossible = entry.packedBytes <= entry.bytes * 1.1 + limits.addedBytesMax
  if (!isPossible) throw new ZipRefused(`its entry "${entry.path}" is damaged`)
  const from = await findZipData(entry, read)
  const packed = await read(from, from + entry.packedBytes)
  const content = entry.method === 0 ? packed : inflate(packed, entry.bytes)
  if (content?.length !== entry.bytes || toCrc32(content) !== entry.crc32)
    throw new ZipRefused(`its entry "${entry.path}" is damaged`)
  return content
}

/** Undefined if it is damaged, or would be larger than its entry declares. */
function inflate(packed: Uint8Array, bytesMax: number): Uint8Array | undefined {
  const content = new Uint8Array(bytesMax)
  let bytes = 0
  const inflater = new Inflate((chunk) => {
    if (bytes + chunk.length <= bytesMax) content.set(chunk, bytes)
    bytes += chunk.length
  })
  try {
    for (let from = 0; bytes <= bytesMax && from < packed.length; from += limits.chunkBytes) {
      const to = from + limits.chunkBytes
      inflater.push(packed.subarray(from, to), to >= packed.length)
    }
  } catch {
    return undefined
  }
  return bytes === bytesMax ? content : undefined
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function toCrc32(bytes: Uint8Array): number {
  let sum = -1
  for (const byte of bytes) sum = (table[(sum ^ byte) & 255] ?? 0) ^ (sum >>> 8)
  return ~sum >>> 0
}
