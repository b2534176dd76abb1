import type { Client } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { Val } from "../names/find-val.ts"
import {
  type ArchiveCounts,
  type ArchivedVal,
  formatVersion,
  formatWithoutHistory,
  type Manifest,
  manifestPath,
  toValPath,
} from "./archive-format.ts"
import { fetchArchivedVals } from "./fetch-vals.ts"
import { createZipWriter, type Sink } from "./zip-writer.ts"

/** Where the vals of an archive come from. */
export interface ArchiveSource {
  readonly client: Client
  readonly server: string
  readonly user: string
}

/** What an archive gets, besides vals. */
interface ArchiveOptions {
  readonly hasHistory: boolean
  /** Called after each val. */
  onVal?(): void
}

/** Writes an archive of vals. */
export async function writeArchive(
  sink: Sink,
  { client, server, user }: ArchiveSource,
  vals: AsyncIterable<Val>,
  { hasHistory, onVal }: ArchiveOptions,
): Promise<{ readonly counts: ArchiveCounts; readonly bytes: number }> {
  const zip = createZipWriter(sink)
  const counts = { vals: 0, versions: 0, comments: 0 }
  const taken = new Set<string>()
  for await (const val of fetchArchivedVals(client, vals, hasHistory)) {
    if (taken.has(val.name.toLowerCase()))
      throw new CliError("usage", `Cannot put two vals named "${val.name}" into one archive`, {
        advice: "export them to two archives",
      })
    taken.add(val.name.toLowerCase())
    await zip.add(toValPath(val.name), toJson(val))
    counts.vals += 1
    counts.versions += countVersions(val)
    counts.comments += val.comments.length
    onVal?.()
  }
  const manifest: Manifest = {
    format: "hamlet-archive",
    formatVersion: hasHistory ? formatVersion : formatWithoutHistory,
    server,
    user,
    exportedAt: new Date().toISOString(),
    counts,
  }
  await zip.add(manifestPath, toJson(manifest))
  await zip.end()
  return { counts, bytes: zip.bytes }
}

/** An archive of one val with its whole history, in memory. */
export async function toArchive(source: ArchiveSource, val: Val): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  const write = async (bytes: Uint8Array) => void chunks.push(bytes)
  const vals = (async function* () {
    yield val
  })()
  await writeArchive({ write }, source, vals, { hasHistory: true })
  return Buffer.concat(chunks)
}

function countVersions({ versions, branches }: ArchivedVal): number {
  return branches?.reduce((sum, branch) => sum + branch.versions.length, 0) ?? versions.length
}

function toJson(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)
}
