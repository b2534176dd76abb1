import type { ArchiveCounts } from "../archive/archive-format.ts"
import { type ArchiveSource, writeArchive } from "../archive/write-archive.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { openWholeFile, type WholeFile } from "../files/whole-file.ts"
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
    const source = { client: connection.client, server: connection.server.url, user: username }
    const { counts, bytes } = await writeVals(context, source, target, {
      vals: findVals(connection, vals),
      total: vals.length || undefined,
      hasHistory: history,
    })
    await target.commit()
    print(context, file, counts, bytes)
  },
})

async function writeVals(
  context: Context,
  source: ArchiveSource,
  target: WholeFile,
  options: {
    readonly vals: AsyncIterable<Val>
    readonly total: number | undefined
    readonly hasHistory: boolean
  },
): ReturnType<typeof writeArchive> {
  const { vals, total, hasHistory } = options
  using progress = createProgress(context, { label: "Exporting", unit: "vals", total })
  return await writeArchive(target, source, vals, { hasHistory, onVal: () => progress.add(1) })
}

async function* findVals(connection: Connection, names: readonly string[]): AsyncGenerator<Val> {
  for (const name of names) yield await findWholeVal(connection, name)
  if (names.length > 0) return
  const { id } = await connection.me()
  yield* connection.client.items("listVals", { userId: id, limit: limits.pageItemsMax })
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
