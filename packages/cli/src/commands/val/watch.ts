import { mkdirSync } from "node:fs"
import { resolve } from "node:path"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { sweepFolder } from "../../watch/actions/replace-file.ts"
import { lockFolder } from "../../watch/lock-folder.ts"
import { createEventPrinter } from "../../watch/print-event.ts"
import { FolderWatcher } from "../../watch/watcher.ts"

interface WatchOptions {
  readonly folder: string
  readonly once?: true
  readonly dryRun?: true
  readonly delete?: true
}

export const command = defineCommand<WatchOptions>({
  description: `Files ending in .ts or .tsx and your vals are kept the same, in both directions, until Ctrl-C: what is edited, made, renamed or
deleted on one side is so on the other. If both sides have changed, both are kept: the val goes into the file, and what the file had into a conflict
file beside it. A val whose file is deleted stays, unless --delete says otherwise; a file whose val is deleted goes to .hamlet/trash.
The readme of hello.ts is hello.ts.README.md beside it.`,
  examples: [
    ["hamlet val watch vals", "all your vals in the folder vals, from now on"],
    ["hamlet val watch --once", "bring this folder and the vals together once, as CI would"],
    ["hamlet val watch --dry-run", "what that would do"],
  ],
  configure: (command: Command) =>
    command
      .argument("[folder]", "the folder; it is made if it is not there", ".")
      .option("--once", "end when both sides are the same")
      .option("--dry-run", "only say what would be done, once")
      .option(
        "--delete",
        "delete a val when its file is deleted; its versions go to .hamlet/trash first",
      ),
  run: watchFolder,
})

async function watchFolder(
  { connect, output, interruption }: Context,
  options: WatchOptions,
): Promise<ExitName | undefined> {
  const { client, server } = await connect()
  const folder = openFolder(options.folder, options.dryRun === true)
  const print = createEventPrinter(output)
  let hasProblem = false
  const watcher = new FolderWatcher({
    client,
    folder,
    serverUrl: server.url,
    isDeleting: options.delete === true,
    isDry: options.dryRun === true,
    getOwner: createOwner(async () => server.user ?? (await client.getMe())),
    note: (text) => output.note(text),
    report(event) {
      hasProblem ||= event.action === "problem"
      print(event)
    },
  })
  if (options.dryRun) return toExit(await watcher.once(), hasProblem)
  const unlock = lockFolder(folder)
  interruption.onEnd(() => watcher.stop())
  try {
    sweepFolder(folder)
    if (options.once) return toExit(await watcher.once(), hasProblem)
    output.note(`Watching "${options.folder}" until Ctrl-C`)
    await watcher.run()
    // It ends because somebody has ended the program, who also says with which number.
    return await new Promise(() => {})
  } finally {
    unlock()
  }
}

/** Asks until there is an answer, and then not again: the server may be away at first. */
function createOwner(ask: () => Promise<{ readonly id: string }>): () => Promise<string> {
  let owner: string | undefined
  return async () => {
    owner ??= (await ask()).id
    return owner
  }
}

function openFolder(path: string, isDry: boolean): string {
  try {
    if (!isDry) mkdirSync(path, { recursive: true })
    return resolve(path)
  } catch (cause) {
    throw new CliError("failed", `Cannot watch "${path}": ${(cause as Error).message}`, { cause })
  }
}

/** CI wants to know when somebody has to look at it. */
function toExit(
  { hasConflict, isRaced, exit }: Awaited<ReturnType<FolderWatcher["once"]>>,
  hasProblem: boolean,
): ExitName | undefined {
  return hasConflict || isRaced ? "conflict" : (exit ?? (hasProblem ? "failed" : undefined))
}
