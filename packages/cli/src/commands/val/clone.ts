import { mkdirSync } from "node:fs"
import { ApiError } from "@hamlet/contract/client"
import { openAccountRecord } from "../../account/account-record.ts"
import { listValFolders } from "../../account/val-folders.ts"
import { cloneInto, createTreeDeps } from "../../checkout/open-checkout.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { isValName } from "../../files/front-matter.ts"
import { limits } from "../../limits.ts"
import { findBranch } from "../../names/find-branch.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { Connection } from "../../servers/connection.ts"
import { confirmOption } from "../../shapes.ts"
import { withLockedFolder } from "../../watch/lock-folder.ts"
import { toSyncExit } from "../../watch/sync-result.ts"
import { convertWhenAsked } from "./convert.ts"
import { printTree, pullInto, withoutWrites } from "./trees.ts"

export const command = defineCommand({
  description: `With USER/VAL, writes the files of one val to a folder that is named after it; "hamlet val pull", "push",
"watch", "status" and "diff" then work there. With a user or nothing, writes all vals of the user into a
folder, each in a folder of its own. Run it again to fetch changes.`,
  examples: [
    ["hamlet val clone ada/blog", "the files of one val, in the folder blog"],
    ["hamlet val clone ada/blog try --branch draft", "the files of a branch, in the folder try"],
    ["hamlet val clone", "download all your vals into a folder named after you"],
    ["hamlet val clone ada examples", "download ada's vals into the folder examples"],
  ],
  takes: {
    "[source]": "val as USER/VAL, or owner of the vals (default: you)",
    "[folder]": "folder to write to",
    "--branch <branch>": "branch of the val",
    "--force": "overwrite files with local changes",
    ...confirmOption,
  },
  async run(context, { source, folder, branch, force = false, yes }) {
    const connection = await context.connect()
    if (source !== undefined && /[/:]/.test(source))
      return cloneOne(context, connection, { source, folder, branch, force })
    if (branch !== undefined)
      throw new CliError("usage", 'Cannot use "--branch" here: it needs a val, as USER/VAL')
    return cloneAccount(context, connection, { user: source, folder, force, yes })
  },
})

async function cloneOne(
  context: Context,
  connection: Connection,
  options: {
    readonly source: string
    readonly folder: string | undefined
    readonly branch: string | undefined
    readonly force: boolean
  },
): Promise<ExitName | undefined> {
  const { client, server } = connection
  const { id, name, author } = await findWholeVal(connection, options.source)
  const { id: branchId, name: branchName } = await findBranch(client, id, options.branch)
  const folder = options.folder ?? name
  // The name comes from the server and becomes a path: it must not lead outside the folder.
  if (options.folder === undefined && !isValName(name))
    throw new CliError("failed", `Cannot make a folder of val "${name}": the name is not valid`)
  const deps = createTreeDeps(context, { client, folder })
  const source = {
    server: server.url,
    val: { id, name, username: author.username },
    branch: { id: branchId, name: branchName },
  }
  // The files are counted below, instead of a line for each.
  const pulled = await cloneInto(withoutWrites(deps), source, options.force)
  printTree(context.output, folder, pulled)
  return toSyncExit(pulled)
}

async function cloneAccount(
  context: Context,
  connection: Connection,
  options: {
    readonly user: string | undefined
    readonly folder: string | undefined
    readonly force: boolean
    readonly yes: true | undefined
  },
): Promise<ExitName | undefined> {
  const { client, server } = connection
  const { user, force } = options
  const me = await connection.me()
  const owner = user === undefined ? me : await findUser(connection, user)
  const target = options.folder ?? owner.username
  mkdirSync(target, { recursive: true })
  return withLockedFolder(target, async () => {
    const all = createTreeDeps(context, { client, folder: target })
    const account = { server: server.url, owner: { id: owner.id, username: owner.username } }
    const asking = { owner: account.owner, hasLoose: false, yes: options.yes }
    const deps = { ...all, serverUrl: server.url }
    const converted = await convertWhenAsked(deps, connection, asking)
    if (!converted.isComplete) return converted.exit
    const record = openAccountRecord(target, account)
    record.save()
    const vals = client.items("listVals", { userId: owner.id, limit: limits.pageItemsMax })
    const folders = listValFolders(target, new Set()).checkouts
    let { exit } = converted
    const failed = await forEachOne(context.output, vals, async (val) => {
      const one = await pullInto(context, all, {
        server: server.url,
        val,
        folders,
        isForced: force,
      })
      exit ??= one
    })
    return failed ?? exit
  })
}

/** A name alone means a user here, unlike in other commands: there it is a val of the caller. */
async function findUser({ client }: Connection, username: string) {
  try {
    return await client.getUserByName({ username })
  } catch (cause) {
    if (!(cause instanceof ApiError && cause.code === "user_not_found")) throw cause
    const advice = `to clone one val, write its owner too, as in "ada/${username}"`
    throw new CliError("notFound", cause.message, { cause, advice })
  }
}
