import type { EditedFile, ReadText } from "./edited-file.ts"
import type { ListedFile } from "./load-files.ts"

/** A file that was changed here and elsewhere. */
export interface FileConflict {
  readonly file: EditedFile
  /** What it is elsewhere; undefined if it was deleted there. */
  readonly theirs: { readonly listed: ListedFile; readonly text: string } | undefined
  /** Both changes together; undefined if they are about the same lines. */
  readonly merged: string | undefined
}

/** What is done about a conflict. */
export type Resolution = "mine" | "theirs" | "merged"

/** Lines that a side may change; the time grows with the square, and the page waits. */
const editsMax = 1_000

/** The unsaved files that are in conflict with a newer version. */
export async function findConflicts(
  files: readonly EditedFile[],
  listing: readonly ListedFile[],
  readText: ReadText,
): Promise<readonly FileConflict[]> {
  const theirs = matchFiles(files, listing)
  const found = await Promise.all(
    files
      .filter((file) => file.isDirty.peek() && file.type.peek() !== "directory")
      .map((file) => findConflict(file, theirs.get(file), readText)),
  )
  return found.filter((conflict) => conflict !== undefined)
}

async function findConflict(
  file: EditedFile,
  listed: ListedFile | undefined,
  readText: ReadText,
): Promise<FileConflict | undefined> {
  const saved = file.saved.peek()
  if (listed?.id === saved?.id && listed?.version === saved?.version) return undefined
  const isDeleted = file.isDeleted.peek()
  if (!listed) {
    // Where both have deleted it, and where only its place was changed here, theirs counts.
    return isDeleted || !file.hasNewText()
      ? undefined
      : { file, theirs: undefined, merged: undefined }
  }
  if (!isDeleted && !file.hasNewText()) return undefined
  const theirs = { listed, text: await readText(listed) }
  const mine = file.text.peek() ?? ""
  const base = await file.findSavedText()
  // Its place was changed elsewhere, or both have written the same.
  if (theirs.text === base && saved) return undefined
  if (isDeleted) return { file, theirs, merged: undefined }
  if (theirs.text === mine) return undefined
  const { mergeLines } = await import("@hamlet/contract/merge-lines")
  const { text } = mergeLines({ base, ours: mine, theirs: theirs.text }, editsMax)
  return { file, theirs, merged: saved ? text : undefined }
}

/**
 * What each file is in a newer version: the one with its id. A new file, and one that no longer
 * exists, is what was created at its path.
 */
export function matchFiles(
  files: readonly EditedFile[],
  listing: readonly ListedFile[],
): ReadonlyMap<EditedFile, ListedFile> {
  const theirs = new Map<EditedFile, ListedFile>()
  const byId = new Map(listing.map((listed) => [listed.id, listed]))
  for (const file of files) {
    const listed = byId.get(file.saved.peek()?.id ?? "")
    if (listed) theirs.set(file, listed)
  }
  const known = new Set(theirs.values())
  const others = listing.filter((listed) => !known.has(listed))
  const byPath = new Map(others.map((listed) => [toPlace(listed.path, listed.type), listed]))
  for (const file of files) {
    const listed = byPath.get(toPlace(file.path.peek(), file.type.peek()))
    if (listed && !theirs.has(file)) theirs.set(file, listed)
  }
  return theirs
}

/** A file cannot become a directory. */
function toPlace(path: string, type: ListedFile["type"]): string {
  return type === "directory" ? `${path}/` : path
}
