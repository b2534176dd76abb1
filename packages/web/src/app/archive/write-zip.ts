import { Zip, ZipDeflate } from "fflate"
import { toEntryComment } from "./read-zip.ts"
import type { ValFile } from "./select-files.ts"

/**
 * An archive of files in one folder. Their types are comments of its entries, so that an import of the
 * archive gives the same val again, and other programs see only the files.
 */
export function writeZip(folder: string, files: readonly ValFile[]): Blob {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    chunks.push(new Uint8Array(chunk))
  })
  for (const { path, type, content } of files) {
    const entry = new ZipDeflate(`${folder}/${path}`, { level: 6 })
    entry.comment = toEntryComment(type)
    zip.add(entry)
    entry.push(new TextEncoder().encode(content), true)
  }
  zip.end()
  return new Blob(chunks, { type: "application/zip" })
}
