import { join } from "node:path"
import { type FileParts, formatFile, parseFile } from "../../files/front-matter.ts"
import { hashText } from "../../files/val-file.ts"
import { limits } from "../../limits.ts"
import type { ValField } from "../plan/decide.ts"
import type { FoundFile } from "../scan-folder.ts"
import { type ActionDeps, type ActionHandler, setBase, toBase, toReadmeState } from "./action.ts"
import { overwriteFile, readFound } from "./keep-texts.ts"
import { moveReadmeToTrash, writeToTrash } from "./replace-file.ts"

/** Creates a val from a new file. */
export const create: ActionHandler = async (deps, { match: { file } }) => {
  const parts = file && readParts(deps.folder, file)
  if (!file || !parts) return "raced"
  const { privacy, type } = parts.front
  const val = await deps.client.createVal({ name: file.name, code: parts.code, privacy, type })
  setBase(deps, file.path, undefined, toBase(val, file.hash))
  deps.report({ action: "created", file: file.path, val })
  return "done"
}

/**
 * Saves only the fields that changed in the file: changes on the server stay, and are written in
 * the next round. The new base is therefore the old one with these changes, not what the server
 * returned.
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

/** Records that file and val agree. */
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
  return "noted"
}

/** Reports that a file was deleted and keeps its val. */
export const leave: ActionHandler = (deps, { match: { path, base, val } }) => {
  if (path === undefined || !base || !val) return "raced"
  setBase(deps, path, undefined, { ...base, isLeft: true })
  const advice = `delete it with "hamlet val rm ${val.name}", or fetch it again with "hamlet val pull ${val.name}"`
  deps.report({
    action: "left",
    file: path,
    val,
    text: `"${path}" was deleted and the val ${val.name} was kept; ${advice}`,
  })
  return "done"
}

/** Deletes a val after saving all of its versions to the trash. */
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
    const text = `Cannot delete val ${name}: it has more than ${limits.watchTrashVersionsMax} versions; delete it with "hamlet val rm ${name}"`
    report({ action: "problem", file: path, val, text })
    return leave(deps, action)
  }
  const trashed = versions.map(({ version, code }) =>
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
  report({ action: "deleted", file: path, val, other: trashed[0] })
  return "done"
}

/** Both file and val are deleted. */
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
 * Updates the name in the first line of a renamed file, before the val is renamed: otherwise the
 * next round would rename the val back. Returns the new hash of the file.
 */
function updateNameLine(
  deps: ActionDeps,
  file: FoundFile,
  { front, code }: FileParts,
): string | undefined {
  if (front.name === undefined || front.name === file.name) return file.hash
  const text = formatFile({ front: { ...front, name: file.name }, code })
  const now = "the file was replaced while it was being saved"
  const result = overwriteFile(deps, file, text, undefined, now)
  return result === "done" ? hashText(text) : undefined
}

function readParts(folder: string, file: FoundFile): FileParts | undefined {
  const text = readFound(folder, file)
  return text === undefined ? undefined : parseFile(text, file.path)
}
