import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { type DependencyResolver, toResolution } from "../modules/lockfiles.ts"
import type { ResolvedImport } from "../modules/module-graph.ts"
import type { UnsavedPackages } from "../modules/programs.ts"
import { readSource, type SourceDeps, type ValSource } from "../vals/val-source.ts"
import type { Val } from "../vals/vals.ts"
import {
  callWith,
  type ExecuteDeps,
  getReturned,
  startProgram,
  toRecordedArgs,
} from "./execute-run.ts"
import type { CallArgs, Returned } from "./runner.ts"
import { evalName, unsavedVersion } from "./runs.ts"

/** What running unsaved code needs. */
export interface EvalDeps extends ExecuteDeps, Omit<SourceDeps, "vals"> {
  /** Fails with `module_not_parsable` for code that does not parse. */
  toJavaScript(code: string, ownerId: string): Promise<string>
  /** Null when the server does not fetch packages. */
  readonly resolver: DependencyResolver | null
  /** The time limit for fetching the packages of the code. */
  readonly resolveMsMax: number
}

/** Code and the arguments to call it with. */
export interface EvalInput {
  readonly code: string
  readonly args: CallArgs
}

/**
 * Runs code once as if it were a private val of the caller, and returns its result. Nothing is
 * saved. The run is recorded under the caller's id instead of a val's, so that retention and counts
 * treat all such runs of a user as those of one val.
 */
export async function evalCode(
  deps: EvalDeps,
  caller: Caller,
  { code, args }: EvalInput,
): Promise<Returned["json"]> {
  const val = toUnsavedVal(deps, caller, await toModule(deps, caller, code))
  const makeProgram = async () => {
    const source = await readSource(deps, caller, val.code, val.name)
    const [imports, packages] = await Promise.all([
      resolveImports(deps, caller, source),
      resolvePackages(deps, source),
    ])
    return deps.programs.ofUnsaved(val, imports, packages)
  }
  const subject = { id: caller.userId, version: unsavedVersion, ownerId: caller.userId }
  const about = { args: toRecordedArgs(args), parentId: null, request: null, input: null }
  const started = await startProgram(deps, caller, subject, makeProgram, about, callWith(args))
  try {
    return await getReturned(started, val, caller)
  } finally {
    // No other run will use this program.
    deps.runner.retire({ valId: val.id })
  }
}

/** Modules are unchanged. An expression becomes a module that returns its value. */
async function toModule(deps: EvalDeps, { userId }: Caller, code: string): Promise<string> {
  if (/\bexport\b/.test(code)) return code
  const module = `export default async () => (\n${code.trim().replace(/;$/, "")}\n)`
  try {
    await deps.toJavaScript(module, userId)
    return module
  } catch (error) {
    // Not an expression: the statements run when the module is loaded.
    if (error instanceof AppError && error.code === "module_not_parsable") return code
    throw error
  }
}

/** The id is new each time, so that nothing cached for other code is used. */
function toUnsavedVal(deps: EvalDeps, { userId, username }: Caller, code: string): Val {
  const at = deps.now()
  return {
    id: deps.newId(),
    ownerId: userId,
    ownerName: username,
    ownerSecretsVersion: 0,
    isOwnerSuspended: false,
    name: evalName,
    privacy: "private",
    type: "script",
    readme: null,
    version: unsavedVersion,
    code,
    versionCreatedAt: at,
    likeCount: 0,
    referenceCount: 0,
    forkCount: 0,
    forkedFrom: null,
    createdAt: at,
    updatedAt: at,
    runStartedAt: null,
    runEndedAt: null,
  }
}

/** Resolves imports as a save would: pinned or to the current version. */
function resolveImports(
  deps: EvalDeps,
  caller: Caller,
  { imports }: ValSource,
): Promise<readonly ResolvedImport[]> {
  return Promise.all(
    imports.map(async ({ username, name, specifiers }) => {
      const val = await deps.vals.findByName(username, name, caller.userId)
      return {
        address: `${username}/${name}`,
        specifiers,
        isPinned: val !== undefined && val.ownerId !== caller.userId,
        pinnedAt: null,
        val: val && { id: val.id, ownerId: val.ownerId },
        version: val && { number: val.version, savedAt: val.versionCreatedAt },
      }
    }),
  )
}

async function resolvePackages(
  { resolver, resolveMsMax }: EvalDeps,
  { code, imports, isRemote }: ValSource,
): Promise<UnsavedPackages | null> {
  if (!isRemote || !resolver) return null
  const local = imports.flatMap(({ specifiers }) => specifiers)
  const signal = AbortSignal.timeout(resolveMsMax)
  const resolved = await resolver.resolve({ code, local, signal })
  return { resolution: toResolution(resolved), bundle: resolved.bundle }
}
