import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { relative } from "node:path"
import type { Client } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { Context } from "../context.ts"
import { toStatePath } from "../files/state-file.ts"
import type { Connection } from "../servers/connection.ts"
import { createProgress, type Progress } from "../terminal/progress.ts"
import { createEventPrinter } from "../watch/print-event.ts"
import {
  type Checkout,
  findCheckoutFolder,
  isCheckoutFolder,
  loadCheckout,
  saveCheckout,
} from "./checkout-state.ts"
import type { OnFetch } from "./remote-tree.ts"
import { compareFolder, type PulledTree, pullTree, type TreeDeps } from "./sync-tree.ts"

/** The folder of one val, and what its commands need. */
export interface OpenCheckout {
  readonly folder: string
  readonly checkout: Checkout
  readonly connection: Connection
  readonly client: Client
}

/** Opens the folder of one val that a path is in. */
export async function openCheckout(context: Context, path = "."): Promise<OpenCheckout> {
  const folder = findCheckoutFolder(path)
  if (folder === undefined)
    throw new CliError(
      "usage",
      `Cannot find the val of "${path}": it is not the folder of one val`,
      {
        advice:
          'make one with "hamlet val clone USER/VAL", or save it with "hamlet val push --create NAME"',
      },
    )
  const connection = await context.connect()
  const checkout = loadCheckout(folder)
  assertServer(folder, checkout, connection)
  return { folder, checkout, connection, client: connection.client }
}

/** The folder may be of another server, where its val has another meaning. */
export function assertServer(
  folder: string,
  { server }: Checkout,
  connection: { readonly server: { readonly url: string } },
): void {
  if (server === connection.server.url) return
  throw new CliError(
    "usage",
    `Cannot use "${relative("", folder) || "."}" with ${connection.server.url}: it is a folder of ${server}`,
    { advice: 'select that server with "--server"' },
  )
}

/** The dependencies of a command that compares a folder once. It shows the progress of transfers. */
export function createTreeDeps(
  context: Context,
  { folder, client }: Pick<OpenCheckout, "folder" | "client">,
): TreeDeps {
  return {
    client,
    folder,
    report: createEventPrinter(context.output),
    isStopping: () => context.interruption.isEnding(),
    onFetch: createOnFetch(context),
  }
}

/** Shows the progress of a download that is long enough to wait for. */
export function createOnFetch(context: Pick<Context, "output" | "interruption">): OnFetch {
  let progress: Progress | undefined
  return {
    begin(total) {
      if (total >= filesShown)
        progress = createProgress(context, { label: "Downloading", unit: "files", total })
    },
    add: () => progress?.add(1),
    end() {
      progress?.stop()
      progress = undefined
    },
  }
}

/** Fewer files than this are there at once. */
const filesShown = 20

/** Whether a folder has nothing, or what this program has written there before it was stopped. */
export function isEmptyFolder(folder: string): boolean {
  const states = ["state.json", "account.json"].map((name) => toStatePath(folder, name))
  return readdirSync(folder).every((name) => name === ".hamlet") && !states.some(existsSync)
}

/** A val and the branch whose files a folder gets. */
export type CloneSource = Pick<Checkout, "server" | "val" | "branch">

/**
 * Writes the files of a branch to a folder, which is created, is empty, or is already that of the
 * val: an interrupted clone goes on.
 */
export async function cloneInto(
  deps: TreeDeps,
  source: CloneSource,
  isForced: boolean,
): Promise<PulledTree> {
  const { folder } = deps
  if (isCheckoutFolder(folder)) {
    if (loadCheckout(folder).val.id !== source.val.id)
      throw new CliError(
        "conflict",
        `Cannot clone into "${folder}": it is the folder of another val`,
      )
  } else {
    mkdirSync(folder, { recursive: true })
    if (!isEmptyFolder(folder))
      throw new CliError("conflict", `Cannot clone into "${folder}": the folder is not empty`, {
        advice: "name another folder",
      })
    saveCheckout(folder, { ...source, version: null, files: new Map() })
  }
  const compared = await compareFolder(deps)
  for (const [file, text] of compared.remote.refused) deps.report({ action: "problem", file, text })
  return pullTree(deps, compared, isForced)
}
