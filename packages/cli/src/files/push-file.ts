import { ApiError, type Client } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { Val } from "../names/find-val.ts"
import { toSettings } from "../vals.ts"
import { type FileState, type FolderState, toFileState } from "./folder-state.ts"
import { readValFile, type ValFile } from "./val-file.ts"

/** What became of a file. */
export interface PushedFile {
  readonly val: Val
  readonly path: string
  /** Whether the val has a version that it did not have before. */
  readonly isNew: boolean
}

/** Saves a file as its val. Where the folder knows which version it is based on, a val that has moved on since is left alone, unless `isForced`. */
export async function pushFile(client: Client, state: FolderState, path: string, isForced: boolean): Promise<PushedFile> {
  const file = readValFile(path)
  const base = isForced ? undefined : state.get(path)
  const before = state.get(path)?.version
  const val = base ? await saveOver(client, file, base) : await client.saveVal({ ...toFields(file), name: file.name })
  state.set(path, toFileState(val, file.hash))
  return { val, path, isNew: val.version !== before }
}

function toFields(file: ValFile) {
  return { code: file.code, ...toSettings(file.front) }
}

async function saveOver(client: Client, file: ValFile, base: FileState): Promise<Val> {
  try {
    return await client.createVersion({ val_id: base.id, ...toFields(file), name: file.name }, { ifMatch: base.version })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === "not_owner")
      throw new CliError("refused", `Cannot save "${file.path}": its val belongs to somebody else`, {
        cause: error,
        advice: '"--force" makes a val of your own of it',
      })
    const problem = problems[error.code]
    if (problem === undefined) throw error
    throw new CliError("conflict", `Cannot save "${file.path}" as ${file.name}: ${problem}`, {
      cause: error,
      advice: '"hamlet val pull" fetches what is there, "--force" saves over it; no version is ever lost',
    })
  }
}

const problems: Readonly<Partial<Record<ApiError["code"], string>>> = {
  version_conflict: "the val has changed since the file was written",
  val_not_found: "the val was deleted since the file was written",
}
