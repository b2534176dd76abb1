import { ApiError, type Output } from "@hamlet/contract/client"
import { findModuleAddress } from "../../../editor/type-service/module-address.ts"
import { api } from "../../api.ts"
import { pause } from "../../data/pause.ts"
import { type SaveProblem, toSyntaxError } from "./syntax-error.ts"

type Val = Pick<Output<"getVal">, "id" | "name" | "version" | "author" | "code">

const limits = { pollMs: 300, waitMsMax: 60_000, valsMax: 50 }

/**
 * Why a saved version does not parse, without running it: the server converts a module for browsers,
 * and says where it cannot.
 */
export async function findSyntaxError(
  { name, version, author }: Val,
  signal: AbortSignal,
): Promise<SaveProblem | undefined> {
  try {
    const val_name = `${name}@${version}`
    await api.getModule({ username: author.username, val_name }, { signal })
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return toSyntaxError(error)
    throw error
  }
}

/** Which import of a saved version does not exist, without running it. */
export async function findImportProblem(
  val: Val,
  signal: AbortSignal,
): Promise<SaveProblem | undefined> {
  return (await findMissingVal(val, signal)) ?? (await findMissingPackage(val, signal))
}

/** The owner, who is signed in, sees the vals that a run of theirs can import. */
async function findMissingVal(
  { name, author, code }: Val,
  signal: AbortSignal,
): Promise<SaveProblem | undefined> {
  // Loaded with the editor.
  const { listImports } = await import("../../../editor/list-imports.ts")
  const asked = new Set<string>()
  for (const specifier of listImports(code)) {
    const importer = `/v/${author.username}/${name}.tsx`
    const address = findModuleAddress(specifier, importer, location.origin)
    if (!address?.path.startsWith("/v/") || address.mayBeElsewhere) continue
    if (asked.has(address.path) || asked.size === limits.valsMax) continue
    asked.add(address.path)
    const [username = "", val_name = ""] = address.path.slice("/v/".length).split("/")
    try {
      await api.getModule({ username, val_name }, { signal })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 404)
        return {
          message: `The import "${specifier}" does not work: there is no such val that you may see`,
        }
    }
  }
  return undefined
}

/** Packages are resolved after the save, which may take seconds. */
async function findMissingPackage(
  { id, version }: Val,
  signal: AbortSignal,
): Promise<SaveProblem | undefined> {
  for (const endsAt = Date.now() + limits.waitMsMax; ; ) {
    const { state, imports } = await api.getVersionLock({ val_id: id, version }, { signal })
    const failed = imports.find(({ error }) => error !== null)
    // A pending import may only be slow.
    if (failed && (state === "failed" || Date.now() > endsAt))
      return { message: `The import "${failed.specifier}" does not work: ${failed.error}` }
    if (state !== "pending" || Date.now() > endsAt) return undefined
    await pause(limits.pollMs, signal)
  }
}
