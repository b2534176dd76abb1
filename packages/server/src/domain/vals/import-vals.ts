import type { importResult } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../access.ts"
import type { UserStore } from "../accounts/users.ts"
import { mayImport } from "../modules/import-address.ts"
import {
  type ExistingVal,
  type IfExists,
  type ImportedSettings,
  type ImportPlan,
  planImport,
} from "./import-plan.ts"
import { type ImportedHistory, type IncomingVal, toHistory } from "./imported-history.ts"
import { findMissing, toSource, type ValSource } from "./val-source.ts"
import type { NewVal, ValDeps } from "./vals.ts"

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
export interface ValImportStore {
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

/** What the rules of importing need. */
export interface ImportDeps
  extends Pick<ValDeps, "vals" | "runner" | "lockfileWork" | "importHosts" | "newId" | "now"> {
  readonly valImports: ValImportStore
  readonly users: UserStore
  /** What each of many pieces of code imports. */
  scanManyImports(
    codes: readonly string[],
    ownerId: string,
  ): Promise<readonly (readonly string[])[]>
}

/** How vals are imported. */
export interface ImportOptions {
  readonly isDry: boolean
  readonly ifExists: IfExists
}

/** Imports vals, each as a whole or not at all, and says in their order what became of each. */
export async function importVals(
  deps: ImportDeps,
  caller: Caller,
  sent: readonly ImportItem[],
  options: ImportOptions,
): Promise<readonly ImportResult[]> {
  const at = deps.now()
  const vals = withoutRepeats(sent)
  const sources = options.isDry ? vals.map(toBareSources) : await readSources(deps, caller, vals)
  const findAuthor = createFindAuthor(deps, caller)
  const results: ImportResult[] = []
  const importEach = async (from: number) => {
    for (let index = from; index < vals.length; index += deps.valImports.atOnceMax) {
      const one = vals[index] as ImportItem
      results[index] =
        "problem" in one
          ? {
              name: one.name,
              status: "failed",
              message: `Cannot import val "${one.name}": ${one.problem}`,
            }
          : await importOne(deps, caller, one.val, {
              ...options,
              at,
              sources: sources[index] ?? [],
              findAuthor,
            })
    }
  }
  await Promise.all(
    Array.from({ length: deps.valImports.atOnceMax }, (_, from) => importEach(from)),
  )
  return results
}

/**
 * Of several vals with one name the first is meant: which of them came last would be an accident.
 */
function withoutRepeats(sent: readonly ImportItem[]): readonly ImportItem[] {
  const names = new Set<string>()
  return sent.map((one) => {
    if ("problem" in one) return one
    const { name } = one.val
    if (names.has(name.toLowerCase()))
      return { name, problem: "another one of the same name comes before it" }
    names.add(name.toLowerCase())
    return one
  })
}

/** A dry run links nothing, so no imports are scanned. */
function toBareSources(one: ImportItem): readonly ValSource[] {
  return "problem" in one ? [] : one.val.versions.map(({ code }) => ({ code, imports: [] }))
}

async function readSources(
  deps: ImportDeps,
  caller: Caller,
  vals: readonly ImportItem[],
): Promise<readonly (readonly ValSource[])[]> {
  const codes = vals.flatMap((one) =>
    "problem" in one ? [] : one.val.versions.map(({ code }) => code),
  )
  const importing = codes.filter(mayImport)
  const found = importing.length === 0 ? [] : await deps.scanManyImports(importing, caller.userId)
  const specifiers = new Map(importing.map((code, index) => [code, found[index] ?? []]))
  const missing = await findMissing(deps, caller, found.flat())
  return vals.map((one) => {
    if ("problem" in one) return []
    const { name, versions } = one.val
    return versions.map(({ code }) =>
      toSource(
        deps.importHosts,
        { username: caller.username, name },
        code,
        specifiers.get(code) ?? [],
        missing,
      ),
    )
  })
}

type FindAuthor = (username: string) => Promise<string | undefined>

/**
 * The author of an imported comment. Only an administrator may import comments of other users,
 * because they can read the database anyway.
 */
function createFindAuthor(deps: Pick<ImportDeps, "users">, caller: Caller): FindAuthor {
  const known = new Map<string, Promise<string | undefined>>([
    [caller.username.toLowerCase(), Promise.resolve(caller.userId)],
  ])
  if (!caller.scopes.has("admin")) return async (username) => known.get(username.toLowerCase())
  return (username) => {
    const key = username.toLowerCase()
    const found = known.get(key) ?? deps.users.findByName(username).then((user) => user?.id)
    known.set(key, found)
    return found
  }
}

interface OneOptions extends ImportOptions {
  readonly at: number
  readonly sources: readonly ValSource[]
  readonly findAuthor: FindAuthor
}

async function importOne(
  deps: ImportDeps,
  caller: Caller,
  incoming: IncomingVal,
  options: OneOptions,
): Promise<ImportResult> {
  const { at, isDry, ifExists, findAuthor } = options
  const { name, privacy, type, readme } = incoming
  const settings: ImportedSettings = { privacy, type, readme }
  const history = toHistory(incoming, options.sources, at)
  const comments = await readComments(deps, incoming, findAuthor, at)
  const val: ValToImport = {
    ...{
      id: deps.newId(),
      ownerId: caller.userId,
      ownerName: caller.username,
      name,
      history,
      comments,
    },
    ...{ privacy: privacy ?? "private", type: type ?? "script", readme: readme ?? null },
  }
  const plan = (existing: ExistingVal | undefined) =>
    planImport({ history, settings }, existing, ifExists, at)
  const leftOut = (incoming.comments?.length ?? 0) - comments.length
  if (isDry) {
    const existing = await deps.valImports.find(val)
    const planned = plan(existing)
    return toResult(val, { plan: planned, ...toOutlook(planned, existing, val) }, leftOut, true)
  }
  const done = await deps.valImports.write(val, plan, at)
  noteImported(deps, val, done)
  return toResult(val, done, leftOut, false)
}

async function readComments(
  deps: Pick<ImportDeps, "newId">,
  { comments = [] }: IncomingVal,
  findAuthor: FindAuthor,
  at: number,
): Promise<readonly ImportedComment[]> {
  const kept: ImportedComment[] = []
  for (const { author, comment, createdAt = at } of comments) {
    const authorId = await findAuthor(author)
    if (authorId !== undefined)
      kept.push({ id: deps.newId(), authorId, comment, createdAt: Math.min(createdAt, at) })
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

function noteImported(deps: ImportDeps, val: ValToImport, { plan, id }: ImportedVal): void {
  if (plan.kind === "leave") return
  if (plan.kind === "change" && plan.versions.length > 0) deps.runner.retire({ valId: id })
  const versions = plan.kind === "change" ? plan.versions : val.history.versions
  if (versions.some(({ source }) => source.isRemote)) deps.lockfileWork.wake()
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
