import {
  type BackupChecker,
  BackupDamaged,
  type BackupSummary,
  createBackupChecker,
} from "@hamlet/contract/backup"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { BackupFile } from "../files/backup-file.ts"
import { readDownload } from "../files/read-download.ts"
import { limits } from "../limits.ts"
import { writeBytes } from "../streams.ts"
import { createProgress } from "../terminal/progress.ts"
import { toSize } from "../terminal/progress-line.ts"

export const command = defineCommand({
  description: `Writes a consistent snapshot of all data on the server to a file that only you can read, while the
server keeps running. The file is read back and verified before it gets its name: it exists complete
or not at all. The secret key is not included, so keep a copy of it elsewhere. Requires a token with
the scope "backup".`,
  examples: [
    ["hamlet backup monday.backup", "write a file"],
    ["hamlet backup latest.backup --force", "replace the previous backup"],
    ["hamlet backup - | ssh elsewhere 'cat > hamlet.backup'", "stream to another machine"],
  ],
  takes: {
    "<file>": 'file to write, or "-" for standard output',
    "--force": "overwrite an existing file",
    "--skip-damaged": "skip and report user databases that cannot be read",
  },
  async run(context, { file, force, skipDamaged }) {
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
  },
})

/**
 * There is no file to read back. The stream was checked while it passed, and the receiver can check
 * it again.
 */
async function toStandardOutput(context: Context, skipDamaged: boolean): Promise<void> {
  if (process.stdout.isTTY)
    throw new CliError("usage", "Cannot write a backup to a terminal", {
      advice: "name a file, or pipe the output to another program",
    })
  printLosses(context, await receive(context, skipDamaged, writeBytes))
}

/** Receives the whole backup and checks it. */
async function receive(
  context: Context,
  skipDamaged: boolean,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<BackupSummary> {
  const { client } = await context.connect()
  const abort = new AbortController()
  const leave = context.interruption.onEnd(() => abort.abort())
  try {
    const query = skipDamaged ? { skipDamaged } : {}
    const response = await client.getBackup(query, { signal: abort.signal })
    using progress = createProgress(context, { label: "Backing up", unit: "items" })
    const checker = createBackupChecker()
    for await (const chunk of readDownload(response, "back up", downloadLimits)) {
      check(checker, chunk)
      progress.label(`Backing up ${toSize(checker.bytes)}`)
      // The server's total is an estimate: data changes while the backup runs.
      if (checker.header) progress.set(checker.items, Math.max(checker.items, checker.header.items))
      await write(chunk)
    }
    return end(checker)
  } finally {
    leave()
    abort.abort()
  }
}

/** A backup has any size, and its format shows where it ends. */
const downloadLimits = { stalledMs: limits.stalledMs, bytesMax: Number.POSITIVE_INFINITY }

/** Verifies the file as it is on disk. */
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
    `Cannot back up: the received data is not a complete backup: ${error.message}`,
    {
      advice: "try again",
      cause: error,
    },
  )
}

function printLosses({ output }: Context, { trailer: { missing, damaged } }: BackupSummary): void {
  if (missing.length > 0)
    output.note(
      `The backup lacks the content of ${missing.length} ${missing.length === 1 ? "blob" : "blobs"}: it is missing on the server`,
    )
  if (damaged.length > 0)
    output.note(
      `The backup lacks the databases of these users, which cannot be read: ${damaged.join(", ")}`,
    )
}
