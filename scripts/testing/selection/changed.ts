import { readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { readPackages, resolveImport } from "../../imports/resolve-import.ts"
import { scanImports } from "../../imports/scan-imports.ts"
import { listFiles } from "../../list-files.ts"
import { listTestFiles } from "./test-files.mjs"

/** A change of these may change the result of any test. */
const filesOfAll = new Set(["package.json", "package-lock.json", "bunfig.toml"])

/**
 * The test files that a change can affect: those that reach a changed file by imports, or by its
 * path where a program is started, read or bundled.
 */
export function findAffectedTests(root: string, changed: readonly string[]): string[] {
  const tests = listTestFiles(root)
  if (changed.some((path) => filesOfAll.has(path))) return tests
  const files = listFiles(root)
  const users = readUsers(root, files)
  const affected = new Set<string>()
  const waiting = changed.flatMap((path) => [path, ...findWithoutUsers(path, users, files)])
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (affected.has(path)) continue
    affected.add(path)
    waiting.push(...(users.get(path) ?? []))
  }
  return tests.filter((path) => affected.has(path))
}

/** The files that use each file. */
function readUsers(root: string, files: readonly string[]): Map<string, string[]> {
  const packages = readPackages(root)
  const users = new Map<string, string[]>()
  for (const user of files.filter((path) => /\.(m?[jt]s|[jt]sx)$|\/bin\/\w+$/.test(path))) {
    const source = readFileSync(join(root, user), "utf8").replace(commentLine, "")
    const specifiers = [...scanImports(user, source), ...listStrings(source).filter(isOfPackage)]
    const imports = specifiers.map((specifier) => resolveImport(root, packages, user, specifier))
    const bases = [...source.matchAll(variableImport)].flatMap(
      ([, name = ""]) => packages.get(name)?.folder ?? [],
    )
    const named = findPaths(root, user, source, files)
    const all = files.filter((file) => bases.some((base) => file.startsWith(`${base}/src/`)))
    for (const path of new Set([...imports, ...named, ...all])) {
      if (path !== undefined && path !== user) users.set(path, [...(users.get(path) ?? []), user])
    }
  }
  return users
}

/** A file that only a comment names is not used: one such path would make most files use it. */
const commentLine = /^[ \t]*(?:\/\/|\/?\*).*$/gm

const isOfPackage = (text: string) => text.startsWith("@hamlet/")

/** A file of a package whose name is known only when the program runs. */
const variableImport = /`(@hamlet\/\w+)\/\$\{/g
const joined = /\b(?:join|resolve)\(([^()]*)\)/g
const quoted = /"([^"\n]*)"|'([^'\n]*)'|`([^`$\n]*)`/g

/** The files that a source names in its strings, and all files of the folders that it names. */
function findPaths(
  root: string,
  user: string,
  source: string,
  files: readonly string[],
): readonly string[] {
  const strings = listStrings(source)
  const joins = [...source.matchAll(joined)].map(([, args = ""]) => listStrings(args).join("/"))
  const names = [...strings, ...joins].map((text) => text.replace(/^\$root\//, ""))
  return [...new Set(names.filter(isPath))].flatMap((name) => {
    const target = join(dirname(user), name)
    const targets = name.startsWith(".") ? [target] : [target, name]
    return targets.flatMap((path) => listTarget(root, path, files))
  })
}

const isPath = (name: string) => /^[\w./@-]*\/[\w./@-]+$/.test(name)

function listStrings(source: string): string[] {
  return [...source.matchAll(quoted)].map((match) => match[1] ?? match[2] ?? match[3] ?? "")
}

/** A folder counts only below a package's: the strings ".." and "packages" mean no dependency. */
function listTarget(root: string, target: string, files: readonly string[]): readonly string[] {
  const path = target.replace(/\/$/, "")
  if (path.startsWith("..")) return []
  const stat = statSync(join(root, path), { throwIfNoEntry: false })
  if (stat?.isFile()) return [path]
  const isFolderOfPackage = stat?.isDirectory() && path.split("/").length > 2
  return isFolderOfPackage ? files.filter((file) => file.startsWith(`${path}/`)) : []
}

/**
 * A file of a package that nothing names, such as a style sheet, counts for the whole package; a
 * deleted one for the files that used it, which have changed too.
 */
function findWithoutUsers(
  path: string,
  users: ReadonlyMap<string, unknown>,
  files: readonly string[],
): readonly string[] {
  const [folder, name] = path.split("/")
  const isKnown = users.has(path) || !files.includes(path)
  if (folder !== "packages" || isKnown || /\.test\.\w+$/.test(path)) return []
  return files.filter((file) => file.startsWith(`packages/${name}/`))
}

/** The files that differ from a commit, also new ones and those that were deleted. */
async function listChangedFiles(root: string, revision: string): Promise<string[]> {
  const run = (...args: string[]) => Bun.$`git ${args}`.cwd(root).text()
  const texts = [
    await run("diff", "--name-only", "--no-renames", revision),
    await run("ls-files", "--others", "--exclude-standard"),
  ]
  return texts.flatMap((text) => text.split("\n").filter(Boolean))
}

if (import.meta.main) {
  const root = join(import.meta.dir, "..", "..", "..")
  const changed = await listChangedFiles(root, process.argv[2] ?? "HEAD")
  for (const path of findAffectedTests(root, changed)) console.log(path)
}
