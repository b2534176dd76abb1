import { type Client, unlessMissing } from "@hamlet/contract/client"
import { fetchBranchFiles } from "../archive/fetch-files.ts"
import type { ImportedVal } from "../archive/read-val.ts"
import type { ImportResult, SendOptions } from "../archive/send-vals.ts"
import { CliError } from "../cli-error.ts"
import { findBranch } from "../names/find-branch.ts"
import type { Connection } from "../servers/connection.ts"
import { type ArchivedBranch, toTexts } from "./archived-history.ts"

type Archived = Pick<ImportedVal, "name" | "privacy" | "comments">

/**
 * Imports a val with all versions of all branches, one save for each, in the order of their times. An
 * import that was interrupted goes on, if what is there is how the history begins.
 */
export async function replayHistory(
  { client, me }: Connection,
  val: Archived,
  branches: readonly ArchivedBranch[],
  { dryRun = false, ifExists = "skip" }: SendOptions,
): Promise<ImportResult> {
  const { name, privacy = "private" } = val
  const { username } = await me()
  const found = await unlessMissing(client.getFolderByName({ username, val_name: name }))
  if (dryRun && !found) return { name, status: "created" }
  const { id } = found ?? (await client.createFolder({ name, privacy }))
  const done = await findDone(client, id, branches)
  if (!done) {
    const message = `Cannot import val "${name}": a val with other files has this name`
    return { name, status: ifExists === "fail" ? "failed" : "skipped", id, message }
  }
  const isComplete = branches.every((one) => done.get(one.name) === one.versions.length)
  if (!dryRun && !isComplete) await replay(client, id, branches, done)
  if (!dryRun) await addComments(client, id, username, val.comments ?? [])
  const { version } = await client.getBranch({ val_id: id, branch_id: id })
  return { name, status: found ? (isComplete ? "unchanged" : "updated") : "created", id, version }
}

/**
 * How many versions of each branch are there already; undefined if the val has other files than the
 * history had at that point.
 */
async function findDone(
  client: Client,
  id: string,
  branches: readonly ArchivedBranch[],
): Promise<Map<string, number> | undefined> {
  const done = new Map<string, number>()
  const present = await Array.fromAsync(client.items("listBranches", { val_id: id, limit: 100 }))
  for (const branch of present) {
    const archived = branches.find(({ name }) => name === branch.name)
    if (!archived) return undefined
    const count = branch.version + (archived.from === null ? 0 : 1)
    const files = await fetchBranchFiles(client, id, branch, refuse)
    const texts = new Map(files.map(({ path, content }) => [path, content]))
    const expected = toTexts(archived.versions.slice(0, count))
    if (count > archived.versions.length || !Bun.deepEquals(texts, new Map(expected)))
      return undefined
    done.set(branch.name, count)
  }
  return done
}

async function replay(
  client: Client,
  id: string,
  branches: readonly ArchivedBranch[],
  done: Map<string, number>,
): Promise<void> {
  for (let next = findNext(branches, done); next; next = findNext(branches, done)) {
    const count = done.get(next.name) ?? 0
    const version = next.versions[count]
    if (next.from !== null && count === 0) {
      const parent = await findBranch(client, id, done.has(next.from) ? next.from : "main")
      await client.createBranch({ val_id: id, name: next.name, branchId: parent.id })
    } else if (version) {
      const { id: branch_id } = await findBranch(client, id, next.name)
      const { changes, note } = version
      const input = { val_id: id, branch_id, changes: [...changes], note: note ?? undefined }
      if (changes.length > 0) await client.changeFiles({ ...input, isImport: true })
    }
    done.set(next.name, count + 1)
  }
}

/** The branch whose next version is the oldest: a branch begins where its parent was at that time. */
function findNext(
  branches: readonly ArchivedBranch[],
  done: ReadonlyMap<string, number>,
): ArchivedBranch | undefined {
  let next: { readonly branch: ArchivedBranch; readonly at: string } | undefined
  for (const branch of branches) {
    const count = done.get(branch.name) ?? 0
    const version = branch.versions[count]
    if (!version) continue
    const at = count === 0 && branch.from !== null ? branch.createdAt : version.createdAt
    if (!next || at < next.at) next = { branch, at }
  }
  return next?.branch
}

/** Comments of others cannot be imported, and times are not kept. */
async function addComments(
  client: Client,
  id: string,
  username: string,
  comments: NonNullable<ImportedVal["comments"]>,
): Promise<void> {
  const own = comments.filter(({ author }) => author === username)
  if (own.length === 0) return
  const { data } = await client.listComments({ val_id: id, limit: 1 })
  if (data.length > 0) return
  for (const { comment } of own) await client.createComment({ val_id: id, comment })
}

function refuse(problem: string): never {
  throw new CliError("failed", problem)
}
