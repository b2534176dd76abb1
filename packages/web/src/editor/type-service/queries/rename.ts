import type { Project } from "../project.ts"
import type { RenamePlaces } from "../protocol.ts"

/** All places of the name at a position, in all documents, or why it cannot be renamed. */
export function findRenamePlaces(project: Project, path: string, position: number): RenamePlaces {
  const fileName = project.toFileName(path)
  const info = project.findService(path).getRenameInfo(fileName, position, {})
  if (!info.canRename) return refuse("there is no name that can be changed at the cursor")
  const found =
    project.findService(path).findRenameLocations(fileName, position, false, false, {
      // `{ name }` becomes `{ name: renamed }`, because the property keeps its name.
      providePrefixAndSuffixTextForRename: true,
    }) ?? []
  const places = found.flatMap(
    ({ fileName: place, textSpan: { start, length }, prefixText = "", suffixText = "" }) => {
      const document = project.findPath(place)
      return document === undefined
        ? []
        : [
            {
              path: document,
              from: start,
              to: start + length,
              prefix: prefixText,
              suffix: suffixText,
            },
          ]
    },
  )
  return places.length === found.length
    ? { ok: true, name: info.displayName, places }
    : refuse(`"${info.displayName}" belongs to another module`)
}

function refuse(reason: string): RenamePlaces {
  return { ok: false, message: `Cannot rename: ${reason}` }
}
