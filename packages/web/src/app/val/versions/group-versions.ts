import type { Item } from "@hamlet/contract/client"

/** A version of a branch, and the paths that it has changed. */
export type VersionChange = Item<"listHistory">

const limits = { pushMsMax: 60_000 }

/**
 * Puts the versions of one push together; newest first, as they are given. A program that sends a file
 * at a time makes a version for each, within a minute, and none of a file that it has sent before. A
 * version with a note was made by a person.
 */
export function groupVersions(
  versions: readonly VersionChange[],
): readonly (readonly VersionChange[])[] {
  const groups: VersionChange[][] = []
  let paths = new Set<string>()
  for (const version of versions) {
    const group = groups.at(-1)
    const newest = group?.[0]
    const touched = listPaths(version)
    if (group && newest && isOfPush(newest, version) && touched.every((path) => !paths.has(path))) {
      group.push(version)
      for (const path of touched) paths.add(path)
    } else {
      groups.push([version])
      paths = new Set(touched)
    }
  }
  return groups
}

function isOfPush(newest: VersionChange, older: VersionChange): boolean {
  const ageMs = Date.parse(newest.createdAt) - Date.parse(older.createdAt)
  const isPlain = [newest, older].every(
    ({ note, changes, hasMoreChanges }) => note === null && changes.length > 0 && !hasMoreChanges,
  )
  return isPlain && ageMs <= limits.pushMsMax
}

function listPaths({ changes }: VersionChange): readonly string[] {
  return changes.flatMap(({ path, oldPath }) => (oldPath === null ? [path] : [path, oldPath]))
}
