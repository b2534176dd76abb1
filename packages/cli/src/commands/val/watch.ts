import { mkdirSync } from "node:fs"
import { resolve } from "node:path"
import { type CheckoutFolderDeps, createCheckoutFolder } from "../../checkout/checkout-folder.ts"
import { isCheckoutFolder, loadCheckout } from "../../checkout/checkout-state.ts"
import { assertServer, createOnFetch } from "../../checkout/open-checkout.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import type { Connection } from "../../servers/connection.ts"
import { createAccountFolder } from "../../watch/account-folder.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { createEventPrinter } from "../../watch/print-event.ts"
import type { SyncEvent } from "../../watch/sync-event.ts"
import { toSyncExit } from "../../watch/sync-result.ts"
import { FolderWatcher } from "../../watch/watcher.ts"

export const command = defineCommand({
  description: `Syncs .ts and .tsx files with your vals in both directions until Ctrl-C: edits, new files, renames and
deletions on one side are applied to the other. If both sides have changed, both versions are kept: the file
gets the val's code, and its previous text goes to a conflict file beside it. A val whose file is deleted is
kept unless you pass --delete; a file whose val is deleted moves to .hamlet/trash. The readme of hello.ts is
in hello.ts.README.md. A val with several files is a folder of its own.

In the folder of one val, does the same for its files: each round of changes is one version. A file that you
delete is deleted from the val too, which keeps it in its older versions.`,
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
    "--delete": "delete vals whose file is deleted, after saving their versions to .hamlet/trash",
  },
  async run({ connect, output, interruption }, options) {
    const connection = await connect()
    const folder = openFolder(options.folder, options.dryRun === true)
    const print = createEventPrinter(output)
    let hasProblem = false
    const deps = {
      client: connection.client,
      folder,
      isDeleting: options.delete === true,
      isDry: options.dryRun === true,
      note: (text: string) => output.note(text),
      onFetch: createOnFetch({ output, interruption }),
      report(event: SyncEvent) {
        hasProblem ||= event.action === "problem"
        print(event)
      },
    }
    const watcher = createWatcher(deps, connection)
    if (options.dryRun) return toSyncExit(await watcher.once(), hasProblem)
    return withLockedFolder(folder, async () => {
      interruption.onEnd(() => watcher.stop())
      if (options.once) return toSyncExit(await watcher.once(), hasProblem)
      output.note(`Watching "${options.folder}" until Ctrl-C`)
      await watcher.run()
      // A signal has stopped the watcher; its handler sets the exit code.
      return await new Promise<never>(() => {})
    })
  },
})

function createWatcher(deps: CheckoutFolderDeps, connection: Connection) {
  const { me, server } = connection
  if (isCheckoutFolder(deps.folder)) {
    assertServer(deps.folder, loadCheckout(deps.folder), connection)
    assertNotMerging(deps.folder)
    return new FolderWatcher(createCheckoutFolder(deps))
  }
  return new FolderWatcher(createAccountFolder({ ...deps, serverUrl: server.url, me }))
}

function openFolder(path: string, isDry: boolean): string {
  try {
    if (!isDry) mkdirSync(path, { recursive: true })
    return resolve(path)
  } catch (cause) {
    throw new CliError("failed", `Cannot watch "${path}": ${(cause as Error).message}`, { cause })
  }
}
