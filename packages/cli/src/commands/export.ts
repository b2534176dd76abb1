import {
  type ArchiveCounts,
  type ArchivedVal,
  formatVersion,
  formatWithoutHistory,
  type Manifest,
  manifestPath,
  toValPath,
} from "../archive/archive-format.ts"
import { fetchArchivedVals } from "../archive/fetch-vals.ts"
import { createZipWriter, type ZipWriter } from "../archive/zip-writer.ts"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { openWholeFile } from "../files/whole-file.ts"
import { limits } from "../limits.ts"
import { findWholeVal, type Val } from "../names/find-val.ts"
import type { Connection } from "../servers/connection.ts"
import { createProgress } from "../terminal/progress.ts"
import { toSize } from "../terminal/progress-line.ts"

export const command = defineCommand({
  description: `Writes a zip file with one JSON file per val: all versions with their code, readme, settings, comments
and timestamps. Exports all your vals if you name none. Secrets, blobs and runs are not included, and of
likes only the number. Of a val with several files it has the versions of its code and the newest files of main;
--history adds every version of all files and branches. The file exists complete or not at all.`,
  examples: [
    ["hamlet export vals.zip", "all your vals"],
    ["hamlet export some.zip hello ada/page", "two vals"],
    ["hamlet export blog.zip blog --history", "a val with all branches and versions of its files"],
    ["hamlet export - | ssh backup 'cat > vals.zip'", "to standard output"],
  ],
  takes: {
    "<file>": 'file to write, or "-" for standard output',
    "[vals...]": "vals to export",
    "--history": "every version of all files and branches",
    "--force": "overwrite an existing file",
  },
  async run(context, { file, vals, history = false, force = false }) {
    const connection = await context.connect()
    const { username } = await connection.me()
    await using target = await openWholeFile(context, file, force)
    const zip = createZipWriter(target)
    const counts = await addVals(context, connection, zip, vals, history)
    const manifest: Manifest = {
      format: "hamlet-archive",
      formatVersion: history ? formatVersion : formatWithoutHistory,
      server: connection.server.url,
      user: username,
      exportedAt: new Date().toISOString(),
      counts,
    }
    await zip.add(manifestPath, toJson(manifest))
    await zip.end()
    await target.commit()
    print(context, file, counts, zip.bytes)
  },
})

async function addVals(
  context: Context,
  connection: Connection,
  zip: ZipWriter,
  names: readonly string[],
  history: boolean,
): Promise<ArchiveCounts> {
  const counts = { vals: 0, versions: 0, comments: 0 }
  const taken = new Set<string>()
  using progress = createProgress(context, {
    label: "Exporting",
    unit: "vals",
    total: names.length || undefined,
  })
  const { client } = connection
  for await (const val of fetchArchivedVals(client, findVals(connection, names), history)) {
    if (taken.has(val.name.toLowerCase()))
      throw new CliError("usage", `Cannot put two vals named "${val.name}" into one archive`, {
        advice: "export them to two archives",
      })
    taken.add(val.name.toLowerCase())
    await zip.add(toValPath(val.name), toJson(val))
    counts.vals += 1
    counts.versions += countVersions(val)
    counts.comments += val.comments.length
    progress.add(1)
  }
  return counts
}

function countVersions({ versions, branches }: ArchivedVal): number {
  return branches?.reduce((sum, branch) => sum + branch.versions.length, 0) ?? versions.length
}

async function* findVals(connection: Connection, names: readonly string[]): AsyncGenerator<Val> {
  for (const name of names) yield await findWholeVal(connection, name)
  if (names.length > 0) return
  const { id } = await connection.me()
  yield* connection.client.items("listVals", { userId: id, limit: limits.pageItemsMax })
}

function toJson(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)
}

function print({ output }: Context, file: string, counts: ArchiveCounts, bytes: number): void {
  const human = `${counts.vals} vals, ${counts.versions} versions, ${counts.comments} comments, ${toSize(bytes)}`
  // Standard output carries the archive.
  if (file === "-") output.note(`Wrote ${human}`)
  else
    output.print({
      json: { file, ...counts, bytes },
      plain: file,
      human: `Wrote ${file}  ${output.colour.dim(human)}`,
    })
}
