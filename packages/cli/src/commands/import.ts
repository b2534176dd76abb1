import { transferLimits } from "../archive/archive-limits.ts"
import { createReport } from "../archive/import-report.ts"
import { type ImportSource, openImportSource } from "../archive/import-source.ts"
import { type ImportedVal, readFiles, readHistory, readVal } from "../archive/read-val.ts"
import { type ScannedSource, scanSource } from "../archive/scan-source.ts"
import {
  type ImportResult,
  type OutgoingVal,
  type SendOptions,
  sendVals,
} from "../archive/send-vals.ts"
import { writeBranch } from "../archive/write-branch.ts"
import { hasMoreFiles } from "../checkout/remote-tree.ts"
import { CliError } from "../cli-error.ts"
import { defineCommand, wholeNumber } from "../command.ts"
import { toFailure } from "../failure.ts"
import { replayHistory } from "../history/replay-history.ts"
import { limits } from "../limits.ts"
import { type Connection, connectTo } from "../servers/connection.ts"
import { createProgress } from "../terminal/progress.ts"
import { importFromValTown } from "../valtown/import-vals.ts"

export const command = defineCommand({
  description: `Reads an archive written by "hamlet export", a folder of .ts and .tsx files, or a folder or zip file with
one JSON file per val (name, code, privacy, readme, version), as other services export them. Vals that
are already imported are left unchanged, so run the same command again to resume an interrupted import.
Each val is imported as a whole or not at all.

With --from-valtown, reads a folder that "vt clone" made, or a folder of them, or, with the token in
VAL_TOWN_API_KEY, the API of Val Town: all your vals there, or the one that you name, with their files, types and
branches. Values of environment variables and schedules cannot be read; it lists what to set.`,
  examples: [
    ["hamlet import vals.zip", "import an archive with all versions"],
    ["hamlet import vals.zip --dry-run", "show what would happen"],
    ["hamlet import --from-valtown blog", 'a folder that "vt clone" made'],
    ["hamlet import --from-valtown", "all your vals, with the token in VAL_TOWN_API_KEY"],
    [
      "hamlet import folder --if-exists version",
      "import a folder; vals that differ get a new version",
    ],
    [
      "hamlet import vals.zip --json | jq 'select(.status==\"failed\")'",
      "show what failed and why",
    ],
  ],
  takes: {
    "[source]": "zip file or folder; with --from-valtown a folder of vt, or USER/VAL",
    "--from-valtown": "import from Val Town",
    "--api-url <url>": { help: "address of its API", default: "https://api.val.town" },
    "--name <name>": "name of the val that is made of a folder of vt",
    "--dry-run": "show what would happen",
    "--if-exists <what>": {
      help: "what to do with an existing val that differs: skip it, add a version, or fail",
      choices: ["skip", "version", "fail"],
      default: "skip",
    },
    "--versions <number>": {
      help: "import only the newest versions of each val",
      parse: wholeNumber(1, limits.countMax),
    },
  },
  async run(context, options) {
    const connection = await context.connect()
    const report = createReport(context, options.dryRun ?? false)
    if (options.fromValtown) {
      const isDry = options.dryRun ?? false
      return importFromValTown(context, connection, { ...options, isDry }, report)
    }
    if (options.source === undefined)
      throw new CliError("usage", "Cannot import: name a zip file or a folder")
    using source = await openImportSource(options.source)
    const scanned = await scanSource(source)
    for (const { path, error } of scanned.bad) {
      const message = toFailure(error)?.text ?? error.message
      report.add(path, { name: null, status: "failed", message })
    }
    let isBroken = true
    try {
      using progress = createProgress(context, {
        label: options.dryRun ? "Rehearsing" : "Importing",
        unit: "vals",
        total: scanned.vals.length,
      })
      report.useProgress(progress)
      const sent = { ifExists: options.ifExists, dryRun: options.dryRun }
      // Asked for only when needed: otherwise a token with nothing but `val:write` is enough.
      const username = scanned.user === undefined ? "" : (await connection.me()).username
      const outgoing = toOutgoing(source, scanned, { username, versions: options.versions })
      const done: { readonly path: string; readonly result: ImportResult }[] = []
      await sendVals(createPatientClient(connection), outgoing, sent, ({ path }, result) => {
        report.add(path, result)
        if (!options.dryRun && result.id !== undefined) done.push({ path, result })
      })
      if (options.versions === undefined)
        for (const { path } of scanned.vals) {
          const result = await importHistory(connection, source, path, sent, scanned.user)
          if (result) report.add(path, result)
        }
      for (const { path, result } of done) {
        const message = await importFiles(connection, source, path, result)
        if (message !== undefined) report.add(path, { name: null, status: "failed", message })
      }
      isBroken = false
    } finally {
      report.end(isBroken)
    }
    return report.failed > 0 ? "failed" : undefined
  },
})

