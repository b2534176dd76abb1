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
  const found = await Promise.all(
    files
      .filter((file) => file.isDirty.peek() && file.type.peek() !== "directory")
      .map((file) => findConflict(file, listing, readText)),
  )
  return found.filter((conflict) => conflict !== undefined)
}

async function findConflict(
  file: EditedFile,
  listing: readonly ListedFile[],
  readText: ReadText,
): Promise<FileConflict | undefined> {
  const listed = findTheirs(file, listing)
  const saved = file.saved.peek()
  if (listed?.version === saved?.version && listed?.path === saved?.path) return undefined
  const isDeleted = file.isDeleted.peek()
  if (!listed) {
    // Where both have deleted it, and where only its place was changed here, theirs counts.
    return isDeleted || !file.hasNewText()
      ? undefined
      : { file, theirs: undefined, merged: undefined }
  }
  if (listed.type === "directory" || (!isDeleted && !file.hasNewText())) return undefined
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

/** What a file is in a newer version: the file with its id, or for a new one what has its path. */
export function findTheirs(
  file: EditedFile,
  listing: readonly ListedFile[],
): ListedFile | undefined {
  const saved = file.saved.peek()
  return listing.find(({ id, path }) => (saved ? id === saved.id : path === file.path.peek()))
}
