import { existsSync, mkdirSync } from "node:fs"
import { resolve } from "node:path"
import { createAccountFolder } from "../../account/account-folder.ts"
import { findOldFiles } from "../../account/old-files.ts"
import { createCheckoutFolder } from "../../checkout/checkout-folder.ts"
import { isCheckoutFolder, loadCheckout } from "../../checkout/checkout-state.ts"
import { assertServer, createOnFetch } from "../../checkout/open-checkout.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import { confirmOption } from "../../shapes.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { createEventPrinter } from "../../watch/print-event.ts"
import type { SyncEvent } from "../../watch/sync-event.ts"
import { toSyncExit } from "../../watch/sync-result.ts"
import { FolderWatcher } from "../../watch/watcher.ts"
import { convertWhenAsked } from "./convert.ts"

export const command = defineCommand({
  description: `Syncs a folder with all your vals in both directions until Ctrl-C. Each val has a folder in it, as "hamlet
val clone USER/VAL" makes it: edits, new files, renames and deletions on one side are applied to the other, and
each round of changes is one version. A new folder with a .ts or .tsx file becomes a private val, a new val
becomes a folder. A val whose folder is deleted is kept unless you pass --delete; a folder whose val is deleted
moves to .hamlet/trash. If both sides have changed the same lines, both texts are kept: the file gets the val's
text, and its previous text goes to a conflict file beside it.

In the folder of one val, does the same for that val. A file that you delete is deleted from the val too, which
keeps it in its older versions.

In a folder from an older version of this program, each val was one file. They are converted to folders once,
after a question.`,
  examples: [
    ["hamlet val watch vals", "keep the folder vals in sync with your vals"],
    ["hamlet val watch blog", "keep the folder of one val in sync"],
    ["hamlet val watch --once", "sync this folder once, as in CI"],
    ["hamlet val watch --dry-run", "show what a sync would do"],
  ],
  takes: {
    "[folder]": { help: "folder to sync, created if missing", default: "." },
    "--once": "exit once both sides are in sync",
    "--dry-run": "show what would be done, and exit",
    "--delete": "delete vals whose folder is deleted, after an archive of them is in .hamlet/trash",
    ...confirmOption,
  },
  async run({ connect, output, interruption }, options) {
    const connection = await connect()
    const { client, server, me } = connection
    const isDry = options.dryRun === true
    const folder = openFolder(options.folder, isDry)
    const print = createEventPrinter(output)
    let hasProblem = false
    const deps = {
      client,
      folder,
      serverUrl: server.url,
      me,
      isDeleting: options.delete === true,
      isDry,
      isStopping: () => interruption.isEnding(),
      note: (text: string) => output.note(text),
      onFetch: createOnFetch({ output, interruption }),
      report(event: SyncEvent) {
        hasProblem ||= event.action === "problem"
        print(event)
      },
    }
    const isCheckout = isCheckoutFolder(folder)
    if (isCheckout) {
      assertServer(folder, loadCheckout(folder), connection)
      assertNotMerging(folder)
    }
    const watcher = isCheckout
      ? new FolderWatcher(createCheckoutFolder(deps))
      : new FolderWatcher(createAccountFolder(deps))
    if (isDry) {
      const old = isCheckout ? [] : [...findOldFiles(folder, server.url, true).files.keys()]
      for (const file of old) print({ action: "trashed", file, isPlanned: true })
      if (old.length > 0) return undefined
      return toSyncExit(await watcher.once(), hasProblem)
    }
    return withLockedFolder(folder, async () => {
      const asking = { hasLoose: true, yes: options.yes }
      const converted = isCheckout ? undefined : await convertWhenAsked(deps, connection, asking)
      if (converted?.isComplete === false) return converted.exit
      interruption.onEnd(() => watcher.stop())
      if (options.once) return toSyncExit(await watcher.once(), hasProblem) ?? converted?.exit
      output.note(`Watching "${options.folder}" until Ctrl-C`)
      await watcher.run()
      // A signal has stopped the watcher; its handler sets the exit code.
      return await new Promise<never>(() => {})
    })
  },
})

function openFolder(path: string, isDry: boolean): string {
  if (isDry && !existsSync(path))
    throw new CliError("notFound", `Cannot read "${path}": there is no such folder`)
  try {
    if (!isDry) mkdirSync(path, { recursive: true })
    return resolve(path)
  } catch (cause) {
    throw new CliError("failed", `Cannot watch "${path}": ${(cause as Error).message}`, { cause })
  }
}
