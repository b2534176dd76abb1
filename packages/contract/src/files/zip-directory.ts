/** An entry of an archive. Only its directory has been read. */
export interface ZipEntry {
  readonly path: string
  readonly comment: string
  readonly method: number
  readonly crc32: number
  /** Compressed, and as declared: neither is true before the entry has been read. */
  readonly packedBytes: number
  readonly bytes: number
  /** Where its local header begins. */
  readonly offset: number
  /** Why it cannot be read, as the end of a sentence about it. */
  readonly problem: string | undefined
}

/** A part of a file, which can be read. */
export type ReadPart = (from: number, to: number) => Promise<Uint8Array>

/** An archive that is not one, or one that is damaged or too large. */
export class ZipRefused extends Error {}

const signatures = { end: 0x06054b50, entry: 0x02014b50, local: 0x04034b50 }
const sizes = { end: 22, entry: 46, local: 30, commentMax: 65_535 }
/** The value of a field that is in another record, of the format for large archives. */
const elsewhere = { short: 0xffff, long: 0xffffffff }
/** The upper bits of a file mode, as Unix writes them. */
const kinds = { mask: 0xf000, regular: 0x8000, link: 0xa000 }

/**
 * Reads the directory at the end of an archive. It may be hostile: nothing is read beyond the limit,
 * and every offset is checked before it is used.
 */
export async function readZipDirectory(
  fileBytes: number,
  read: ReadPart,
  { directoryBytesMax }: { readonly directoryBytesMax: number },
): Promise<readonly ZipEntry[]> {
  const tailFrom = Math.max(0, fileBytes - sizes.end - sizes.commentMax)
  const tail = await read(tailFrom, fileBytes)
  const at = findEnd(tail)
  if (at === undefined) throw new ZipRefused("it is not a zip file, or it is incomplete")
  const end = toView(tail).slice(at)
  const [disk, count, bytes, from] = [end.u16(4), end.u16(10), end.u32(12), end.u32(16)]
  if (count === elsewhere.short || bytes === elsewhere.long || from === elsewhere.long)
    throw new ZipRefused("it uses the format for large archives, zip64")
  if (disk !== 0 || end.u16(8) !== count) throw new ZipRefused("it is one part of several")
  if (bytes > directoryBytesMax)
    throw new ZipRefused(`its directory is larger than ${directoryBytesMax} bytes`)
  if (from + bytes > tailFrom + at) throw new ZipRefused("it is damaged")
  return parseEntries(await read(from, from + bytes), count, from)
}

/** Where the data of an entry begins: the local header may have other extra fields. */
export async function findZipData(entry: ZipEntry, read: ReadPart): Promise<number> {
  const header = toView(await read(entry.offset, entry.offset + sizes.local))
  if (header.length < sizes.local || header.u32(0) !== signatures.local)
    throw new ZipRefused("it is damaged")
  return entry.offset + sizes.local + header.u16(26) + header.u16(28)
}

/** The last end record whose comment ends with the file. */
function findEnd(tail: Uint8Array): number | undefined {
  const view = toView(tail)
  for (let at = tail.length - sizes.end; at >= 0; at -= 1)
    if (view.u32(at) === signatures.end && at + sizes.end + view.u16(at + 20) === tail.length)
      return at
  return undefined
}

function parseEntries(bytes: Uint8Array, count: number, limit: number): readonly ZipEntry[] {
  const entries: ZipEntry[] = []
  const decoder = new TextDecoder()
  let at = 0
  for (let index = 0; index < count; index += 1) {
    const view = toView(bytes).slice(at)
    if (view.length < sizes.entry || view.u32(0) !== signatures.entry)
      throw new ZipRefused("its directory is damaged")
    const [pathBytes, extraBytes, commentBytes] = [view.u16(28), view.u16(30), view.u16(32)]
    const next = sizes.entry + pathBytes + extraBytes + commentBytes
    if (next > view.length) throw new ZipRefused("its directory is damaged")
    const entry = {
      path: decoder.decode(view.bytes(sizes.entry, pathBytes)),
      comment: decoder.decode(view.bytes(next - commentBytes, commentBytes)),
      method: view.u16(10),
      crc32: view.u32(16),
      packedBytes: view.u32(20),
      bytes: view.u32(24),
      offset: view.u32(42),
      problem: findProblem(view),
    }
    if (entry.offset + sizes.local + entry.packedBytes > limit)
      throw new ZipRefused(`its entry "${entry.path}" is damaged`)
    entries.push(entry)
    at += next
  }
  return entries
}

function findProblem(view: View): string | undefined {
  const [madeBy, flags, method, mode] = [view.u16(4) >> 8, view.u16(8), view.u16(10), view.u16(40)]
  const isUnix = madeBy === 3 || madeBy === 19
  const kind = mode & kinds.mask
  if (isUnix && kind === kinds.link) return "it is a link"
  if (isUnix && kind !== 0 && kind !== kinds.regular) return "it is not a file"
  if ((flags & 0x2041) !== 0) return "it is encrypted"
  return method === 0 || method === 8 ? undefined : "it is compressed in another way than deflate"
}

type View = ReturnType<typeof toView>

/** Numbers in the order of bytes that archives have. */
function toView(bytes: Uint8Array, from = 0) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return {
    length: bytes.length - from,
    u16: (at: number) => data.getUint16(from + at, true),
    u32: (at: number) => data.getUint32(from + at, true),
    bytes: (at: number, length: number) => bytes.subarray(from + at, from + at + length),
    slice: (at: number) => toView(bytes, from + at),
  }
}
