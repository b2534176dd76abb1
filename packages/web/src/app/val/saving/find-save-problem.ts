import { ApiError, type Output } from "@hamlet/contract/client"
import { api } from "../../api.ts"
import { type SaveProblem, toSyntaxError } from "./syntax-error.ts"

type Val = Pick<Output<"getVal">, "id" | "name" | "version" | "author">

const limits = { pollMs: 300, waitMsMax: 60_000 }

/** Finds out whether a saved version parses and all its packages exist, without running it. */
export async function findSaveProblem(
  val: Val,
  signal: AbortSignal,
): Promise<SaveProblem | undefined> {
  return (await findSyntaxError(val, signal)) ?? (await findMissingPackage(val, signal))
}

/** The server converts a module for browsers, and says where it cannot parse it. */
async function findSyntaxError(
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
    await new Promise((resolve) => setTimeout(resolve, limits.pollMs))
  }
}
