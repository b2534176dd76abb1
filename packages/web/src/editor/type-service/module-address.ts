import { findOwnStandardModule, findTownStandardModule } from "@hamlet/contract/standard-modules"

/** A module of this server: a val, a file of one, or one of the standard library. */
export interface ModuleAddress {
  /** Its file name in the type service. */
  readonly fileName: string
  /** Its path below the address of the server. */
  readonly path: string
  /** A pinned version never changes. */
  readonly isPinned: boolean
  /** If this server does not have it, it may still be fetched from Val Town. */
  readonly mayBeElsewhere: boolean
}

const namePattern = "[A-Za-z][\\w-]*"
const pinPattern = "[\\w$[\\]().-]+"
/** The user, the val, what follows its `@`, and the path of a file. */
const valPattern = new RegExp(
  `^/v/@?(${namePattern})/(${namePattern}|\\.config)(?:@(${pinPattern}))?(?:/(.+))?$`,
)
const townOrigin = "https://esm.town"
/** A bare specifier (`lodash`, `npm:x`) must not be resolved as a relative path. */
const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i
const relativePattern = /^\.\.?\//
/** Files that are modules; other files are text. */
const modulePattern = /\.(?:[cm]?[jt]sx?|json)$/
/** Files that no module imports, and that say something about modules. */
const readPattern = /\.(?:jsonc|html?)$/i

/**
 * The module of this server that a specifier names in the file `importer`, by the same rules as at
 * run time; undefined for other modules.
 */
export function findModuleAddress(
  specifier: string,
  importer: string,
  baseUrl: string,
): ModuleAddress | undefined {
  if (!addressPattern.test(specifier)) return undefined
  const base = baseUrl.replace(/\/$/, "")
  const own = findOwnFile(specifier, importer)
  if (own) return own
  const url = URL.parse(specifier, base + toValPath(importer))
  if (!url) return undefined
  if (url.origin === townOrigin) {
    const standard = findTownStandardModule(url)
    return standard === undefined
      ? toVal(url.pathname, url.searchParams, townOrigin)
      : toStandard(standard)
  }
  const address = url.origin + url.pathname
  if (!address.startsWith(`${base}/`)) return undefined
  const path = address.slice(base.length)
  const standard = findOwnStandardModule(path)
  if (standard !== undefined) return toStandard(standard)
  const found = toVal(path, url.searchParams, url.origin)
  // A relative path to a file means one of the importing val, which has been looked for.
  return relativePattern.test(specifier) && found && isFile(found) ? undefined : found
}

/** The name of a file of a val in the type service; `path` begins with its user and name. */
export function toFileName(path: string): string {
  const [user = "", name = "", ...rest] = path.replace(/^\/+/, "").split("/")
  const file = [user.toLowerCase(), name.toLowerCase(), ...rest].join("/")
  return `/v/${file}${modulePattern.test(file) || readPattern.test(file) ? "" : ".tsx"}`
}

/** Whether the names of files have the same val, version and branch. */
export function areTogether(fileName: string, other: string): boolean {
  const root = toRoot(fileName)
  return root !== undefined && root === toRoot(other)
}

/** A file of the importing val, version and branch, by a relative path with an extension. */
function findOwnFile(specifier: string, importer: string): ModuleAddress | undefined {
  const root = toRoot(importer)
  if (root === undefined || !relativePattern.test(specifier) || !modulePattern.test(specifier))
    return undefined
  const { pathname, searchParams } = new URL(specifier, `http://host${importer}`)
  return pathname.startsWith(root) ? toVal(pathname, searchParams, "") : undefined
}

/** `/v/ada/hello@3-main/` for a file of it; undefined for a val without the path of a file. */
export function toRoot(fileName: string): string | undefined {
  return /^\/v\/[^/]+\/[^/]+\//.exec(fileName)?.[0]
}

/** The path of the val that contains a file. */
function toValPath(fileName: string): string {
  const [, val] = /^(\/v\/[^/]+\/[^/@]+)(?:@[^/]*)?\//.exec(fileName) ?? []
  return val ?? fileName.replace(modulePattern, "")
}

function isFile({ path }: ModuleAddress): boolean {
  return toRoot(path) !== undefined
}

/** The query `v` is the old form of a version; one in the path wins. Names ignore case. */
function toVal(path: string, query: URLSearchParams, origin: string): ModuleAddress | undefined {
  const queryVersion = query.get("v")
  const [, user, name, pathPin, file] = valPattern.exec(path) ?? []
  if (user === undefined || name === undefined) return undefined
  const pin =
    pathPin ??
    (queryVersion !== null && /^[1-9][0-9]*$/.test(queryVersion) ? queryVersion : undefined)
  const mayBeElsewhere = origin === townOrigin
  const val = `/v/${user.toLowerCase()}/${name.toLowerCase()}${pin === undefined ? "" : `@${pin}`}`
  const module = file === undefined ? val : `${val}/${file}`
  const fileName = file !== undefined && modulePattern.test(file) ? module : `${module}.tsx`
  // A number is a version, a name is a branch.
  const isPinned = pin !== undefined && /^\d+(?:-|$)/.test(pin)
  return { fileName, path: module, isPinned, mayBeElsewhere }
}

function toStandard(name: string): ModuleAddress {
  const path = `/std/${name}`
  return { fileName: `${path}.ts`, path, isPinned: false, mayBeElsewhere: false }
}
