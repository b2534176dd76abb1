import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Tree } from "./tree.ts"

/** `[text](target)` and `![text](target "title")`, and `[name]: target` at the start of a line. */
const link = /\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)/gm
const code = /^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm

/** Every relative link in a Markdown file leads to a file, and with a # to a heading of it. */
export function checkMarkdownLinks(tree: Tree): string[] {
  return tree.files
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) => checkFile(tree.root, path))
}

function checkFile(root: string, path: string): string[] {
  const text = readFileSync(join(root, path), "utf8").replace(code, "")
  const targets = [...text.matchAll(link)].map((match) => match[1] ?? match[2] ?? "")
  return targets.filter(isRelative).flatMap((target) => checkTarget(root, path, target))
}

function isRelative(target: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)
}

function checkTarget(root: string, path: string, target: string): string[] {
  const [file = "", heading] = decodeURI(target).split("#")
  const full =
    file === ""
      ? join(root, path)
      : join(root, file.startsWith("/") ? file : join(dirname(path), file))
  if (!existsSync(full)) return [`${path}: links to ${target}, which does not exist`]
  if (heading && full.endsWith(".md") && !listHeadings(full).includes(heading))
    return [`${path}: links to ${target}, but there is no such heading`]
  return []
}

/** The names that GitHub gives to headings. */
function listHeadings(path: string): string[] {
  const headings = readFileSync(path, "utf8").match(/^#+ .*$/gm) ?? []
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, "")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  )
}