/** The first request fails fast, to report a server that is down; later ones retry. */
function createPatientClient(connection: Connection): Connection["client"] {
  const patient = connectTo(connection.server, transferLimits).client
  let isReached = false
  return {
    ...patient,
    async importVals(...request) {
      const response = await (isReached ? patient : connection.client).importVals(...request)
      isReached = true
      return response
    },
  }
}

/**
 * Adds the other files of a val, in one version. Returns why not, if it fails. A val that was there
 * already gets them only if it has none, as after an interrupted import.
 */
async function importFiles(
  { client }: Connection,
  source: ImportSource,
  path: string,
  { id = "", status }: ImportResult,
): Promise<string | undefined> {
  if (status === "skipped" || status === "failed") return undefined
  const files = readFiles(path, await source.read(path))
  if (!files) return undefined
  try {
    const isNew = status !== "unchanged"
    if (isNew || !(await hasMoreFiles(client, await client.getVal({ val_id: id }))))
      await writeBranch(client, id, { name: "main", files }, "Imported files")
    return undefined
  } catch (error) {
    const failure = toFailure(error)
    if (!failure || failure.exit === "unavailable") throw error
    return failure.text
  }
}

/** Imports a val whose history the archive has; undefined for another. */
async function importHistory(
  connection: Connection,
  source: ImportSource,
  path: string,
  options: SendOptions,
  user: string | undefined,
): Promise<ImportResult | undefined> {
  const bytes = await source.read(path)
  const branches = readHistory(path, bytes)
  if (!branches) return undefined
  const val = readVal(path, bytes)
  const { username } = await connection.me()
  try {
    const own = toOwnComments(val, user, username)
    return await replayHistory(connection, { ...val, ...own }, branches, options)
  } catch (error) {
    const failure = toFailure(error)
    if (!failure || failure.exit === "unavailable") throw error
    return { name: val.name, status: "failed", message: failure.text }
  }
}

interface Reader {
  readonly username: string
  readonly versions: number | undefined
}

async function* toOutgoing(
  source: ImportSource,
  { vals, user }: ScannedSource,
  reader: Reader,
): AsyncGenerator<OutgoingVal> {
  for (const { path, imports } of vals) {
    const bytes = await source.read(path)
    // Imported save by save, unless only the newest versions are asked for.
    if (reader.versions === undefined && readHistory(path, bytes)) continue
    const val = readVal(path, bytes)
    const versions =
      reader.versions === undefined ? val.versions : val.versions.slice(-reader.versions)
    yield { path, imports, val: { ...val, versions, ...toOwnComments(val, user, reader.username) } }
  }
}

/**
 * Comments of the archive's owner become comments of the importing user, who is the same person
 * under another name.
 */
function toOwnComments(
  { comments }: ImportedVal,
  user: string | undefined,
  username: string,
): Pick<ImportedVal, "comments"> {
  if (!comments) return {}
  return {
    comments: comments.map((one) => (one.author === user ? { ...one, author: username } : one)),
  }
}
