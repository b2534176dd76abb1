import { limits, type privacy, type valsQuery, type valType } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { mayImport } from "../modules/import-address.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Retirer } from "../runs/retirement.ts"
import { generateName } from "./generate-name.ts"
import { readSource, type SourceDeps, type ValSource } from "./val-source.ts"

/** Who may see a val. */
export type Privacy = z.infer<typeof privacy>

/** What starts a val. */
export type ValType = z.infer<typeof valType>

/**
 * A val in one of its versions: `version`, `code` and `versionCreatedAt` are that version's, the
 * rest is the val's.
 */
export interface Val {
  readonly id: string
  readonly ownerId: string
  readonly ownerName: string
  /** Increases whenever a secret of the owner changes. */
  readonly ownerSecretsVersion: number
  readonly isOwnerSuspended: boolean
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly readme: string | null
  readonly version: number
  readonly code: string
  readonly versionCreatedAt: number
  readonly likeCount: number
  readonly referenceCount: number
  /** Public forks only. */
  readonly forkCount: number
  /** Null if it is no fork or the original was deleted. Not everyone may see it. */
  readonly forkedFrom: ForkOrigin | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly runStartedAt: number | null
  readonly runEndedAt: number | null
}

/** The val and the version that a fork was copied from. */
export interface ForkOrigin extends Pick<Val, "id" | "name" | "ownerId" | "ownerName" | "privacy"> {
  readonly version: number
}

/** What a client needs to detect that a val has changed, without its code. */
export type ValState = Pick<Val, "id" | "name" | "version" | "privacy" | "type" | "updatedAt">

/** A change of a val in one save. Undefined fields stay as they are. */
export interface ValChange {
  readonly name?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
  /** New code. Code that equals the current version's creates no new version. */
  readonly source?: ValSource | undefined
}

/** A val that does not exist yet. */
export interface NewVal extends ValChange {
  readonly id: string
  readonly ownerId: string
  readonly ownerName: string
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly readme: string | null
  readonly source: ValSource
  /** The version that it is a copy of. */
  readonly forkOf?: Pick<ForkOrigin, "id" | "version">
}

/** The result of a save. */
export interface SavedVal {
  readonly val: Val
  readonly isNewVersion: boolean
}

/** Which vals a list shows, among those that the viewer may see. */
export interface ValFilter {
  readonly ownerId?: string | undefined
  readonly privacy?: Privacy | undefined
  /** Forks of that val only. */
  readonly forkOf?: string | undefined
}

/** An order of public vals in which others have a say. */
export type ValRanking = Exclude<z.infer<typeof valsQuery>["sort"], "created">

/**
 * Throws when the val must not be changed. It is called inside the transaction with the current
 * state of the val, perhaps more than once.
 */
export type AssertVal<Seen = Val> = (val: Seen) => void

/**
 * Stores vals. Every method is atomic. Lists contain only public vals and the viewer's own.
 */
export interface ValStore {
  findById(id: string): Promise<Val | undefined>
  /**
   * Undefined also for a private val of another user. Its code is not even read: otherwise the time
   * it takes would reveal that the val exists.
   */
  findByName(username: string, name: string, viewerId: string | undefined): Promise<Val | undefined>
  list(viewerId: string | undefined, filter: ValFilter, page: PageRequest): Promise<Page<Val>>
  /** Public vals only. */
  listRanked(
    ranking: ValRanking,
    ownerId: string | undefined,
    page: PageRequest,
  ): Promise<Page<Val>>
  search(
    viewerId: string | undefined,
    query: string,
    page: PageRequest,
    searcher?: string,
  ): Promise<Page<Val>>
  /** Adds to the numbers of runs; ids without a val are ignored. */
  addRunCounts(counts: ReadonlyMap<string, number>): Promise<void>
  /** The states of the owner's vals, by name, at most `countMax`. */
  listStates(ownerId: string, countMax: number): Promise<Page<ValState>>
  /** Undefined when the owner already has a val with that name. */
  create(val: NewVal, at: number): Promise<Val | undefined>
  /** Undefined when there is no such val. Throws `name_taken` when the new name is taken. */
  change(
    id: string,
    change: ValChange,
    assert: AssertVal,
    at: number,
  ): Promise<SavedVal | undefined>
  /** Creates the val, or changes the val with its name. `assert` receives undefined if none exists. */
  createOrChange(
    val: NewVal,
    change: ValChange,
    assert: AssertVal<Val | undefined>,
    at: number,
  ): Promise<SavedVal>
  /** Returns false when there is no such val. */
  delete(id: string, assert: AssertVal): Promise<boolean>
}

