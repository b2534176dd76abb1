import { existsSync } from "node:fs"
import { basename, join } from "node:path"
import { CliError } from "../cli-error.ts"
import type { FrontMatter } from "../files/front-matter.ts"
import { hashReadme, isReadmePath } from "../files/readme-file.ts"
import { hashText, isValFile, parseValFile } from "../files/val-file.ts"
import { createFolderScanner, type FolderScan } from "./folder-scanner.ts"
import { isConflictPath } from "./paths.ts"
import type { FileFacts } from "./plan/decide.ts"

/** A file in the folder. */
export interface FoundFile extends FileFacts {
  readonly path: string
  readonly front: FrontMatter
  readonly hash: string
}

/** The content of the folder of an account. */
export interface Scan extends FolderScan<FoundFile> {
  /** The hashes of readmes, by their paths. */
  readonly readmes: ReadonlyMap<string, string>
}

/** Scans the folder of an account: the files that can be vals, and the readmes beside them. */
export function createScanner(
  folder: string,
  settleMs: number,
): { scan(known: Iterable<string>): Scan } {
  const scanner = createFolderScanner(folder, settleMs, () => ({
    isIgnored: (path) => isIgnored(folder, path),
    findProblem: () => undefined,
    parse,
  }))
  return {
    scan(known) {
      const scan = scanner.scan(known)
      const all = [...scan.files]
      return {
        ...scan,
        files: new Map(all.flatMap(([path, file]) => ("path" in file ? [[path, file]] : []))),
        readmes: new Map(
          all.flatMap(([path, file]) => ("path" in file ? [] : [[path, file.hash]])),
        ),
      }
    },
  }
}

/** The val `.config` is the only one with such a name. */
function isHidden(name: string): boolean {
  return name.startsWith(".") && !/^\.config\.(?:tsx?|md)$/.test(name)
}

/** Names that start with a dot, what cannot be a val, and folders that are watched by themselves. */
function isIgnored(folder: string, path: string): boolean {
  const name = basename(path)
  if (isHidden(name) || name === "node_modules") return true
  if (path.endsWith("/")) return existsSync(join(folder, path, ".hamlet"))
  return !((isValFile(path) && !isConflictPath(path)) || isReadmePath(path))
}

function parse(text: string, path: string): FoundFile | { readonly hash: string } {
  if (isReadmePath(path)) return { hash: hashReadme(text) }
  const { name, front, hash, code } = parseValFile(text, path)
  if (code === "") throw new CliError("failed", `Cannot make a val of "${path}": it is empty`)
  const { privacy, type } = front
  return { path, front, hash, name, privacy, type, codeHash: hashText(code) }
}
