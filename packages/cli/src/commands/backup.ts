import {
  type BackupChecker,
  BackupDamaged,
  type BackupSummary,
  createBackupChecker,
} from "@hamlet/contract/backup"
import type { Command } from "commander"
import { BackupFile } from "../backup/backup-file.ts"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { limits } from "../limits.ts"
import { createProgress } from "../terminal/progress.ts"
import { toSize } from "../terminal/progress-line.ts"

interface BackupOptions {
  readonly file: string
  readonly force?: true
  readonly skipDamaged?: true
}

export const command = defineCommand<BackupOptions>({
  description: `Writes everything that the server keeps, as it is at one moment, into a file that only you can read. The server goes on meanwhile.
The file is read back and checked before it gets its name, so that it is there whole or not at all. The secret key is not in it: keep that
elsewhere. The token needs the scope "backup".`,
  examples: [
    ["hamlet backup monday.backup", "into a file"],
    ["hamlet backup latest.backup --force", "in the place of the one before"],
    ["hamlet backup - | ssh elsewhere 'cat > hamlet.backup'", "to another machine"],
  ],
  configure: (command: Command) =>
    command
      .argument("<file>", 'where to write it; "-" is standard output')
      .option("--force", "replace a file that is there")
      .option(
        "--skip-damaged",
        "go on without the databases of users that cannot be read, and name them",
      ),
  run: backUp,
})

async function backUp(
  context: Context,
  { file, force, skipDamaged = undefined }: BackupOptions,
): Promise<void> {
  const { output } = context
  if (file === "-") return toStandardOutput(context, skipDamaged === true)
  const target = await BackupFile.create(file, force === true)
  const leave = context.interruption.onEnd(() => target.discard())
  try {
    const received = await receive(context, skipDamaged === true, (chunk) => target.write(chunk))
    const summary = await verify(context, target, received.bytes)
    await target.finish()
    printLosses(context, summary)
    const { createdAt, serverVersion } = summary.header
    const { items, missing, damaged } = summary.trailer
    output.print({
      json: {
        file,
        bytes: summary.bytes,
        createdAt,
        serverVersion,
        items,
        missing: missing.length,
        damaged,
      },
      plain: file,
      human: `Backed up ${toSize(summary.bytes)} to "${output.toVisible(file)}"`,
    })
  } catch (error) {
    target.discard()
    throw error
  } finally {
    leave()
  }
}

/**
 * There is no file to read back: what went through was checked, and whoever gets it can do so
 * again.
 */
async function toStandardOutput(context: Context, skipDamaged: boolean): Promise<void> {
  if (process.stdout.isTTY)
    throw new CliError("usage", "Cannot write a backup to a terminal", {
      advice: "name a file, or lead it to another program",
    })
  const write = (chunk: Uint8Array) =>
    new Promise<void>((resolve) => process.stdout.write(chunk, () => resolve()))
  printLosses(context, await receive(context, skipDamaged, write))
}

/** Everything that the server sends, and whether that is a whole backup. */
async function receive(
  context: Context,
  skipDamaged: boolean,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<BackupSummary> {
  const { client } = await context.connect()
  const abort = new AbortController()
  const leave = context.interruption.onEnd(() => abort.abort())
  try {
    const { body } = await client.getBackup(skipDamaged ? { skipDamaged } : {}, {
      signal: abort.signal,
    })
    using progress = createProgress(context, { label: "Backing up", unit: "items" })
    const checker = createBackupChecker()
    for await (const chunk of readBody(body)) {
      check(checker, chunk)
      progress.label(`Backing up ${toSize(checker.bytes)}`)
      // What the server expects is an estimate, and others go on working there.
      if (checker.header) progress.set(checker.items, Math.max(checker.items, checker.header.items))
      await write(chunk)
    }
    return end(checker)
  } finally {
    leave()
    abort.abort()
  }
}

async function* readBody(body: Response["body"]): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk
  } catch (cause) {
    throw new CliError(
      "unavailable",
      `Cannot back up: the connection broke off (${cause instanceof Error ? cause.message : cause})`,
      {
        cause,
        advice: "try again",
      },
    )
  }
}

/** The file as it is on the disk. */
async function verify(context: Context, target: BackupFile, bytes: number): Promise<BackupSummary> {
  using progress = createProgress(context, { label: "Verifying", unit: "bytes", total: bytes })
  const checker = createBackupChecker()
  for await (const chunk of target.readBack(limits.readBytes)) {
    check(checker, chunk)
    progress.add(chunk.length)
  }
  return end(checker)
}

function check(checker: BackupChecker, chunk: Uint8Array): void {
  try {
    checker.add(chunk)
  } catch (error) {
    throw toCliError(error)
  }
}

function end(checker: BackupChecker): BackupSummary {
  try {
    return checker.end()
  } catch (error) {
    throw toCliError(error)
  }
}

function toCliError(error: unknown): unknown {
  if (!(error instanceof BackupDamaged)) return error
  return new CliError(
    "failed",
    `Cannot back up: what arrived is no whole backup, because ${error.message}`,
    {
      advice: "try again",
      cause: error,
    },
  )
}

function printLosses({ output }: Context, { trailer: { missing, damaged } }: BackupSummary): void {
  if (missing.length > 0)
    output.note(
      `The content of ${missing.length} ${missing.length === 1 ? "blob" : "blobs"} is not where it should be, and not in the backup`,
    )
  if (damaged.length > 0)
    output.note(
      `Databases that cannot be read are not in the backup, those of: ${damaged.join(", ")}`,
    )
}
