import { ApiError, type Client } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { Val } from "../names/find-val.ts"
import { toSettings } from "../vals.ts"
import { type FileState, type FolderState, toFileState } from "./folder-state.ts"
import { findReadme, hashReadme, toReadmeField, toReadmePath } from "./readme-file.ts"
import { readValFile, type ValFile } from "./val-file.ts"

/** What became of a file. */
export interface PushedFile {
  readonly val: Val
  readonly path: string
  /** Whether the val has a version that it did not have before, or another readme. */
  readonly isNew: boolean
}

/**
 * Saves a file as its val, and the readme beside it. Where the folder knows which version it is
 * based on, a val that has moved on since is left alone, unless `isForced`.
 */
export async function pushFile(
  client: Client,
  state: FolderState,
  path: string,
  isForced: boolean,
): Promise<PushedFile> {
  const file = readValFile(path)
  const readme = findReadme(path)
  const before = state.get(path)
  const base = isForced ? undefined : before
  // A readme that is as it was is not sent: the val may have a later one. Without a file, the val
  // keeps what it has.
  const isSent = readme !== undefined && hashReadme(readme) !== base?.readmeHash
  if (base && isSent) await assertReadmeSeen(client, path, base, readme)
  const fields = { ...toFields(file), ...(isSent && { readme: toReadmeField(readme) }) }
  const val = base ? await saveOver(client, file, base, fields) : await client.saveVal(fields)
  state.set(path, toFileState(val, file.hash, isSent ? hashReadme(readme) : before?.readmeHash))
  return { val, path, isNew: val.version !== before?.version || isSent }
}

function toFields(file: ValFile) {
  return { name: file.name, code: file.code, ...toSettings(file.front) }
}

/** No version tells of a change of the readme, so that it is looked at. */
async function assertReadmeSeen(
  client: Client,
  path: string,
  base: FileState,
  readme: string,
): Promise<void> {
  const found = await client.getVal({ val_id: base.id }).catch((error: unknown) => {
    // Saving it is what finds out that it is gone, and says so.
    if (error instanceof ApiError && error.code === "val_not_found") return undefined
    throw error
  })
  const hash = hashReadme(found?.readme)
  // Where the folder does not know of a readme, only one that is there can be lost.
  if (!found?.readme || hash === base.readmeHash || hash === hashReadme(readme)) return
  throw new CliError(
    "conflict",
    `Cannot save "${toReadmePath(path)}" with ${found.name}: the val's readme has changed since the file was written`,
    {
      advice: '"hamlet val show --readme" shows it, "--force" saves over it, and it is lost then',
    },
  )
}

type SavedFields = ReturnType<typeof toFields> & { readonly readme?: string | null }

async function saveOver(
  client: Client,
  file: ValFile,
  base: FileState,
  fields: SavedFields,
): Promise<Val> {
  try {
    return await client.createVersion({ val_id: base.id, ...fields }, { ifMatch: base.version })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === "not_owner")
      throw new CliError(
        "refused",
        `Cannot save "${file.path}": its val belongs to somebody else`,
        {
          cause: error,
          advice: '"--force" makes a val of your own of it',
        },
      )
    const problem = problems[error.code]
    if (problem === undefined) throw error
    throw new CliError("conflict", `Cannot save "${file.path}" as ${file.name}: ${problem}`, {
      cause: error,
      advice:
        '"hamlet val pull" fetches what is there, "--force" saves over it; no version is ever lost',
    })
  }
}

const problems: Readonly<Partial<Record<ApiError["code"], string>>> = {
  version_conflict: "the val has changed since the file was written",
  val_not_found: "the val was deleted since the file was written",
}
