import { statSync } from "node:fs"
import { join } from "node:path"
import { isRecord, type PackageJson, readPackage } from "../package-json.ts"

/** Nested conditions and alternatives. */
const exportLevelsMax = 10

/** The fields by which TypeScript finds declarations. */
const usedFields = [
  "name",
  "version",
  "type",
  "types",
  "typings",
  "typesVersions",
  "main",
  "exports",
  "imports",
]

/** The used fields of a package's package.json; undefined without a valid one. */
export function readTypesPackage(root: string): PackageJson | undefined {
  const read = readPackage(root)
  return (
    read &&
    Object.fromEntries(usedFields.flatMap((name) => (name in read ? [[name, read[name]]] : [])))
  )
}

/**
 * The declaration files of a subpath of a package, `.` for the package itself. TypeScript uses one
 * of them; more do no harm.
 */
export function findEntries(root: string, packageJson: PackageJson, subpath: string): string[] {
  const { exports, typesVersions, types, typings, main } = packageJson
  if (exports !== undefined && exports !== null)
    return listTargets(exports, subpath).flatMap((target) => findDeclaration(join(root, target)))
  const named =
    subpath === "."
      ? [types, typings, main, "index"].filter((one) => typeof one === "string")
      : [subpath]
  const moved = named.flatMap((path) => listMoved(typesVersions, path))
  return [...moved, ...named].flatMap((path) => findDeclaration(join(root, path)))
}

/** The declarations of a module by its path, with or without the extension of its code. */
export function findDeclaration(path: string): string[] {
  const candidates = declarationPattern.test(path)
    ? // Some packages publish `a.d.ts` and import it as `./a.ts`.
      [path, path.replace(/\.([cm]?)tsx?$/, ".d.$1ts")]
    : [
        ...toTwins(path),
        ...endings.map((ending) => path + ending),
        ...indexes.map((name) => join(path, name)),
      ]
  const found = candidates.find(isFile)
  return found === undefined ? [] : [found]
}

/** Sources count as well: some packages have nothing else. */
const declarationPattern = /\.(?:d\.[cm]?ts|[cm]?ts|tsx)$/
const endings = [".d.ts", ".ts", ".tsx", ".d.mts", ".d.cts"]
const indexes = ["index.d.ts", "index.ts", "index.d.mts", "index.d.cts"]

/** The declaration beside a module: `a.d.mts` of `a.mjs`. */
function toTwins(path: string): string[] {
  const [, stem, kind] = /^(.*)\.([cm]?)jsx?$/s.exec(path) ?? []
  return stem === undefined ? [] : [`${stem}.d.${kind}ts`, `${stem}.${kind}ts`, `${stem}.tsx`]
}

const conditions = new Set(["types", "import", "require", "node", "deno", "default"])

/** The paths that `exports` has for a subpath, in the order in which TypeScript tries them. */
function listTargets(exports: unknown, subpath: string): string[] {
  const isMap = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."))
  if (!isMap) return subpath === "." ? pick(exports, "", 0) : []
  if (Object.hasOwn(exports, subpath)) return pick(exports[subpath], "", 0)
  const patterns = Object.keys(exports)
    .filter((key) => key.includes("*"))
    .toSorted((one, other) => other.indexOf("*") - one.indexOf("*"))
  for (const pattern of patterns) {
    const star = matchPattern(pattern, subpath)
    if (star !== undefined) return pick(exports[pattern], star, 0)
  }
  return []
}

function pick(target: unknown, star: string, level: number): string[] {
  if (typeof target === "string")
    return target.startsWith("./") ? [target.replaceAll("*", () => star)] : []
  if (level >= exportLevelsMax) return []
  if (Array.isArray(target)) return target.flatMap((one) => pick(one, star, level + 1))
  if (!isRecord(target)) return []
  return Object.entries(target)
    .filter(([condition]) => conditions.has(condition) || condition.startsWith("types@"))
    .flatMap(([, one]) => pick(one, star, level + 1))
}

/** The text that the star stands for. */
function matchPattern(pattern: string, text: string): string | undefined {
  const at = pattern.indexOf("*")
  const [before, after] = at === -1 ? [pattern, ""] : [pattern.slice(0, at), pattern.slice(at + 1)]
  const isMatch =
    at === -1
      ? pattern === text
      : text.length >= before.length + after.length &&
        text.startsWith(before) &&
        text.endsWith(after)
  return isMatch ? text.slice(before.length, text.length - after.length) : undefined
}

/** Where `typesVersions` moves a path, for any version of TypeScript. */
function listMoved(typesVersions: unknown, path: string): string[] {
  if (!isRecord(typesVersions)) return []
  return Object.values(typesVersions).flatMap((moves) =>
    isRecord(moves)
      ? Object.entries(moves).flatMap(([pattern, targets]) => {
          const star = matchPattern(pattern, path.replace(/^\.\//, ""))
          if (star === undefined || !Array.isArray(targets)) return []
          return targets.flatMap((one) =>
            typeof one === "string" ? [one.replaceAll("*", () => star)] : [],
          )
        })
      : [],
  )
}

export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    // A part of the path is a file, as in `index.js/index.d.ts`: Bun throws then, unlike Node.
    return false
  }
}