/** What the rules of vals need. */
export interface ValDeps extends SourceDeps {
  readonly vals: ValStore
  readonly runner: Retirer
  /** Fetches the packages that new versions import. */
  readonly lockfileWork: { wake(): void }
  newId(): string
  now(): number
}

/** The fields of a val that a client sends. */
export interface ValInput {
  readonly name?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
}

/** Whether the caller may see the val, given its address. */
export function canSee(
  val: Pick<Val, "ownerId" | "privacy">,
  caller: Pick<Caller, "userId"> | undefined,
): boolean {
  return val.privacy !== "private" || val.ownerId === caller?.userId
}

/** Returns the val with that id. Throws not-found if the caller may not see it. */
export async function getVal(
  deps: Pick<ValDeps, "vals">,
  caller: Caller | undefined,
  id: string,
): Promise<Val> {
  const val = await deps.vals.findById(id)
  if (!val || !canSee(val, caller)) throw valNotFound(id)
  return val
}

/** Lists public vals and the caller's own. */
export async function listVals(
  deps: Pick<ValDeps, "vals">,
  caller: Caller | undefined,
  filter: ValFilter,
  page: PageRequest,
): Promise<Page<Val>> {
  return deps.vals.list(caller?.userId, filter, page)
}

/** Searches public vals and the caller's own. Accounts, or else addresses, take turns. */
export async function searchVals(
  deps: Pick<ValDeps, "vals">,
  caller: Caller | undefined,
  query: string,
  page: PageRequest,
  address: () => string,
): Promise<Page<Val>> {
  return deps.vals.search(caller?.userId, query, page, caller?.userId ?? address())
}

/** Lists the states of the caller's own vals, so that a client can find outdated copies. */
export async function listValStates(
  deps: Pick<ValDeps, "vals">,
  caller: Caller,
): Promise<Page<ValState>> {
  return deps.vals.listStates(caller.userId, limits.valStatesMax)
}

/** Returns the val with that owner and name. The owner may be written with `@`. */
export async function getValByName(
  deps: Pick<ValDeps, "vals">,
  caller: Caller | undefined,
  username: string,
  name: string,
): Promise<Val> {
  const val = await deps.vals.findByName(username.replace(/^@/, ""), name, caller?.userId)
  if (!val) throw valNotFound(`${username}/${name}`)
  return val
}

/** Throws unless the caller owns the val: not-found if the caller may not even see it. */
export function assertOwner(
  val: Pick<Val, "id" | "name" | "privacy" | "ownerId" | "ownerName">,
  caller: Caller,
): void {
  if (!canSee(val, caller)) throw valNotFound(val.id)
  if (val.ownerId !== caller.userId)
    throw new AppError(
      "not_owner",
      `Cannot change val "${val.name}": it belongs to ${val.ownerName}`,
    )
}

/** Throws when the current version is not the one that the caller expects. */
export function assertUnchanged(val: Val, ifMatch: number | undefined): void {
  if (ifMatch === undefined || val.version === ifMatch) return
  throw new AppError(
    "version_conflict",
    `Cannot save val "${val.name}": it is at version ${val.version}, not ${ifMatch}`,
  )
}

/** Creates a val. Without a name, a readable one is generated. */
export async function createVal(
  deps: ValDeps,
  caller: Caller,
  input: ValInput & { readonly code: string },
): Promise<Val> {
  if (input.name !== undefined) {
    const val = await createNamed(deps, await toNewVal(deps, caller, input.name, input))
    if (!val)
      throw new AppError(
        "name_taken",
        `Cannot create val "${input.name}": you already have one with that name`,
      )
    return val
  }
  for (let attempt = 0; ; attempt++) {
    const val = await createNamed(deps, await toNewVal(deps, caller, generateName(attempt), input))
    if (val) return val
  }
}

