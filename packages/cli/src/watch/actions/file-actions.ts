import { join } from "node:path"
import { type FrontMatter, formatFile } from "../../files/front-matter.ts"
import { hashText } from "../../files/val-file.ts"
import type { Val } from "../../names/find-val.ts"
import { findFreePath, toRenamedPath, toStem } from "../paths.ts"
import type { Match } from "../plan/match-sides.ts"
import type { FoundFile } from "../scan-folder.ts"
import {
  type ActionDeps,
  type ActionHandler,
  type ActionResult,
  moveReadme,
  readFound,
  setBase,
  toBase,
} from "./action.ts"
import {
  makeFile,
  moveFile,
  moveReadmeToTrash,
  moveToTrash,
  replaceFile,
  writeConflictFile,
} from "./replace-file.ts"

/** The val goes into its file. */
export const write: ActionHandler = (deps, { match, val }) => {
  if (!val) return "raced"
  return match.file ? overwrite(deps, match, match.file, val, true) : writeNew(deps, match, val)
}

/** The val stays what it is and goes into the file; what the file had is kept beside it. */
export const conflict: ActionHandler = (deps, { match, val }) => {
  const { file } = match
  const text = file && readFound(deps.folder, file)
  if (!file || text === undefined || !val) return "raced"
  reportConflict(deps, file.path, text, val)
  return overwrite(deps, match, file, val, false)
}

/** The val was deleted, and the file with it; it can be had back. */
export const trash: ActionHandler = (
  { folder, state, report },
  { match: { path, base, movedFrom, file } },
) => {
  if (path === undefined || !base || !file || readFound(folder, file) === undefined) return "raced"
  const other = moveToTrash(folder, path)
  moveReadmeToTrash(folder, path)
  state.delete(join(folder, movedFrom ?? path))
  const name = base.name ?? file.name
  report({ action: "trashed", file: path, val: { id: base.id, name }, other })
  return "done"
}

/**
 * The val is gone and the file has changed: if it stayed where it is, it would become another val.
 */
export const rescue: ActionHandler = (
  { folder, state, report },
  { match: { path, base, movedFrom, file } },
) => {
  const whole = file && readFound(folder, file)
  if (path === undefined || !base || !file || whole === undefined) return "raced"
  const other = writeConflictFile(folder, path, whole)
  moveToTrash(folder, path)
  moveReadmeToTrash(folder, path)
  state.delete(join(folder, movedFrom ?? path))
  const name = base.name ?? file.name
  const text = `Cannot save "${path}" as ${name}: the val was deleted meanwhile; what the file had is in "${other}"`
  report({ action: "conflict", file: path, val: { id: base.id, name }, other, text })
  return "done"
}

/** Keeps what a file had, and says where. */
export function reportConflict(
  deps: Pick<ActionDeps, "folder" | "report">,
  path: string,
  text: string,
  val: Val | undefined,
): void {
  const other = writeConflictFile(deps.folder, path, text)
  const now = val
    ? `the file has version ${val.version} of ${val.name} now`
    : "the file was replaced while it was saved"
  const sentence = `Cannot save "${path}": both sides have changed; ${now}, and what it had is in "${other}"`
  deps.report({ action: "conflict", file: path, val, other, text: sentence })
}

function writeNew(deps: ActionDeps, { path: before }: Match, val: Val): ActionResult {
  // A file that was deleted comes back where it was, if it was called after its val.
  const isOld = before !== undefined && toStem(before) === val.name && !deps.isTaken(before)
  const path = isOld ? before : findFreePath(val.name, val.code, deps.isTaken)
  const text = toText(val, undefined, path)
  if (makeFile(deps.folder, path, text) === "raced") return "raced"
  setBase(deps, path, before, toBase(val, hashText(text)))
  deps.report({ action: "wrote", file: path, val })
  return "done"
}

function overwrite(
  deps: ActionDeps,
  match: Match,
  file: FoundFile,
  val: Val,
  isTold: boolean,
): ActionResult {
  const { folder } = deps
  const wanted = findWantedPath(deps, match, file, val)
  const text = toText(val, file.front, wanted)
  const isReplaced =
    replaceFile(folder, file.path, file.hash, text, (late) =>
      reportConflict(deps, file.path, late, val),
    ) === "done"
  if (!isReplaced) return "raced"
  const isMoved =
    wanted !== file.path && moveFile(folder, file.path, wanted, hashText(text)) === "done"
  const path = isMoved ? wanted : file.path
  if (isMoved) moveReadme(folder, file.path, path)
  // If the file could not be moved after all, it does not say its name: the next look finds that
  // out.
  setBase(deps, path, match.movedFrom ?? file.path, toBase(val, hashText(text)))
  if (isTold)
    deps.report({
      action: isMoved ? "renamed" : "wrote",
      file: path,
      other: isMoved ? file.path : undefined,
      val,
    })
  return "done"
}

/** A file that is called after its val is renamed with it, unless another file has the name. */
function findWantedPath(
  { isTaken }: ActionDeps,
  { base }: Match,
  file: FoundFile,
  val: Val,
): string {
  const path = toRenamedPath(file.path, base?.name ?? file.name, val.name)
  return path.toLowerCase() === file.path.toLowerCase() || isTaken(path) ? file.path : path
}

/** What a file says of a val: as much as it said before, and everything where there was none. */
function toText(val: Val, front: FrontMatter | undefined, path: string): string {
  const { name, privacy, type, code } = val
  if (!front) return formatFile({ front: { name, privacy, type }, code })
  const isNameSaid = front.name !== undefined || toStem(path) !== name
  const said = {
    ...(isNameSaid && { name }),
    ...(front.privacy && { privacy }),
    ...(front.type && { type }),
  }
  return formatFile({ front: said, code })
}
