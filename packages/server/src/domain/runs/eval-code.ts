import type { CallArgs, Returned } from "@hamlet/sandbox"
import type { Caller } from "../access/caller.ts"
import { isOfAccount } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { ResolvedImport } from "../modules/graph/import-store.ts"
import type { VersionFileStore } from "../modules/graph/version-files.ts"
import { mainBranch, toBranchKey } from "../modules/import-address.ts"
import { type DependencyResolver, toResolution } from "../modules/lockfiles.ts"
import { entryPath } from "../modules/module-url.ts"
import type { Programs, UnsavedPackages } from "../modules/programs.ts"
import type { Sources, ValSource } from "../vals/val-source.ts"
import type { Val, Vals } from "../vals/vals.ts"
import { callWith, getReturned, type RunStarter, toRecordedArgs } from "./execute-run.ts"
import type { Retirer } from "./retirement.ts"
import { evalName, unsavedVersion } from "./runs.ts"

/** Code and the arguments to call it with. */
export interface EvalInput {
  readonly code: string
  readonly args: CallArgs
}

/** The packages of unsaved code. */
export interface EvalPackages {
  /** Null when the server does not fetch packages. */
  readonly resolver: DependencyResolver | null
  /** The time limit for fetching the packages of the code. */
  readonly resolveMsMax: number
}

/** Runs unsaved code. */
export type Evaluations = ReturnType<typeof createEvaluations>

interface EvaluationsParts {
  readonly starter: RunStarter
  readonly vals: Vals
  readonly files: VersionFileStore
  readonly sources: Sources
  readonly programs: Programs
  readonly runner: Retirer
  readonly packages: EvalPackages
  readonly clock: Clock
}

/** Creates the rules of unsaved code. */
export function createEvaluations({
  starter,
  vals,
  files,
  sources,
  programs,
  runner,
  packages,
  clock,
}: EvaluationsParts) {
  const startCode = async (caller: Caller, { code, args }: EvalInput) => {
    const { ownerId } = caller
    const val = toUnsavedVal(clock, caller, await toModule(sources, caller, code))
    const makeProgram = async () => {
      const source = await sources.read(caller, val.code, val.name)
      const [imports, resolved] = await Promise.all([
        resolveImports(vals, files, caller, source, val.createdAt),
        resolvePackages(packages, ownerId, source),
      ])
      return programs.ofUnsaved(val, imports, resolved)
    }
    const subject = { id: ownerId, version: unsavedVersion, ownerId }
    const about = { args: toRecordedArgs(args), parentId: null, request: null, input: null }
    const work = callWith(args)
    const started = await starter.startProgram(caller, ownerId, subject, makeProgram, about, work)
    // No other run will use this program.
    const retire = () => runner.retire({ valId: val.id })
    started.ended.then(retire, retire)
    return { val, started }
  }
  return {
    /**
     * Runs code once as if it were a private val of the caller, and returns its result. Nothing is
     * saved. The run is recorded under the caller's id instead of a val's, so that retention and
     * counts treat all such runs of a user as those of one val.
     */
    async run(caller: Caller, input: EvalInput): Promise<Returned["json"]> {
      const { val, started } = await startCode(caller, input)
      return getReturned(started, val, caller)
    },
    /** Runs the code like `run`, but the failure of the code is the outcome of its run. */
    start: async (caller: Caller, input: EvalInput) => (await startCode(caller, input)).started,
  }
}

/**
 * An expression becomes a module that returns its value; one that is a function is called with the
 * arguments. Other code is a module already.
 */
async function toModule({ parser }: Sources, { ownerId }: Caller, code: string): Promise<string> {
  const module = wrapExpression(code)
  try {
    await parser.toJavaScript(module, ownerId)
    return module
  } catch (error) {
    // Not an expression: a module, or statements, which run when the module is loaded.
    if (error instanceof AppError && error.code === "module_not_parsable") return code
    throw error
  }
}

/**
 * The function that calls it is a parameter, so that the expression sees none of its names. The code
 * begins in the second line.
 */
function wrapExpression(code: string): string {
  const call =
    'async (...args) => { const value = await evaluate(); return typeof value === "function" ? value(...args) : value }'
  return `export default ((evaluate) => ${call})(async () => (\n${code.trim().replace(/;$/, "")}\n))`
}

/** The id is new each time, so that nothing cached for other code is used. */
function toUnsavedVal({ newId, now }: Clock, { ownerId, ownerName }: Caller, code: string): Val {
  const at = now()
  const id = newId()
  return {
    id,
    ownerId,
    ownerName,
    ownerSecretsVersion: 0,
    isOwnerSuspended: false,
    isOwnerOrg: false,
    name: evalName,
    privacy: "private",
    type: "script",
    readme: null,
    description: null,
    version: unsavedVersion,
    code,
    file: {
      id,
      path: entryPath,
      since: unsavedVersion,
      branchId: id,
      branchName: mainBranch,
      isEntry: true,
    },
    versionCreatedAt: at,
    likeCount: 0,
    referenceCount: 0,
    forkCount: 0,
    imageUrl: null,
    fileCount: 1,
    branchCount: 1,
    endpointFileId: null,
    mailFileId: null,
    forkedFrom: null,
    createdAt: at,
    updatedAt: at,
    runStartedAt: null,
    runEndedAt: null,
  }
}

/** Resolves imports as a save would: pinned or to the current version. */
function resolveImports(
  vals: Vals,
  files: VersionFileStore,
  caller: Caller,
  { imports }: ValSource,
  at: number,
): Promise<readonly ResolvedImport[]> {
  return Promise.all(
    imports.map(async (one) => {
      const val = await vals.findByName(one.username, one.name, caller)
      const branch = val && (await files.findBranch(val.id, one.branch))
      return {
        address: toBranchKey(one),
        specifiers: one.specifiers,
        isPinned: val !== undefined && !isOfAccount(val, caller),
        pinnedAt: at,
        target: branch && {
          valId: val.id,
          ownerId: val.ownerId,
          ownerName: val.ownerName,
          valName: val.name,
          branchId: branch.id,
          branchName: branch.name,
        },
        version: branch && (await files.findVersion(branch.id, null)),
      }
    }),
  )
}

async function resolvePackages(
  { resolver, resolveMsMax }: EvalPackages,
  ownerId: string,
  { code, imports, isRemote }: ValSource,
): Promise<UnsavedPackages | null> {
  if (!isRemote || !resolver) return null
  const local = imports.flatMap(({ specifiers }) => specifiers)
  const signal = AbortSignal.timeout(resolveMsMax)
  const files = [{ path: entryPath, code }]
  const resolved = await resolver
    .resolve({ files, ownerId, local, signal })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
      throw new AppError(
        "packages_pending",
        "Cannot evaluate the code: fetching its packages takes too long",
      )
    })
  return { resolution: toResolution(resolved, files, undefined), bundle: resolved.bundle }
}
