import { Zip, ZipDeflate } from "fflate"
import { CliError } from "../cli-error.ts"
import { archiveLimits as limits } from "./archive-limits.ts"

/** Where an archive is written. */
export interface Sink {
  write(bytes: Uint8Array): Promise<void>
}

/** Writes an archive entry by entry, with one entry in memory at a time. */
export interface ZipWriter {
  readonly bytes: number
  add(path: string, content: Uint8Array): Promise<void>
  /** Writes the directory, without which the file is not an archive. */
  end(): Promise<void>
}

const level = 6

/** Creates a writer of a zip file. */
export function createZipWriter(sink: Sink): ZipWriter {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let entries = 0
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    chunks.push(chunk)
  })
  const flush = async () => {
    for (const chunk of chunks.splice(0)) {
      bytes += chunk.length
      await sink.write(chunk)
    }
  }
  return {
    get bytes() {
      return bytes
    },
    async add(path, content) {
      if (content.length > limits.entryBytesMax)
        throw new CliError(
          "failed",
          `Cannot put "${path}" into the archive: it is larger than ${limits.entryBytesMax} bytes`,
        )
      entries += 1
      if (entries > limits.entriesMax || bytes + content.length > limits.archiveBytesMax)
        throw new CliError(
          "failed",
          `Cannot put "${path}" into the archive: the limit is ${limits.entriesMax} entries and ${limits.archiveBytesMax} bytes`,
          { advice: "export the vals to several archives" },
        )
      const file = new ZipDeflate(path, { level })
      zip.add(file)
      file.push(content, true)
      await flush()
    },
    async end() {
      zip.end()
      await flush()
    },
  }
}
