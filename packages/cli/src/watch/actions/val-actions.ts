import { join } from "node:path"
import { type FileParts, formatFile, parseFile } from "../../files/front-matter.ts"
import { hashText } from "../../files/val-file.ts"
import { limits } from "../../limits.ts"
import { toSettings } from "../../vals.ts"
import type { ValField } from "../plan/decide.ts"
import type { FoundFile } from "../scan-folder.ts"
import {
  type ActionDeps,
  type ActionHandler,
  readFound,
  setBase,
  toBase,
  toReadmeState,
} from "./action.ts"
import { reportConflict } from "./file-actions.ts"
import { moveReadmeToTrash, replaceFile, writeToTrash } from "./replace-file.ts"

/** The file becomes a val of its name. */
export const create: ActionHandler = async (deps, { match: { file } }) => {
  const parts = file && readParts(deps.folder, file)
  if (!file || !parts) return "raced"
  const val = await deps.client.createVal({
    name: file.name,
    code: parts.code,
    ...toSettings(parts.front),
  })
  setBase(deps, file.path, undefined, toBase(val, file.hash))
  deps.report({ action: "created", file: file.path, val })
  return "done"
}

/**
 * What has changed in the file is saved, and nothing else: what was changed on the server meanwhile
 * stays, and is still to be written. The base is therefore not what the server answers with, but
 * what it was, with these changes.
 */
export const save: ActionHandler = async (deps, { match, decision }) => {
  const { client } = deps
  const { file, base, val } = match
  const parts = file && readParts(deps.folder, file)
  if (!file || !parts || !base || !val || decision.kind !== "save") return "raced"
  const hash = updateNameLine(deps, file, parts)
  if (hash === undefined) return "raced"
  const fields = toFields(decision.fields, file)
  const isCode = decision.fields.includes("codeHash")
  const saved = isCode
    ? await client.createVersion(
        { val_id: val.id, code: parts.code, ...fields },
        { ifMatch: val.version },
      )
    : undefined
  if (!saved) await client.updateVal({ val_id: val.id, ...fields }, { ifMatch: val.version })
  const { isLeft: _isLeft, ...before } = base
  const now = {
    ...before,
    ...fields,
    hash,
    ...(saved && { version: saved.version, codeHash: file.codeHash }),
  }
  setBase(deps, file.path, match.movedFrom, now)
  const isRenamed = decision.fields.includes("name")
  const reportedVal = { id: val.id, name: file.name, version: saved?.version ?? val.version }
  deps.report({
    action: isRenamed ? "renamed" : "saved",
    file: file.path,
    val: reportedVal,
    other: isRenamed ? val.name : undefined,
  })
  return "done"
}

/** File and val agree, and the folder notes it. */
export const note: ActionHandler = (deps, { match: { path, base, movedFrom, file, val } }) => {
  if (path === undefined || !file || !val) return "raced"
  const { id, name, version, privacy, type } = val
  const now = {
    id,
    version,
    hash: file.hash,
    codeHash: file.codeHash,
    owner: deps.owner,
    name,
    privacy,
    type,
    ...toReadmeState(base),
  }
  if (!Bun.deepEquals(base, now) || movedFrom !== undefined) setBase(deps, path, movedFrom, now)
  if (movedFrom !== undefined) deps.report({ action: "moved", file: path, other: movedFrom, val })
  return "done"
}

/** The file is gone, and the val stays. */
export const leave: ActionHandler = (deps, { match: { path, base, val } }) => {
  if (path === undefined || !base || !val) return "raced"
  setBase(deps, path, undefined, { ...base, isLeft: true })
  const advice = `"hamlet val rm ${val.name}" deletes it, "hamlet val pull ${val.name}" fetches it again`
  deps.report({
    action: "left",
    file: path,
    val,
    text: `"${path}" is gone, and the val ${val.name} stays; ${advice}`,
  })
  return "done"
}

/** The val goes, but not before each of its versions is in the trash. */
export const deleteVal: ActionHandler = async (deps, action) => {
  const { path, val } = action.match
  const { client, folder, report } = deps
  if (path === undefined || !val) return "raced"
  const { name, privacy, type } = val
  const versions = []
  for await (const version of client.items("listVersions", {
    val_id: val.id,
    limit: limits.pageItemsMax,
  })) {
    versions.push(version)
    if (versions.length <= limits.watchTrashVersionsMax) continue
    const text = `Cannot delete val ${name}: it has more than ${limits.watchTrashVersionsMax} versions; "hamlet val rm ${name}" does it`
    report({ action: "problem", file: path, val, text })
    return leave(deps, action)
  }
  const kept = versions.map(({ version, code }) =>
    writeToTrash(
      folder,
      `${name}@${version}.ts`,
      formatFile({ front: { name, privacy, type }, code }),
    ),
  )
  const { readme } = await client.getVal({ val_id: val.id })
  if (readme) writeToTrash(folder, `${name}.README.md`, readme)
  await client.deleteVal({ val_id: val.id }, { ifMatch: val.version })
  deps.state.delete(join(folder, path))
  moveReadmeToTrash(folder, path)
  report({ action: "deleted", file: path, val, other: kept[0] })
  return "done"
}

/** Both are gone. */
export const forget: ActionHandler = ({ folder, state }, { match: { path } }) => {
  if (path === undefined) return "done"
  state.delete(join(folder, path))
  moveReadmeToTrash(folder, path)
  return "done"
}

function toFields(fields: readonly ValField[], { name, privacy, type }: FoundFile) {
  const settings = {
    ...(fields.includes("privacy") && privacy && { privacy }),
    ...(fields.includes("type") && type && { type }),
  }
  return { ...(fields.includes("name") && { name }), ...settings }
}

/**
 * A file that was renamed still says its old name: the first line follows, before the val does, or
 * the next look would take it for the wish to have the old name back. Gives the hash of what the
 * file has then.
 */
function updateNameLine(
  deps: ActionDeps,
  file: FoundFile,
  { front, code }: FileParts,
): string | undefined {
  if (front.name === undefined || front.name === file.name) return file.hash
  const text = formatFile({ front: { ...front, name: file.name }, code })
  const isDone =
    replaceFile(deps.folder, file.path, file.hash, text, (late) =>
      reportConflict(deps, file.path, late, undefined),
    ) === "done"
  return isDone ? hashText(text) : undefined
}

function readParts(folder: string, file: FoundFile): FileParts | undefined {
  const text = readFound(folder, file)
  return text === undefined ? undefined : parseFile(text, file.path)
}
