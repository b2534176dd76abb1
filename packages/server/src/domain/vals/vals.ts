import type { valsQuery, valType } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { z } from "zod"
import type { Caller } from "../access/caller.ts"
import {
  assertMayChange,
  canSee,
  type Privacy,
  type Viewer,
  valNotFound,
} from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { LockfileWork } from "../modules/lockfiles.ts"
import type { Retirer } from "../runs/retirement.ts"
import { generateName } from "./generate-name.ts"
import type { Sources, ValSource } from "./val-source.ts"

/** What starts a val. */
export type ValType = z.infer<typeof valType>

/**
 * The files to which the addresses lead that are made of the names of a val. Null while no file has
 * had the address; then it is that of the entry file, which nodes of the release before have written.
 */
export interface AddressFiles {
  readonly endpointFileId: string | null
  readonly mailFileId: string | null
}

/**
 * A val in one of its versions: `version`, `code` and `versionCreatedAt` are that version's, the
 * rest is the val's.
 */
export interface Val extends AddressFiles {
  readonly id: string
  readonly ownerId: string
  readonly ownerName: string
  /** Increases whenever a secret of the owner changes. */
  readonly ownerSecretsVersion: number
  readonly isOwnerSuspended: boolean
  /** Whether the owner is an organisation. */
  readonly isOwnerOrg: boolean
  readonly name: string
  readonly description: string | null
  /** An address, or a small picture itself. */
  readonly imageUrl: string | null
  readonly privacy: Privacy
  readonly type: ValType
  readonly readme: string | null
  readonly version: number
  /** The code of the entry file; empty if there is none. */
  readonly code: string
  /** The file that `code` and `type` are of: the entry file of `main`, unless another is started. */
  readonly file: CodeFile
  readonly versionCreatedAt: number
  readonly likeCount: number
  readonly referenceCount: number
  /** Public forks only. */
  readonly forkCount: number
  /** The files of the current version of `main`. */
  readonly fileCount: number
  readonly branchCount: number
  /** Null if it is no fork or the original was deleted. Not everyone may see it. */
  readonly forkedFrom: ForkOrigin | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly runStartedAt: number | null
  readonly runEndedAt: number | null
}

/** A file of a branch, since the version in which it last changed. */
export interface CodeFile {
  readonly id: string
  readonly path: string
  readonly since: number
  readonly branchId: string
  readonly branchName: string
  /** Whether it is the entry file of `main`. */
  readonly isEntry: boolean
}

/** The val and the version that a fork was copied from. */
export interface ForkOrigin extends Pick<Val, "id" | "name" | "ownerId" | "ownerName" | "privacy"> {
  readonly version: number
}

/** A val that a search has found. */
export interface FoundVal extends Val {
  /** The file that contains the query; null where only the name or the description does. */
  readonly foundPath: string | null
}

/** How many vals a user has, and the bytes of the texts of all their branches and versions. */
export interface CodeUsage {
  readonly vals: number
  readonly bytes: number
}

/** What a client needs to detect that a val has changed, without its code. */
export type ValState = Pick<Val, "id" | "name" | "version" | "privacy" | "type" | "updatedAt">

