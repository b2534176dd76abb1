import { join } from "node:path"
import { type FrontMatter, formatFile } from "../../files/front-matter.ts"
import { hashText } from "../../files/val-file.ts"
import type { Val } from "../../names/find-val.ts"
import { findFreePath, toRenamedPath, toStem } from "../paths.ts"
import type { StepResult } from "../perform-steps.ts"
import type { Match } from "../plan/match-sides.ts"
import type { FoundFile } from "../scan-folder.ts"
import { type ActionDeps, type ActionHandler, moveReadme, setBase, toBase } from "./action.ts"
import { discardFile, overwriteFile, readFound, reportConflict } from "./keep-texts.ts"
import { makeFile, moveFile, moveReadmeToTrash } from "./replace-file.ts"

/** Writes the val to its file. */
export const write: ActionHandler = (deps, { match, val }) => {
  if (!val) return "raced"
  return match.file ? overwrite(deps, match, match.file, val, true) : writeNew(deps, match, val)
}

/** Writes the val to the file, and the file's previous text to a conflict file. */
export const conflict: ActionHandler = (deps, { match, val }) => {
  const { file } = match
  const text = file && readFound(deps.folder, file)
  if (!file || text === undefined || !val) return "raced"
  reportConflict(deps, file.path, text, val, toNow(val))
  return overwrite(deps, match, file, val, false)
}

/** Moves the file of a deleted val to the trash, from where it can be restored. */
export const trash: ActionHandler = (deps, { match }) => discard(deps, match)

/** Moves a changed file of a deleted val to a conflict file: in place it would become a new val. */
export const rescue: ActionHandler = (deps, { match }) =>
  discard(deps, match, "the val was deleted")

function discard(
  { folder, state, report }: ActionDeps,
  { path, base, movedFrom, file }: Match,
  reason?: string,
): StepResult {
  if (path === undefined || !base || !file) return "raced"
  const val = { id: base.id, name: base.name ?? file.name }
  const event = discardFile(folder, file, val, reason)
  if (!event) return "raced"
  moveReadmeToTrash(folder, path)
  state.delete(join(folder, movedFrom ?? path))
  report(event)
  return "done"
}

/** What a file has that was replaced by its val. */
export function toNow({ name, version }: Pick<Val, "name" | "version">): string {
  return `the file now has version ${version} of ${name}`
}

function writeNew(deps: ActionDeps, { path: before }: Match, val: Val): StepResult {
  // A deleted file is restored to its old path, if it was named after its val.
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
  isReported: boolean,
): StepResult {
  const { folder } = deps
  const targetPath = findTargetPath(deps, match, file, val)
  const text = toText(val, file.front, targetPath)
  if (overwriteFile(deps, file, text, val, toNow(val)) === "raced") return "raced"
  const isMoved =
    targetPath !== file.path && moveFile(folder, file.path, targetPath, hashText(text)) === "done"
  const path = isMoved ? targetPath : file.path
  if (isMoved) moveReadme(folder, file.path, path)
  // If the file could not be moved, its first line lacks the name; the next round corrects that.
  setBase(deps, path, match.movedFrom ?? file.path, toBase(val, hashText(text)))
  if (isReported)
    deps.report({
      action: isMoved ? "renamed" : "wrote",
      file: path,
      other: isMoved ? file.path : undefined,
      val,
    })
  return "done"
}

/** A file named after its val is renamed with it, unless the new path is taken. */
function findTargetPath(
  { isTaken }: ActionDeps,
  { base }: Match,
  file: FoundFile,
  val: Val,
): string {
  const path = toRenamedPath(file.path, base?.name ?? file.name, val.name)
  return path.toLowerCase() === file.path.toLowerCase() || isTaken(path) ? file.path : path
}

/**
 * The text of the file: with the settings that its first line had before, or all of them if it is
 * new.
 */
function toText(val: Val, front: FrontMatter | undefined, path: string): string {
  const { name, privacy, type, code } = val
  if (!front) return formatFile({ front: { name, privacy, type }, code })
  const hasName = front.name !== undefined || toStem(path) !== name
  const nextFront = {
    ...(hasName && { name }),
    ...(front.privacy && { privacy }),
    ...(front.type && { type }),
  }
  return formatFile({ front: nextFront, code })
}
