import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "../tree.ts"
import { isOwnCode } from "./own-code.ts"

/** A block comment, consecutive lines with a comment each, or the comment at the end of a line. */
const comment = /(?<![^\s{(,])\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=[ \t])\/\/.*/gm
/** Words that mean something only after the line above. */
const dependentStart = /^\s*\/[/*]+[\s*]*(Of|The same|Those|It|It's)\b(?!')/

/** A comment is about what it names, so that it can be read alone. */
export function checkCommentStarts({ root, files }: Tree): string[] {
  return files.filter(isOwnCode).flatMap((path) => {
    const code = readFileSync(join(root, path), "utf8")
    return Array.from(code.matchAll(comment)).flatMap(({ 0: text, index }) => {
      const start = dependentStart.exec(text)?.[1]
      if (start === undefined) return []
      const line = code.slice(0, index).split("\n").length
      return [
        `${path}:${line}: a comment begins with "${start}"; begin with the noun that it is about, so that it stands alone`,
      ]
    })
  })
}