/** A change of a val in one save. Undefined fields stay as they are. */
export interface ValChange {
  readonly name?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
  readonly description?: string | null | undefined
  readonly imageUrl?: string | null | undefined
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

/** A val that will have no files yet. */
export type EmptyVal = Pick<
  NewVal,
  "id" | "ownerId" | "ownerName" | "name" | "description" | "privacy"
>

/** The result of a save. */
export interface SavedVal {
  readonly val: Val
  /** A version is new when the code, the type or the readme has changed: all are its files. */
  readonly isNewVersion: boolean
  readonly isNewCode: boolean
  /** Whether packages must be fetched. */
  readonly isRemote: boolean
}

/** Which vals a list shows, among those that the viewer may see. */
export interface ValFilter {
  readonly ownerId?: string | undefined
  readonly privacy?: Privacy | undefined
  /** Forks of that val only. */
  readonly forkOf?: string | undefined
}

/** A text of a val that a list can leave out. */
export type OmittedText = "code" | "readme"

export interface ValPageRequest extends PageRequest {
  /** The texts that the list leaves out; it has only the beginning of each. */
  readonly omit?: readonly OmittedText[] | undefined
}

/** An order of public vals that depends on what other users did: likes, runs. */
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
  /** The val that a file belongs to, with the file as it is now. Undefined if it was deleted. */
  findByFile(fileId: string): Promise<Val | undefined>
  /**
   * Undefined also for a private val of another user. Its code is not even read: otherwise the time
   * it takes would reveal that the val exists.
   */
  findByName(username: string, name: string, viewer: Viewer | undefined): Promise<Val | undefined>
  list(viewer: Viewer | undefined, filter: ValFilter, page: ValPageRequest): Promise<Page<Val>>
  /** Public vals only. */
  listRanked(
    ranking: ValRanking,
    ownerId: string | undefined,
    page: ValPageRequest,
  ): Promise<Page<Val>>
  search(
    viewer: Viewer | undefined,
    query: string,
    page: ValPageRequest,
    searcher?: string,
  ): Promise<Page<FoundVal>>
  /**
   * Indexes some of the vals that an earlier release has indexed in part, for searches. Returns
   * whether there may be more.
   */
  indexBacklog(valsMax: number): Promise<boolean>
  /** Adds to the numbers of runs; ids without a val are ignored. */
  addRunCounts(counts: ReadonlyMap<string, number>): Promise<void>
  findUsage(ownerId: string): Promise<CodeUsage>
  /** The states of the owner's vals, by name, at most `countMax`. */
  listStates(ownerId: string, countMax: number): Promise<Page<ValState>>
  /** Undefined when the owner already has a val with that name. */
  create(val: NewVal, at: number): Promise<Val | undefined>
  /** Creates a val at version 0, without files. Undefined when the owner has one with that name. */
  createEmpty(val: EmptyVal, at: number): Promise<Val | undefined>
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

/** The fields of a val that a client sends. */
export interface ValInput {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly readme?: string | null | undefined
}

/** The error for a save of another version than the one that there is now. */
export class VersionConflict extends AppError {
  constructor(
    what: string,
    readonly version: number,
    ifMatch: number,
  ) {
    super("version_conflict", `Cannot save ${what} at version ${version}, not ${ifMatch}`)
  }
}

/** Throws when the current version is not the one that the caller expects. */
export function assertUnchanged(val: Val, ifMatch: number | undefined): void {
  if (ifMatch === undefined || val.version === ifMatch) return
  throw new VersionConflict(`val "${val.name}": it is`, val.version, ifMatch)
}

/** The rules of single vals. */
export type Vals = ReturnType<typeof createVals>

/** Creates the rules of vals. `lockfileWork` fetches the packages that new versions import. */
export function createVals(
  store: ValStore,
  sources: Sources,
  runner: Retirer,
  lockfileWork: LockfileWork,
  { newId, now }: Clock,
) {
  const toNewVal = async (caller: Caller, name: string, input: ValInput & { code: string }) =>
    toPrivateVal(newId(), caller, name, input, await sources.read(caller, input.code, name))
  /** Retires the processes of changed files, and starts to fetch the packages of the new version. */
  const noteSaved = (saved: SavedVal, source: ValSource | undefined) => {
    if (!saved.isNewVersion) return saved
    const { file, version } = saved.val
    // A readme alone concerns only the programs that can read all files, whatever the paths.
    const paths = file.since === version ? [file.path] : []
    runner.retire({ branchId: file.branchId, paths })
    if (saved.isRemote) lockfileWork.wake()
    if (saved.isNewCode && source) prepare(source, saved.val)
    return saved
  }
  /** Code that imports packages is linked to them first, when they are fetched. */
  const prepare = (source: ValSource, { ownerId, file: { path }, code }: Val) => {
    if (!source.isRemote) runner.prepare?.(ownerId, [{ path, code }])
  }
  return {
    /** Does not ask who may see it: for rules that decide that themselves. */
    findById: store.findById,
    findByName: store.findByName,
    /** Returns the val with that id. Throws not-found if the caller may not see it. */
    async get(caller: Caller | undefined, id: string): Promise<Val> {
      const val = await store.findById(id)
      if (!val || !canSee(val, caller)) throw valNotFound(id)
      return val
    },
    /** Returns the val with that owner and name. The owner may be written with `@`. */
    async getByName(caller: Caller | undefined, username: string, name: string): Promise<Val> {
      const val = await store.findByName(username.replace(/^@/, ""), name, caller)
      if (!val) throw valNotFound(`${username}/${name}`)
      return val
    },
    /** Creates a val. Without a name, a readable one is generated. */
    async create(caller: Caller, input: ValInput & { readonly code: string }): Promise<Val> {
      for (let attempt = 0; ; attempt++) {
        const val = await toNewVal(caller, input.name ?? generateName(attempt), input)
        const created = await store.create(val, now())
        if (created && val.source.isRemote) lockfileWork.wake()
        if (created) prepare(val.source, created)
        if (created) return created
        if (input.name !== undefined) throw nameTaken(input.name)
      }
    },
    /** Creates a val without files. */
    async createEmpty(
      caller: Caller,
      input: Pick<EmptyVal, "name" | "description" | "privacy">,
    ): Promise<Val> {
      const { ownerId, ownerName } = caller
      const val = await store.createEmpty({ id: newId(), ownerId, ownerName, ...input }, now())
      if (!val) throw nameTaken(input.name)
      return val
    },
    /** Creates the val with that name, or saves a new version of it. */
    async save(
      caller: Caller,
      input: ValInput & { readonly name: string; readonly code: string },
      ifMatch: number | undefined,
    ): Promise<SavedVal> {
      const val = await toNewVal(caller, input.name, input)
      const { name, code: _code, ...rest } = input
      const assert = (current: Val | undefined) => assertSavable(current, name, ifMatch)
      const change = { ...rest, source: val.source }
      return noteSaved(await store.createOrChange(val, change, assert, now()), val.source)
    },
    /** Changes a val of the caller. */
    async change(caller: Caller, id: string, change: ValChange, ifMatch: number | undefined) {
      const assert = (val: Val) => assertChangeable(val, caller, ifMatch)
      const saved = await store.change(id, change, assert, now())
      if (!saved) throw valNotFound(id)
      return noteSaved(saved, change.source)
    },
    /** Deletes a val and everything that belongs to it. */
    async delete(caller: Caller, id: string, ifMatch: number | undefined): Promise<void> {
      const isFound = await store.delete(id, (val) => assertChangeable(val, caller, ifMatch))
      if (!isFound) throw valNotFound(id)
      runner.retire({ valId: id })
    },
  }
}

/** Throws unless the caller owns the val and it is at the version that the caller expects. */
export function assertChangeable(val: Val, caller: Caller, ifMatch: number | undefined): void {
  assertMayChange(val, caller)
  assertUnchanged(val, ifMatch)
}

function nameTaken(name: string): AppError {
  return new AppError(
    "name_taken",
    `Cannot create val "${name}": you already have one with that name`,
  )
}

/**
 * The lookup of `current` ignores case. A name in another case most likely means another val, which
 * must not be overwritten.
 */
function assertSavable(current: Val | undefined, name: string, ifMatch: number | undefined): void {
  if (current && current.name !== name)
    throw new AppError(
      "name_taken",
      `Cannot save val "${name}": you already have "${current.name}", and names that differ only in case, or in - and _, are the same`,
    )
  if (current) assertUnchanged(current, ifMatch)
  else if (ifMatch !== undefined)
    throw new AppError(
      "version_conflict",
      `Cannot save val "${name}": you have no val with that name, at any version`,
    )
}

function toPrivateVal(
  id: string,
  caller: Caller,
  name: string,
  { privacy = "private", type = "script", readme = null, description = null }: ValInput,
  source: ValSource,
): NewVal {
  const { ownerId, ownerName } = caller
  return { id, ownerId, ownerName, name, description, privacy, type, readme, source }
}
