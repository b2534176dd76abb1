import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

const styles = /^packages\/web\/src\/.+\.css$/
/** Files that define the tokens, and the size that the tokens are relative to. */
const isDefinition = (path: string) => /\/ui\/styles\/(?:tokens|base)\.css$/.test(path)
const size = /^\s*font(?:-size)?:.*?\b(\d*\.?\d+(?:rem|px|pt))\b/
const lineHeight = /\/\s*[\d.]+(?:px|rem)?/

/** Texts have the sizes of the tokens, so that there are few of them. */
export function checkTextSizes({ root, files }: Tree): string[] {
  return files
    .filter((path) => styles.test(path) && !isDefinition(path))
    .flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .flatMap((line, index) => {
          const found = size.exec(line.replace(lineHeight, ""))?.[1]
          return found === undefined
            ? []
            : [`${path}:${index + 1}: ${found} is not a token; use one of var(--size-…)`]
        }),
    )
}
