import { ApiError, type Client, type Input, unlessMissing } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { isVersionConflict } from "../failure.ts"
import type { Val } from "../names/find-val.ts"
import { type FileState, type FolderState, toFileState } from "./folder-state.ts"
import { findReadme, hashReadme, toReadmeField, toReadmePath } from "./readme-file.ts"
import { readValFile, type ValFile } from "./val-file.ts"

/** The result of pushing a file. */
export interface PushedFile {
  readonly val: Val
  readonly path: string
  /** Whether the val got a new version or another readme. */
  readonly isNew: boolean
}

/**
 * Saves a file as its val, and the readme beside it. If the folder recorded which version it is
 * based on and the val has a newer one, it is refused, unless `isForced`.
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
  // An unchanged readme is not sent, because the val may have a newer one. Without a readme file
  // the val keeps its own.
  const isSent = readme !== undefined && hashReadme(readme) !== base?.readmeHash
  if (base && isSent) await assertReadmeSeen(client, path, base, readme)
  const fields = {
    ...file.front,
    name: file.name,
    code: file.code,
    ...(isSent && { readme: toReadmeField(readme) }),
  }
  const val = base ? await saveOver(client, file, base, fields) : await client.saveVal(fields)
  state.set(path, toFileState(val, file.hash, isSent ? hashReadme(readme) : before?.readmeHash))
  return { val, path, isNew: val.version !== before?.version || isSent }
}

/** Compares the readme itself: the message then says what has changed. */
async function assertReadmeSeen(
  client: Client,
  path: string,
  base: FileState,
  readme: string,
): Promise<void> {
  // Saving reports that the val is gone.
  const found = await unlessMissing(client.getVal({ val_id: base.id }), "val_not_found")
  const hash = hashReadme(found?.readme)
  // If the folder recorded no readme, only an existing one can be overwritten.
  if (!found?.readme || hash === base.readmeHash || hash === hashReadme(readme)) return
  throw new CliError(
    "conflict",
    `Cannot save "${toReadmePath(path)}" with ${found.name}: the val's readme has changed since the file was written`,
    {
      advice: 'see it with "hamlet val show --readme", or overwrite it with "--force"',
    },
  )
}

async function saveOver(
  client: Client,
  file: ValFile,
  base: FileState,
  fields: Input<"saveVal">,
): Promise<Val> {
  const save = (ifMatch: number) =>
    client.createVersion({ val_id: base.id, ...fields }, { ifMatch })
  try {
    return await save(base.version).catch(async (error: unknown) => {
      const version = await findSameCode(client, base, error)
      if (version === undefined) throw error
      return save(version)
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === "not_owner")
      throw new CliError("refused", `Cannot save "${file.path}": its val belongs to another user`, {
        cause: error,
        advice: 'create a val of your own with "--force"',
      })
    const problem = problems[error.code]
    if (problem === undefined) throw error
    throw new CliError("conflict", `Cannot save "${file.path}" as ${file.name}: ${problem}`, {
      cause: error,
      advice:
        'fetch it with "hamlet val pull", or save over it with "--force"; old versions are kept',
    })
  }
}

/** The current version, if the one that the file is based on has the same code and type. */
async function findSameCode(
  client: Client,
  { id, version }: FileState,
  error: unknown,
): Promise<number | undefined> {
  if (!isVersionConflict(error)) return undefined
  const seen = await client.getVersion({ val_id: id, version }).catch(() => undefined)
  const current = await client.getVal({ val_id: id })
  const isSame = seen?.code === current.code && seen.type === current.type
  return isSame ? current.version : undefined
}

const problems: Readonly<Partial<Record<ApiError["code"], string>>> = {
  version_conflict: "the val has changed since the file was written",
  val_not_found: "the val was deleted since the file was written",
}
