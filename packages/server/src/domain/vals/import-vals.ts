import { type importResult, limits, toValNameKey } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../access/caller.ts"
import type { UserStore } from "../accounts/users.ts"
import type { Clock } from "../clock.ts"
import type { LockfileWork } from "../modules/lockfiles.ts"
import type { Retirer } from "../runs/retirement.ts"
import { type ExistingVal, type IfExists, type ImportPlan, planImport } from "./import-plan.ts"
import {
  type ImportedHistory,
  type ImportedVersion,
  type IncomingVal,
  toHistory,
} from "./imported-history.ts"
import type { Sources, ValSource } from "./val-source.ts"
import type { NewVal } from "./vals.ts"

/** What became of an imported val. */
export type ImportResult = z.infer<typeof importResult>

/** A val that was sent: as it is, or why it cannot be. */
export type ImportItem =
  | { readonly val: IncomingVal }
  | { readonly name: string; readonly problem: string }

/** A comment that is kept with an imported val. */
export interface ImportedComment {
  readonly id: string
  readonly authorId: string
  readonly comment: string
  readonly createdAt: number
}

/** A val that does not exist yet, with all that came with it. */
export interface ValToImport extends Omit<NewVal, "source"> {
  readonly history: ImportedHistory
  readonly comments: readonly ImportedComment[]
}

/** What was decided inside the transaction, and done. */
export interface ImportedVal {
  readonly plan: ImportPlan
  readonly id: string
  readonly version: number
}

/** Where vals are imported to. Every method is atomic. */
export interface ImportedValStore {
  /** How many vals are best written at the same time. */
  readonly atOnceMax: number
  /** The caller's val of that name. */
  find(val: ValToImport): Promise<ExistingVal | undefined>
  /**
   * Does what `plan` says of the val as it stands at that moment. It is called inside the
   * transaction, perhaps more than once.
   */
  write(
    val: ValToImport,
    plan: (existing: ExistingVal | undefined) => ImportPlan,
    at: number,
  ): Promise<ImportedVal>
}

/** How vals are imported. */
export interface ImportOptions {
  readonly isDry: boolean
  readonly ifExists: IfExists
}

/** Imports vals. */
export type ImportedVals = ReturnType<typeof createImportedVals>

/** Creates the rules of importing. */
export function createImportedVals(
  store: ImportedValStore,
  users: UserStore,
  sources: Sources,
  runner: Retirer,
  lockfileWork: LockfileWork,
  clock: Clock,
) {
  const importOne = async (
    caller: Caller,
    item: ImportItem,
    versions: readonly ValSource[],
    { isDry, ifExists }: ImportOptions,
    findAuthor: FindAuthor,
    at: number,
  ): Promise<ImportResult> => {
    if ("problem" in item) {
      const { name, problem } = item
      return { name, status: "failed", message: `Cannot import val "${name}": ${problem}` }
    }
    const { val: incoming } = item
    const imports = versions.reduce((sum, source) => sum + source.imports.length, 0)
    if (imports > limits.importImportsMax)
      return {
        name: incoming.name,
        status: "failed",
        message: `Cannot import val "${incoming.name}": its versions have ${imports} imports of vals, and may have ${limits.importImportsMax}`,
      }
    const { privacy, type, readme } = incoming
    const history = toHistory(incoming, versions, at)
    const comments = await readComments(clock, incoming, findAuthor, at)
    const val = toValToImport(clock.newId(), caller, incoming, history, comments)
    const plan = (existing: ExistingVal | undefined) =>
      planImport({ history, settings: { privacy, type, readme } }, existing, ifExists, at)
    const leftOut = (incoming.comments?.length ?? 0) - comments.length
    if (isDry) {
      const existing = await store.find(val)
      const planned = plan(existing)
      return toResult(val, { plan: planned, ...toOutlook(planned, existing, val) }, leftOut, true)
    }
    const done = await store.write(val, plan, at)
    const added = listAdded(val, done.plan)
    if (done.plan.kind === "change" && added.length > 0) runner.retire({ valId: done.id })
    if (added.some(({ source }) => source.isRemote)) lockfileWork.wake()
    return toResult(val, done, leftOut, false)
  }
  return {
    /** Imports vals, each as a whole or not at all, and says in their order what became of each. */
    async add(
      caller: Caller,
      sent: readonly ImportItem[],
      options: ImportOptions,
    ): Promise<readonly ImportResult[]> {
      const at = clock.now()
      const items = withoutRepeats(sent)
      const codes = items.map(toCodes)
      // A dry run links nothing, so no imports are scanned.
      const read = options.isDry
        ? codes.map((val) => val.codes.map((code) => ({ code, imports: [] })))
        : await sources.readMany(caller, codes)
      const findAuthor = createFindAuthor(users, caller)
      const results: ImportResult[] = []
      const importEach = async (from: number) => {
        for (let index = from; index < items.length; index += store.atOnceMax) {
          const item = items[index] as ImportItem
          const versions = read[index] ?? []
          results[index] = await importOne(caller, item, versions, options, findAuthor, at)
        }
      }
      await Promise.all(Array.from({ length: store.atOnceMax }, (_, from) => importEach(from)))
      return results
    },
  }
}

