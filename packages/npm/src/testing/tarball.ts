/** One entry of a tarball. Nothing is checked: tests want to make evil ones too. */
export interface TarEntry {
  readonly path: string
  readonly content?: string | Uint8Array
  readonly kind?: "file" | "symlink" | "hardlink" | "folder"
  /** Where a link leads. */
  readonly target?: string
  /** The size in its header, if it is not the size of the content. */
  readonly claimedBytes?: number
}

const blockBytes = 512
const kinds = { file: "0", hardlink: "1", symlink: "2", folder: "5" }

/** A tarball as npm packages are. */
export function toTarball(entries: readonly TarEntry[]): Uint8Array<ArrayBuffer> {
  const blocks = entries.flatMap((entry) => {
    const { path, content = "", kind = "file", target = "", claimedBytes } = entry
    const bytes = Buffer.from(content)
    return [
      toHeader(path, claimedBytes ?? bytes.length, kinds[kind], target),
      bytes,
      Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes),
    ]
  })
  return Bun.gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]))
}

/** `struct posix_header` of ustar. */
function toHeader(path: string, bytes: number, kind: string, target: string): Buffer {
  const header = Buffer.alloc(blockBytes)
  const put = (text: string, at: number) => header.write(text, at, "latin1")
  put(path, 0)
  put("0000644\0", 100)
  put("0000000\0", 108)
  put("0000000\0", 116)
  put(`${bytes.toString(8).padStart(11, "0")}\0`, 124)
  put("00000000000\0", 136)
  put("        ", 148)
  put(kind, 156)
  put(target, 157)
  put("ustar\x0000", 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return header
}