/** Creates the val with that name, or saves a new version of it. */
export async function saveVal(
  deps: ValDeps,
  caller: Caller,
  input: ValInput & { readonly name: string; readonly code: string },
  ifMatch: number | undefined,
): Promise<SavedVal> {
  const val = await toNewVal(deps, caller, input.name, input)
  const { name, code: _code, ...rest } = input
  const assert = (current: Val | undefined) => {
    if (current) {
      assertSameName(current, name)
      assertUnchanged(current, ifMatch)
    } else if (ifMatch !== undefined)
      throw new AppError(
        "version_conflict",
        `Cannot save val "${input.name}": you have no val with that name, at any version`,
      )
  }
  return noteSaved(
    deps,
    val.source,
    await deps.vals.createOrChange(val, { ...rest, source: val.source }, assert, deps.now()),
  )
}

/**
 * The lookup ignores case. A name in another case most likely means another val, which must not be
 * overwritten.
 */
function assertSameName(val: Val, name: string): void {
  if (val.name === name) return
  throw new AppError(
    "name_taken",
    `Cannot save val "${name}": you already have "${val.name}", and names that differ only in case are the same`,
  )
}

/** Changes a val without its code. */
export async function updateVal(
  deps: ValDeps,
  caller: Caller,
  id: string,
  input: ValInput,
  ifMatch: number | undefined,
): Promise<Val> {
  return (await changeOwnVal(deps, caller, id, input, ifMatch)).val
}

/** Saves `code` as the next version. Code that equals the current version's creates none. */
export async function saveVersion(
  deps: ValDeps,
  caller: Caller,
  id: string,
  input: ValInput & { readonly code: string },
  ifMatch: number | undefined,
): Promise<SavedVal> {
  const { code, ...rest } = input
  if (!mayImport(code))
    return changeOwnVal(deps, caller, id, { ...rest, source: { code, imports: [] } }, ifMatch)
  // Relative imports depend on the name of the val. Checking the owner first keeps others from
  // using the parser.
  const val = await getVal(deps, caller, id)
  assertOwner(val, caller)
  const source = await readSource(deps, caller, code, val.name)
  return changeOwnVal(deps, caller, id, { ...rest, source }, ifMatch)
}

/** Deletes a val and everything that belongs to it. */
export async function deleteVal(
  deps: Pick<ValDeps, "vals" | "runner">,
  caller: Caller,
  id: string,
  ifMatch: number | undefined,
): Promise<void> {
  const isFound = await deps.vals.delete(id, (val) => {
    assertOwner(val, caller)
    assertUnchanged(val, ifMatch)
  })
  if (!isFound) throw valNotFound(id)
  deps.runner.retire({ valId: id })
}

/** The error for a val that does not exist, and for one that the caller may not see. */
export function valNotFound(address: string): AppError {
  return new AppError("val_not_found", `Cannot find val "${address}"`)
}

async function changeOwnVal(
  deps: ValDeps,
  caller: Caller,
  id: string,
  change: ValChange,
  ifMatch: number | undefined,
): Promise<SavedVal> {
  const assert = (val: Val) => {
    assertOwner(val, caller)
    assertUnchanged(val, ifMatch)
  }
  const saved = await deps.vals.change(id, change, assert, deps.now())
  if (!saved) throw valNotFound(id)
  return noteSaved(deps, change.source, saved)
}

async function createNamed(deps: ValDeps, val: NewVal): Promise<Val | undefined> {
  const created = await deps.vals.create(val, deps.now())
  if (created && val.source.isRemote) deps.lockfileWork.wake()
  return created
}

/** Retires the processes of the previous version, and starts to fetch the packages of the new one. */
function noteSaved(deps: ValDeps, source: ValSource | undefined, saved: SavedVal): SavedVal {
  if (!saved.isNewVersion) return saved
  deps.runner.retire({ valId: saved.val.id })
  if (source?.isRemote) deps.lockfileWork.wake()
  return saved
}

async function toNewVal(
  deps: ValDeps,
  caller: Caller,
  name: string,
  input: ValInput & { readonly code: string },
): Promise<NewVal> {
  return {
    id: deps.newId(),
    ownerId: caller.userId,
    ownerName: caller.username,
    name,
    privacy: input.privacy ?? "private",
    type: input.type ?? "script",
    readme: input.readme ?? null,
    source: await readSource(deps, caller, input.code, name),
  }
}
