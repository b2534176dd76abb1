import { limits, type privacy, type valType } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import {
  type ImportAddress,
  type ImportHosts,
  mayImport,
  parseImportAddress,
} from "../modules/import-address.ts"
import { hasRemoteImports } from "../modules/remote-imports.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Retirer } from "../runs/retirement.ts"
import { generateName } from "./generate-name.ts"

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
  /** Another number whenever a secret of the owner's has changed. */
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
  readonly createdAt: number
  readonly updatedAt: number
  readonly runStartedAt: number | null
  readonly runEndedAt: number | null
}

/** What tells whether a val has changed, without its code. */
export type ValState = Pick<Val, "id" | "name" | "version" | "privacy" | "type" | "updatedAt">

/**
 * A val that code imports, and every specifier it does so with. The version is null if any of them
 * names none.
 */
export interface ValImport extends ImportAddress {
  readonly specifiers: readonly string[]
}

/** Code, and what it imports. */
export interface ValSource {
  readonly code: string
  readonly imports: readonly ValImport[]
  /** Whether it also imports something from elsewhere, so that its version gets a lock. */
  readonly isRemote?: boolean
}

/** What may be changed of a val in one save; what is undefined stays as it is. */
export interface ValChange {
  readonly name?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
  /** New code. Code that equals the current version's makes no new version. */
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
}

/** What a save did. */
export interface SavedVal {
  readonly val: Val
  readonly isNewVersion: boolean
}

/** Which vals a list shows, beyond what the viewer may see. */
export interface ValFilter {
  readonly ownerId?: string | undefined
  readonly privacy?: Privacy | undefined
}

/**
 * Throws when the val as it stands at that moment must not be changed. It is called inside the
 * transaction, perhaps more than once.
 */
export type AssertVal<Seen = Val> = (val: Seen) => void

/**
 * Where vals are kept. Every method is atomic; lists contain only what the viewer may find: public
 * vals and their own.
 */
export interface ValStore {
  findById(id: string): Promise<Val | undefined>
  /**
   * Undefined also for a private val of somebody else's, whose code is not even read: otherwise the
   * time that takes would tell that there is one.
   */
  findByName(username: string, name: string, viewerId: string | undefined): Promise<Val | undefined>
  list(viewerId: string | undefined, filter: ValFilter, page: PageRequest): Promise<Page<Val>>
  search(
    viewerId: string | undefined,
    query: string,
    page: PageRequest,
    searcher?: string,
  ): Promise<Page<Val>>
  /** Of all vals of one owner, by name; not more than `countMax` of them. */
  listStates(ownerId: string, countMax: number): Promise<Page<ValState>>
  /** Undefined when the owner already has a val with that name. */
  create(val: NewVal, at: number): Promise<Val | undefined>
  /** Undefined when there is no such val; throws `name_taken` when a new name is. */
  change(
    id: string,
    change: ValChange,
    assert: AssertVal,
    at: number,
  ): Promise<SavedVal | undefined>
  /**
   * Creates the val, or changes the one that has its name; `assert` is given undefined when there
   * is none.
   */
  createOrChange(
    val: NewVal,
    change: ValChange,
    assert: AssertVal<Val | undefined>,
    at: number,
  ): Promise<SavedVal>
  /** False when there is no such val. */
  delete(id: string, assert: AssertVal): Promise<boolean>
}

/** What the rules of vals need. */
export interface ValDeps {
  readonly vals: ValStore
  readonly runner: Retirer
  readonly importHosts: ImportHosts
  /** Fetches what versions import from elsewhere. */
  readonly lockfileWork: { wake(): void }
  /** What the code imports. The owner is who waits when their own code takes the parser long. */
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
  newId(): string
  now(): number
}

/** What a client sends of a val. */
export interface ValInput {
  readonly name?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
}

/** Whether the caller may know that the val exists, given its address. */
export function canSee(
  val: Pick<Val, "ownerId" | "privacy">,
  caller: Pick<Caller, "userId"> | undefined,
): boolean {
  return val.privacy !== "private" || val.ownerId === caller?.userId
}

