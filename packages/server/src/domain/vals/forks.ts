import { type forkValBody, limits as wireLimits } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { z } from "zod"
import type { Caller } from "../access/caller.ts"
import { canSee, isOfAccount, type Viewer, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { VersionLockfiles } from "../modules/version-lockfiles.ts"
import { type Edit, moveResolution, rewriteRelativeImports } from "./relative-imports.ts"
import type { ValLists } from "./val-lists.ts"
import { type Sources, toSource, type ValImport, type ValSource } from "./val-source.ts"
import type { AssertVal, ForkOrigin, NewVal, Val, Vals } from "./vals.ts"
import type { Versions } from "./versions.ts"

/** A val that is going to be a copy of another. */
export interface NewFork extends NewVal {
  readonly forkOf: NonNullable<NewVal["forkOf"]>
}

/** Where forks are kept. */
export interface ForkStore {
  /**
   * The vals that a version imports, with their pins. Undefined when the specifiers were not stored
   * at the time.
   */
  findImports(valId: string, version: number): Promise<readonly ValImport[] | undefined>
  /**
   * Undefined when the owner already has a val with that name. `assert` receives the version that is
   * copied as it is in the transaction, undefined if it was deleted.
   */
  create(fork: NewFork, assert: AssertVal<Val | undefined>, at: number): Promise<Val | undefined>
}

/** What a client may choose about a fork. */
export type ForkInput = Readonly<z.output<typeof forkValBody>>

const limits = {
  /** How long a fork waits for the packages of its original. */
  packagesMsMax: 10_000,
  /** Names with a number that are tried before names with random digits. */
  numberedNamesMax: 9,
}

/** The rules of forks. */
export type Forks = ReturnType<typeof createForks>

interface ForksParts {
  readonly store: ForkStore
  readonly vals: Vals
  readonly versions: Versions
  readonly lists: ValLists
  readonly sources: Sources
  readonly lockfiles: VersionLockfiles
  readonly clock: Clock
}

/** Creates the rules of forks. */
export function createForks({
  store,
  vals,
  versions,
  lists,
  sources,
  lockfiles,
  clock: { newId, now },
}: ForksParts) {
  return {
    /**
     * Copies a version of a val that the caller may see: code, readme and type. The copy imports the
     * same vals and the same packages as the original.
     */
    async create(caller: Caller, valId: string, input: ForkInput): Promise<Val> {
      const original =
        input.version === undefined
          ? await vals.get(caller, valId)
          : await versions.get(caller, valId, input.version)
      const source = await copySource(store, sources, lockfiles, caller, original)
      const assert = (current: Val | undefined) => {
        if (!current || !canSee(current, caller)) throw valNotFound(valId)
      }
      for (let attempt = 0; ; attempt++) {
        const fork: NewFork = {
          id: newId(),
          ownerId: caller.ownerId,
          ownerName: caller.ownerName,
          name: input.name ?? toForkName(original.name, attempt),
          privacy: input.privacy ?? "private",
          type: original.type,
          readme: original.readme,
          description: original.description,
          imageUrl: original.imageUrl,
          source,
          forkOf: { id: original.id, version: original.version },
        }
        const val = await store.create(fork, assert, now())
        if (val && source.isRemote) lockfiles.wake()
        if (val) return val
        if (input.name !== undefined)
          throw new AppError(
            "name_taken",
            `Cannot fork val "${original.name}" as "${input.name}": you already have a val with that name`,
          )
      }
    },
    /** Lists public forks of a val and the caller's own. */
    async list(caller: Caller | undefined, valId: string, page: PageRequest): Promise<Page<Val>> {
      await vals.get(caller, valId)
      return lists.list(caller, { forkOf: valId }, page)
    },
  }
}

/**
 * The original of a fork, if the viewer may know of it. The owner of the fork has had the address of
 * an unlisted original; no other user may learn it from the fork.
 */
export function findOrigin(
  { ownerId, forkedFrom }: Pick<Val, "ownerId" | "forkedFrom">,
  viewer: Viewer | undefined,
): ForkOrigin | null {
  if (forkedFrom === null || forkedFrom.privacy === "public") return forkedFrom
  if (viewer?.roles.has(forkedFrom.ownerId)) return forkedFrom
  return forkedFrom.privacy === "unlisted" && viewer?.roles.has(ownerId) ? forkedFrom : null
}

/** The name of a fork that was given none. The more attempts failed, the longer its suffix gets. */
export function toForkName(
  name: string,
  attempt: number,
  random: () => number = Math.random,
): string {
  if (attempt === 0) return name
  const digits = Math.min(attempt - limits.numberedNamesMax + 2, 9)
  const number =
    attempt < limits.numberedNamesMax ? attempt + 1 : Math.floor(10 ** digits * (1 + 9 * random()))
  const suffix = `_${number}`
  return name.slice(0, wireLimits.nameCharsMax - suffix.length) + suffix
}

/**
 * The code with its imports as they are: pins stay, the owner's own vals are pinned when the fork is
 * written, and relative imports still mean the vals of the original's owner.
 */
async function copySource(
  store: ForkStore,
  sources: Sources,
  lockfiles: VersionLockfiles,
  caller: Caller,
  original: Val,
): Promise<ValSource> {
  const imports =
    (await store.findImports(original.id, original.version)) ??
    (await scanImports(sources, original))
  const { code, edits, renamed } =
    isOfAccount(original, caller) || imports.length === 0
      ? { code: original.code, edits: [], renamed: new Map<string, string>() }
      : await rewriteRelativeImports(sources, original, caller.ownerId)
  return {
    code,
    imports: imports.map((one) => ({
      ...one,
      specifiers: one.specifiers.map((specifier) => renamed.get(specifier) ?? specifier),
    })),
    ...(await copyPackages(lockfiles, original, edits)),
  }
}

async function scanImports(
  { parser, importHosts }: Sources,
  { code, ownerId, ownerName, name }: Val,
): Promise<readonly ValImport[]> {
  const specifiers = await parser.scanImports(code, ownerId)
  return toSource(importHosts, { username: ownerName, name }, code, specifiers, new Set()).imports
}

/**
 * The packages of the original. If they cannot be fetched at the moment, neither version has run yet,
 * and the fork fetches its own.
 */
async function copyPackages(
  lockfiles: VersionLockfiles,
  original: Val,
  edits: readonly Edit[],
): Promise<Pick<ValSource, "isRemote" | "lock">> {
  const lock = await lockfiles.waitFor(original, limits.packagesMsMax)
  if (!lock) return { isRemote: false }
  if (!lock.resolution || lock.state === "pending") return { isRemote: true }
  return {
    isRemote: true,
    lock: { state: lock.state, resolution: moveResolution(lock.resolution, original.code, edits) },
  }
}
