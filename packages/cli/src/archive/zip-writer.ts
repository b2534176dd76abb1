import { Zip, ZipDeflate } from "fflate"
import { CliError } from "../cli-error.ts"
import { archiveLimits as limits } from "./archive-limits.ts"

/** Where the bytes of an archive go. */
export interface Sink {
  write(bytes: Uint8Array): Promise<void>
}

/** An archive that is being written, entry by entry: no more than one is in memory. */
export interface ZipWriter {
  readonly bytes: number
  add(path: string, content: Uint8Array): Promise<void>
  /** Writes the list of entries, without which it is no archive. */
  end(): Promise<void>
}

const level = 6

/** Writes a zip file into a sink. */
export function createZipWriter(sink: Sink): ZipWriter {
  const made: Uint8Array[] = []
  let bytes = 0
  let entries = 0
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    made.push(chunk)
  })
  const flush = async () => {
    for (const chunk of made.splice(0)) {
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
          `Cannot put "${path}" into the archive: one has at most ${limits.entriesMax} entries and ${limits.archiveBytesMax} bytes`,
          { advice: "name the vals, and write several" },
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
