import { posix } from "node:path"
import { promisify } from "node:util"
import { parseJson, toOwnJson } from "@hamlet/kit"

/**
 * Files of packages. An archive is a line of JSON with this list, followed by the contents of the
 * files in the same order. It is stored compressed.
 */
export interface FileList {
  readonly files: readonly (readonly [path: string, bytes: number])[]
  /** Links to folders, with their targets relative to the link. */
  readonly links: readonly (readonly [path: string, target: string])[]
}

/** An archive that was read. */
export interface FileArchive {
  readonly list: FileList
  /** The contents of the files, in the order of the list. */
  readonly contents: readonly Uint8Array[]
}

/** What an archive may contain. */
export const archiveLimits = {
  /** The size of an archive before it is compressed. */
  bytesMax: 56 * 1024 ** 2,
  /** The list is parsed and checked at once, which must not take long. */
  listBytesMax: 2 * 1024 ** 2,
  entriesMax: 20_000,
  pathCharsMax: 1_000,
  nameBytesMax: 255,
}

/** Undefined when the list is invalid or does not fit the contents. */
export function packFiles(list: FileList, contents: Uint8Array): Uint8Array | undefined {
  const bytes = list.files.reduce((sum, [, size]) => sum + size, 0)
  if (bytes !== contents.length || !isValid(list)) return undefined
  const line = Buffer.from(`${toOwnJson(list)}\n`)
  if (line.length > archiveLimits.listBytesMax) return undefined
  const archive = Buffer.concat([line, contents])
  return archive.length <= archiveLimits.bytesMax ? archive : undefined
}

export async function compressArchive(archive: Uint8Array): Promise<Uint8Array> {
  // Loaded with the first packages, since many servers have none.
  const { zstdCompress } = await import("node:zlib")
  return await promisify(zstdCompress)(archive)
}

/** Reads a compressed archive. It may come from a backup, so nothing in it is trusted. */
export async function readArchive(
  compressed: Uint8Array,
  bytesMax: number = archiveLimits.bytesMax,
): Promise<FileArchive> {
  const { zstdDecompress } = await import("node:zlib")
  const archive = await promisify(zstdDecompress)(compressed, { maxOutputLength: bytesMax })
  const start = archive.subarray(0, archiveLimits.listBytesMax).indexOf(lineEnd) + 1
  const list = parseJson(archive.toString("utf8", 0, start), archiveLimits.listBytesMax) as FileList
  let at = start
  const contents = list.files.map(([, bytes]) => {
    at += bytes
    return archive.subarray(at - bytes, at)
  })
  if (at !== archive.length || !isValid(list))
    throw new Error("Cannot read the files of packages: the archive is invalid")
  return { list, contents }
}

const lineEnd = 10

/** Whether all paths stay within the folder, and none occurs twice. */
function isValid({ files, links }: FileList): boolean {
  const paths = [...files, ...links].map(([path]) => path)
  return (
    paths.length <= archiveLimits.entriesMax &&
    new Set(paths).size === paths.length &&
    paths.every(isPath) &&
    files.every(([, bytes]) => Number.isSafeInteger(bytes) && bytes >= 0) &&
    links.every(
      ([path, target]) =>
        !target.startsWith("/") &&
        // A ".." after the name of another link would be the parent of that link's target.
        posix.normalize(target) === target &&
        isPath(posix.join(posix.dirname(path), target)),
    )
  )
}

/** Names between slashes, none of them empty, "." or "..". */
const pathPattern = /^(?!\.{1,2}(?:\/|$))[^/\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)*$/

function isPath(path: string): boolean {
  const { pathCharsMax, nameBytesMax } = archiveLimits
  if (path.length > pathCharsMax || !pathPattern.test(path)) return false
  // Most paths are shorter than a name may be.
  if (Buffer.byteLength(path) <= nameBytesMax) return true
  return path.split("/").every((name) => Buffer.byteLength(name) <= nameBytesMax)
}