/**
 * Only the first of several vals with one name is imported: which of them came last would be an
 * accident.
 */
function withoutRepeats(sent: readonly ImportItem[]): readonly ImportItem[] {
  const names = new Set<string>()
  return sent.map((one) => {
    if ("problem" in one) return one
    const { name } = one.val
    if (names.has(toValNameKey(name)))
      return { name, problem: "another one of the same name comes before it" }
    names.add(toValNameKey(name))
    return one
  })
}

function toCodes(item: ImportItem): { readonly name: string; readonly codes: readonly string[] } {
  if ("problem" in item) return { name: item.name, codes: [] }
  return { name: item.val.name, codes: item.val.versions.map(({ code }) => code) }
}

type FindAuthor = (username: string) => Promise<string | undefined>

/**
 * The author of an imported comment. Only an administrator may import comments of other users,
 * because they can read the database anyway.
 */
function createFindAuthor(users: UserStore, caller: Caller): FindAuthor {
  const known = new Map<string, Promise<string | undefined>>([
    [caller.ownerName.toLowerCase(), Promise.resolve(caller.ownerId)],
  ])
  if (!caller.scopes.has("admin")) return async (username) => known.get(username.toLowerCase())
  return (username) => {
    const key = username.toLowerCase()
    const found = known.get(key) ?? users.findByName(username).then((user) => user?.id)
    known.set(key, found)
    return found
  }
}

function toValToImport(
  id: string,
  caller: Caller,
  { name, privacy = "private", type = "script", readme = null }: IncomingVal,
  history: ImportedHistory,
  comments: readonly ImportedComment[],
): ValToImport {
  const { ownerId, ownerName } = caller
  return { id, ownerId, ownerName, name, history, comments, privacy, type, readme }
}

async function readComments(
  { newId }: Clock,
  { comments = [] }: IncomingVal,
  findAuthor: FindAuthor,
  at: number,
): Promise<readonly ImportedComment[]> {
  const kept: ImportedComment[] = []
  for (const { author, comment, createdAt = at } of comments) {
    const authorId = await findAuthor(author)
    if (authorId !== undefined)
      kept.push({ id: newId(), authorId, comment, createdAt: Math.min(createdAt, at) })
  }
  return kept
}

/** The id and the version that there would be. */
function toOutlook(
  plan: ImportPlan,
  existing: ExistingVal | undefined,
  val: ValToImport,
): { readonly id: string; readonly version: number } {
  if (!existing || plan.kind === "create") return { id: val.id, version: val.history.last.version }
  const added = plan.kind === "change" ? plan.versions.at(-1)?.version : undefined
  return { id: existing.val.id, version: added ?? existing.val.version }
}

function listAdded(val: ValToImport, plan: ImportPlan): readonly ImportedVersion[] {
  if (plan.kind === "leave") return []
  return plan.kind === "change" ? plan.versions : val.history.versions
}

function toResult(
  val: ValToImport,
  { plan, id, version }: ImportedVal,
  commentsLeftOut: number,
  isDry: boolean,
): ImportResult {
  const status =
    plan.kind === "create" ? "created" : plan.kind === "change" ? "updated" : plan.status
  const message = toMessage(val, status, commentsLeftOut)
  // A val that does not exist has no id yet.
  const known = status === "created" && isDry ? { version } : { id, version }
  return { name: val.name, status, ...known, ...(message !== "" && { message }) }
}

function toMessage(
  { name, history }: ValToImport,
  status: ImportResult["status"],
  commentsLeftOut: number,
): string {
  if (status === "skipped" || status === "failed")
    return `Cannot import val "${name}": you already have one with that name, which differs`
  if (status !== "created") return ""
  const notes = [
    ...(history.isRenumbered ? ["its versions were numbered anew"] : []),
    ...(commentsLeftOut > 0 ? [`comments of others were left out: ${commentsLeftOut}`] : []),
  ]
  return notes.join("; ")
}
