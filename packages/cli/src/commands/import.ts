import { type Command, InvalidArgumentError, Option } from "commander"
import { transferLimits } from "../archive/archive-limits.ts"
import { type ImportSource, openImportSource } from "../archive/import-source.ts"
import { type ImportedVal, readVal } from "../archive/read-val.ts"
import { type ScannedSource, scanSource } from "../archive/scan-source.ts"
import {
  type ImportResult,
  type OutgoingVal,
  type SendOptions,
  sendVals,
} from "../archive/send-vals.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import type { ExitName } from "../exit-codes.ts"
import { toFailure } from "../failure.ts"
import { type Connection, connectTo } from "../servers/connection.ts"
import { createProgress, type Progress } from "../terminal/progress.ts"

interface ImportOptions {
  readonly source: string
  readonly dryRun?: boolean
  readonly ifExists: "skip" | "version" | "fail"
  readonly versions?: number
}

export const command = defineCommand<ImportOptions>({
  description: `Takes an archive that "hamlet export" wrote, a folder of .ts and .tsx files, and a folder or zip file with a JSON file for each val (name, code,
privacy, readme, version), as other services give out. What is imported already is left as it is: an import that was broken off is gone on with by
giving the same command again. Each val is imported as a whole or not at all.`,
  examples: [
    ["hamlet import vals.zip", "what somebody has exported, with all versions"],
    ["hamlet import vals.zip --dry-run", "say what would happen, and do nothing"],
    [
      "hamlet import folder --if-exists version",
      "a folder of files; what differs gets a new version",
    ],
    ["hamlet import vals.zip --json | jq 'select(.status==\"failed\")'", "what failed, and why"],
  ],
  configure: (command: Command) =>
    command
      .argument("<source>", "a zip file or a folder")
      .option("--dry-run", "say what would happen")
      .addOption(
        new Option(
          "--if-exists <what>",
          "a val of that name that differs is left alone, gets a version, or is a failure",
        )
          .choices(["skip", "version", "fail"])
          .default("skip"),
      )
      .option("--versions <number>", "only so many of the newest versions of each", toCount),
  run: importVals,
})

async function importVals(context: Context, options: ImportOptions): Promise<ExitName | undefined> {
  const connection = await context.connect()
  using source = await openImportSource(options.source)
  const scanned = await scanSource(source)
  const report = createReport(context, options)
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
    const sent: SendOptions = {
      ifExists: options.ifExists,
      ...(options.dryRun && { dryRun: true }),
    }
    // A token that may only write vals is enough for everything else.
    const username = scanned.user === undefined ? "" : (await connection.me()).username
    const outgoing = toOutgoing(source, scanned, { username, versions: options.versions })
    await sendVals(createPatientClient(connection), outgoing, sent, ({ path }, result) =>
      report.add(path, result),
    )
    isBroken = false
  } finally {
    report.end(isBroken)
  }
  return report.failed > 0 ? "failed" : undefined
}

/**
 * The first request is sent with little patience, since a server that is not there should be counted
 * of; later ones with more.
 */
function createPatientClient(connection: Connection): Connection["client"] {
  const patient = connectTo(connection.server, transferLimits).client
  let isThere = false
  return {
    ...patient,
    async importVals(...request) {
      const answer = await (isThere ? patient : connection.client).importVals(...request)
      isThere = true
      return answer
    },
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
    const val = readVal(path, await source.read(path))
    const versions =
      reader.versions === undefined ? val.versions : val.versions.slice(-reader.versions)
    yield { path, imports, val: { ...val, versions, ...toOwnComments(val, user, reader.username) } }
  }
}

/**
 * What the owner of the archive said of their vals, whoever imports it says now: it is the same
 * person under another name.
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

type Status = ImportResult["status"]

/** What became of a file; one that cannot be read has no name. */
type Outcome = Omit<ImportResult, "name"> & { readonly name: string | null }

/** Tells of each val as it comes, and of all of them at the end. */
function createReport({ output }: Context, { dryRun = false }: ImportOptions) {
  const counts: Record<Status, number> = {
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    failed: 0,
  }
  let progress: Progress | undefined
  const note = (text: string) => (progress ? progress.note(text) : output.note(text))
  return {
    get failed() {
      return counts.failed
    },
    useProgress(shown: Progress) {
      progress = shown
    },
    add(path: string, result: Outcome) {
      const { name, status, version, message = "" } = result
      counts[status] += 1
      if (name !== null) progress?.add(1)
      if (output.mode === "json") output.json({ ...result, file: path, ...(dryRun && { dryRun }) })
      else if (output.mode === "plain")
        output.line([status, name ?? path, version ?? "", toOneLine(message)].join("\t"))
      if (output.mode !== "json" && message !== "")
        note(status === "created" ? `${name}: ${message}` : message)
    },
    /** With `isBroken`, what follows is why it went no further. */
    end(isBroken: boolean) {
      const counted = Object.entries(counts).filter(([, count]) => count > 0)
      const text = `${dryRun ? "Would be: " : ""}${counted.map(([status, count]) => `${count} ${status}`).join(", ")}`
      if (output.mode !== "json" && counted.length > 0)
        note(isBroken ? `${text}, and then no more; the same command goes on with the rest` : text)
      progress = undefined
    },
  }
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ")
}

function toCount(text: string): number {
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
  if (count === undefined) throw new InvalidArgumentError("It must be a number from 1.")
  return count
}
