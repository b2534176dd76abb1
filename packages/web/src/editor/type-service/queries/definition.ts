import type { Project } from "../project.ts"
import type { Definition } from "../protocol.ts"

/** Longer files are not shown. */
const textCharsMax = 2_000_000

/** Where the name at a position is declared. */
export function findDefinition(
  project: Project,
  path: string,
  position: number,
): Definition | null {
  const fileName = project.toFileName(path)
  const found = project.findService(path).getDefinitionAtPosition(fileName, position) ?? []
  // A name that is imported is declared where it comes from, not in the import.
  const definition = found.find((one) => one.fileName !== fileName) ?? found[0]
  if (!definition) return null
  const { start, length } = definition.textSpan
  if (definition.fileName === fileName) return { kind: "here", from: start, to: start + length }
  const source = project.findService(path).getProgram()?.getSourceFile(definition.fileName)
  if (!source) return null
  const line = source.getLineAndCharacterOfPosition(start).line + 1
  const document = project.findPath(definition.fileName)
  if (document !== undefined) return { kind: "document", path: document, line }
  const [, user, name, file] =
    /^\/v\/([^/]+)\/([^/@.]+)(?:@[^/]+?)?(?:\/(.+)|\.tsx)$/.exec(definition.fileName) ?? []
  if (user !== undefined && name !== undefined)
    return { kind: "val", user, name, file: file ?? null, line }
  if (source.text.length > textCharsMax) return null
  return { kind: "file", title: toTitle(definition.fileName), text: source.text, line }
}

/** `zod@3.23.8/types.d.ts` for a file of a package. */
function toTitle(fileName: string): string {
  const [, id, file] =
    /^\/npm\/([^/]+)\/node_modules\/(?:@[^/]+\/)?[^/]+\/(.+)$/.exec(fileName) ?? []
  return id === undefined
    ? fileName.replace(/^\/(?:lib\/)?/, "")
    : `${id.replace("+", "/")}/${file}`
}
