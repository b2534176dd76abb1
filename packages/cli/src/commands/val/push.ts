import { dirname, relative } from "node:path"
import { privacies } from "@hamlet/contract/lists"
import { findAccount } from "../../account/account-state.ts"
import {
  findCheckoutFolder,
  isCheckoutFolder,
  loadCheckout,
  saveCheckout,
  toCheckoutName,
} from "../../checkout/checkout-state.ts"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import {
  assertCurrent,
  compareFolder,
  type PushedTree,
  pullTree,
  pushTree,
  type TreeDeps,
  toForcedPush,
} from "../../checkout/sync-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { isVersionConflict } from "../../failure.ts"
import { type FolderState, openFolderState } from "../../files/folder-state.ts"
import { pushFile } from "../../files/push-file.ts"
import { limits } from "../../limits.ts"
import { assertNotMerging } from "../../merging/merge-state.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import { type Privacy, toSaved } from "../../vals.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"

export const command = defineCommand({
  description: `Without files, saves the folder of one val: all changes are one version, or nothing is saved. Files that
.hamletignore lists are left out; its syntax is that of .gitignore. If the val has changed since the folder was
written, it is not overwritten. The name of a new file gives it its type: main.http.ts, nightly.cron.ts,
inbox.email.ts; "hamlet file type" changes it.

With files, each of them is a val. The file name is the name of the val. A first line such as
"// hamlet: name=hello privacy=public type=http" overrides it and is not part of the code. Vals that do not exist
are created. If the file was pulled or pushed before and the val has changed since, it is not overwritten. The
readme of hello.ts is in hello.ts.README.md.`,
  examples: [
    ["hamlet val push -m 'Show the newest first'", "save the folder of a val as one version"],
    ["hamlet val push --create blog", "make a val of the files in this folder"],
    ["hamlet val push hello.ts", "save one file"],
    ["hamlet val push *.ts *.tsx", "save all files of a folder"],
    ["hamlet val push hello.ts --force", "overwrite newer changes"],
  ],
  takes: {
    "[files...]": ".ts or .tsx files",
    "-m, --message <text>": "note for the version, when a folder is saved",
    "-d, --dir <folder>": { help: "folder of the val", default: "." },
    "--create <name>": "make a val of the folder",
    "--privacy <privacy>": { help: "who can see the new val", choices: privacies },
    "--force": "overwrite newer changes on the server",
  },
  async run(context, { files, message, dir, create, privacy = "private", force = false }) {
    if (files.length > 0) return pushFiles(context, files, force)
    if (create !== undefined) await createCheckout(context, dir, create, privacy)
    return pushCheckout(context, dir, { message, force })
  },
})

async function pushFiles(
  context: Context,
  files: readonly string[],
  force: boolean,
): Promise<ExitName | undefined> {
  const { client, server } = await context.connect()
  const states = new Map<string, FolderState>()
  const stateOf = (folder: string) => {
    const state = states.get(folder) ?? openFolderState(folder, server.url)
    states.set(folder, state)
    return state
  }
  return forEachOne(context.output, files, async (path) => {
    const folder = findCheckoutFolder(dirname(path))
    if (folder !== undefined)
      throw new CliError(
        "usage",
        `Cannot save "${path}" as a val: it is in the folder of ${toCheckoutName(loadCheckout(folder))}`,
        { advice: 'save the whole folder with "hamlet val push"' },
      )
    if (findAccount(dirname(path)))
      throw new CliError(
        "usage",
        `Cannot save "${path}" as a val: each val has a folder here, and the file is in none`,
        { advice: 'make a folder of it, and save that with "hamlet val watch --once"' },
      )
    const state = stateOf(dirname(path))
    const pushed = await pushFile(client, state, path, force)
    // After each file: an interrupted push must not conflict with its own saves later.
    state.save()
    context.output.print({
      ...toSaved(pushed.val, pushed.isNew ? "Saved" : "Unchanged:"),
      json: { file: path, val: pushed.val },
    })
  })
}

/** Makes the folder that of a new val without files. */
async function createCheckout(
  context: Context,
  folder: string,
  name: string,
  privacy: Privacy,
): Promise<void> {
  const { client, server, me } = await context.connect()
  if (isCheckoutFolder(folder)) {
    const checkout = loadCheckout(folder)
    const isThere = await client.getFolder({ val_id: checkout.val.id }).then(
      () => true,
      () => false,
    )
    if (isThere)
      throw new CliError(
        "conflict",
        `Cannot make a val of "${folder}": it is the folder of ${toCheckoutName(checkout)}`,
      )
  }
  const { username } = await me()
  const val = await client.createFolder({ name, privacy })
  saveCheckout(folder, {
    server: server.url,
    val: { id: val.id, name: val.name, username },
    // The first branch has the id of its val.
    branch: { id: val.id, name: "main" },
    version: 0,
    files: new Map(),
  })
}

interface PushOptions {
  readonly message: string | undefined
  readonly force: boolean
}

async function pushCheckout(
  context: Context,
  dir: string,
  options: PushOptions,
): Promise<ExitName | undefined> {
  const open = await openCheckout(context, dir)
  return withLockedFolder(open.folder, async () => {
    assertNotMerging(open.folder)
    const changes: object[] = []
    let hasProblem = false
    const { report, ...deps } = createTreeDeps(context, open)
    const { output } = context
    const pushed = await push(
      {
        ...deps,
        report(event) {
          const { action, file, other } = event
          hasProblem ||= action === "problem"
          if (action !== "problem") changes.push({ action, file, ...(other && { other }) })
          if (action === "problem" || output.mode === "human") report(event)
        },
      },
      options,
    )
    printPushed(context, open.folder, pushed, changes)
    return hasProblem ? "failed" : undefined
  })
}

/** Again if the folder or the val changes meanwhile, which may have been this very save. */
async function push(deps: TreeDeps, { message, force }: PushOptions): Promise<PushedTree> {
  for (let round = 1; ; round++) {
    const { scan, ...compared } = await compareFolder(deps)
    if (!force) assertCurrent(compared)
    if (round === 1)
      for (const [file, text] of compared.problems) deps.report({ action: "problem", file, text })
    const planned = force ? toForcedPush(compared, scan) : compared
    // Records what both sides have in common.
    const { checkout } = force ? planned : await pullTree(deps, planned, false)
    try {
      const pushed = await pushTree(deps, { ...planned, checkout }, message)
      if (pushed) return pushed
    } catch (error) {
      if (!isVersionConflict(error) || round === limits.watchRoundsMax) throw error
    }
    if (round === limits.watchRoundsMax)
      throw new CliError("conflict", `Cannot save "${deps.folder}": its files keep changing`)
  }
}

function printPushed(
  { output }: Context,
  folder: string,
  { checkout, steps, isNewVersion }: PushedTree,
  changes: readonly object[],
): void {
  const { val, branch, version } = checkout
  const name = `${toCheckoutName(checkout)}@${version ?? "?"}`
  const path = relative("", folder) || "."
  output.print({
    json: { folder: path, val, branch, version, isNewVersion, changes },
    plain: `${val.username}/${val.name}@${version ?? ""}`,
    human: steps.length === 0 ? `Unchanged: ${name}` : `Saved ${name}`,
  })
}
