import type { Input } from "@hamlet/contract/client"
import { isInside } from "@hamlet/contract/file-paths"

/** A change of one file, as the API takes it. */
export type FileChange = Input<"changeFiles">["changes"][number]

type ContentType = "file" | "script" | "http" | "interval" | "email"

/** What has become of a file or directory since it was saved. */
export interface FileEdit {
  /** Where it was saved; undefined for a new one. */
  readonly savedPath: string | undefined
  readonly path: string
  readonly type: ContentType | "directory"
  readonly isDeleted: boolean
  /** The text, if it is new or has changed. */
  readonly content: string | undefined
  /** Whether its type has changed. */
  readonly isRetyped: boolean
}

/**
 * The changes that turn the saved files into the edited ones, in an order in which each of them is
 * possible: what is deleted gives way to what is moved, and that to what is new.
 */
export function toChanges(edits: readonly FileEdit[]): readonly FileChange[] {
  const kept = edits.filter(({ isDeleted }) => !isDeleted)
  const deleted = edits.flatMap((edit) =>
    edit.isDeleted && edit.savedPath !== undefined ? [{ ...edit, savedPath: edit.savedPath }] : [],
  )
  // A directory that something is moved or written to is not deleted: its files are.
  const directories = deleted
    .filter(({ type }) => type === "directory")
    .map(({ savedPath }) => savedPath)
    .filter((path) => !kept.some((edit) => edit.path === path || isInside(edit.path, path)))
  const isImplied = (path: string) => directories.some((directory) => isInside(path, directory))
  return [
    ...deleted
      .filter(({ type, savedPath }) => type !== "directory" && !isImplied(savedPath))
      .map(({ savedPath }) => toDeletion(savedPath)),
    ...listMoves(kept),
    ...directories.filter((path) => !isImplied(path)).map(toDeletion),
    ...kept.flatMap(toWrite),
  ]
}

function toDeletion(path: string): FileChange {
  return { path, delete: true }
}

/** Directories first, the outer ones before those inside of them: their files move with them. */
function listMoves(kept: readonly FileEdit[]): readonly FileChange[] {
  const changes: FileChange[] = []
  const directories = kept
    .filter(({ type }) => type === "directory")
    .toSorted((one, other) => (one.savedPath ?? "").length - (other.savedPath ?? "").length)
  const moved: { readonly from: string; readonly to: string }[] = []
  const toPresent = (saved: string) =>
    moved.reduce(
      (path, { from, to }) =>
        path === from || isInside(path, from) ? to + path.slice(from.length) : path,
      saved,
    )
  for (const { savedPath, path } of directories) {
    if (savedPath === undefined) continue
    const from = toPresent(savedPath)
    if (from === path) continue
    changes.push({ path: from, newPath: path })
    moved.push({ from, to: path })
  }
  const pending = kept.flatMap(({ type, savedPath, path }) => {
    const from = savedPath === undefined ? undefined : toPresent(savedPath)
    return type === "directory" || from === undefined || from === path ? [] : [{ from, to: path }]
  })
  while (pending.length > 0) {
    const taken = new Set(pending.map(({ from }) => from))
    const free = pending.findIndex(({ to }) => !taken.has(to))
    const [move] = pending.splice(Math.max(0, free), 1)
    if (!move) break
    // In a circle each waits for the next: one of them steps aside.
    const to = free === -1 ? `${move.from}.moved` : move.to
    changes.push({ path: move.from, newPath: to })
    if (free === -1) pending.push({ from: to, to: move.to })
  }
  return changes
}

function toWrite({ savedPath, path, type, content, isRetyped }: FileEdit): readonly FileChange[] {
  if (type === "directory") return savedPath === undefined ? [{ path, type }] : []
  if (content !== undefined) return [{ path, type, content }]
  // A move to its own path changes the type alone.
  return isRetyped ? [{ path, newPath: path, type }] : []
}