/** The val with that id, or not-found for whoever may not see it. */
export async function getVal(
  deps: Pick<ValDeps, "vals">,
  caller: Caller | undefined,
  id: string,
): Promise<Val> {
  const val = await deps.vals.findById(id)
  if (!val || !canSee(val, caller)) throw valNotFound(id)
  return val
}

/**
 * The states of the caller's own vals, so that whoever has copies of them can tell which are out of
 * date.
 */
export async function listValStates(
  deps: Pick<ValDeps, "vals">,
  caller: Caller,
): Promise<Page<ValState>> {
  return deps.vals.listStates(caller.userId, limits.valStatesMax)
}

/** The val that is addressed by its owner's name, with or without `@`, and its own. */
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

/**
 * Refuses to let anybody but its owner change a val; to those who may not even see it, it does not
 * exist.
 */
export function assertOwner(val: Val, caller: Caller): void {
  if (!canSee(val, caller)) throw valNotFound(val.id)
  if (val.ownerId !== caller.userId)
    throw new AppError(
      "not_owner",
      `Cannot change val "${val.name}": it belongs to ${val.ownerName}`,
    )
}

/** Refuses when the val has moved on from the version that the caller has seen. */
export function assertUnchanged(val: Val, ifMatch: number | undefined): void {
  if (ifMatch === undefined || val.version === ifMatch) return
  throw new AppError(
    "version_conflict",
    `Cannot save val "${val.name}": it is at version ${val.version}, not ${ifMatch}`,
  )
}

/** Makes a val; without a name it gets a readable one. */
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

/** Makes the val with that name, or gives it new code. */
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
        `Cannot save val "${input.name}": you have none with that name, at whatever version`,
      )
  }
  return noteSaved(
    deps,
    val.source,
    await deps.vals.createOrChange(val, { ...rest, source: val.source }, assert, deps.now()),
  )
}

/**
 * A name that differs in case is found, but most likely another val was meant: it would be
 * overwritten.
 */
function assertSameName(val: Val, name: string): void {
  if (val.name === name) return
  throw new AppError(
    "name_taken",
    `Cannot save val "${name}": you already have "${val.name}", and names that differ only in case are the same`,
  )
}

/** Changes what is said of a val without touching its code. */
export async function updateVal(
  deps: ValDeps,
  caller: Caller,
  id: string,
  input: ValInput,
  ifMatch: number | undefined,
): Promise<Val> {
  return (await changeOwnVal(deps, caller, id, input, ifMatch)).val
}

/** Makes `code` the next version, or none at all when it equals the current one's. */
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
  // What an import means depends on the name of the val, and nobody but its owner keeps the parser
  // busy.
  const val = await getVal(deps, caller, id)
  assertOwner(val, caller)
  const source = await readSource(deps, caller, code, val.name)
  return changeOwnVal(deps, caller, id, { ...rest, source }, ifMatch)
}

/** Removes a val with everything that belongs to it. */
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

/**
 * The error for a val that is not there, or not for this caller: nobody can tell one from the
 * other.
 */
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

/**
 * Whoever still runs the version before takes no more runs. What the new one imports is fetched
 * while nobody waits for it.
 */
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

/** The code with the vals that it imports by their address, each once. */
export async function readSource(
  deps: Pick<ValDeps, "importHosts" | "scanImports">,
  caller: Caller,
  code: string,
  name: string,
): Promise<ValSource> {
  return toSource(
    deps.importHosts,
    { username: caller.username, name },
    code,
    await deps.scanImports(code, caller.userId),
  )
}

/**
 * The same, given what its parser found; what a relative import means depends on the val that has
 * it.
 */
export function toSource(
  hosts: ImportHosts,
  importer: { readonly username: string; readonly name: string },
  code: string,
  specifiers: readonly string[],
): ValSource {
  const found = new Map<string, ValImport>()
  for (const specifier of specifiers) {
    const address = parseImportAddress(specifier, hosts, importer)
    if (!address) continue
    const key = `${address.username}/${address.name}`
    const before = found.get(key)
    const version = before?.version === null ? null : address.version
    found.set(key, { ...address, version, specifiers: [...(before?.specifiers ?? []), specifier] })
  }
  return { code, imports: [...found.values()], isRemote: hasRemoteImports(code, specifiers, hosts) }
}
