import { findOwnStandardModule, findTownStandardModule } from "@hamlet/contract/standard-modules"

/** A module of this server: a val, or one of the standard library. */
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
const valPattern = new RegExp(`^/v/@?(${namePattern})/(${namePattern})(?:@([1-9][0-9]*))?$`)
const townOrigin = "https://esm.town"
/** A bare specifier (`lodash`, `npm:x`) must not be resolved as a relative path. */
const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i

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
  const url = URL.parse(specifier, base + importer.replace(/\.tsx?$/, ""))
  if (!url) return undefined
  if (url.origin === townOrigin) {
    const standard = findTownStandardModule(url)
    return standard === undefined
      ? toVal(url.pathname, url.searchParams.get("v"), townOrigin)
      : toStandard(standard)
  }
  const address = url.origin + url.pathname
  if (!address.startsWith(`${base}/`)) return undefined
  const path = address.slice(base.length)
  const standard = findOwnStandardModule(path)
  return standard === undefined ? toVal(path, null, url.origin) : toStandard(standard)
}

/** `queryVersion` is the old form; a version in the path wins. Names ignore case. */
function toVal(
  path: string,
  queryVersion: string | null,
  origin: string,
): ModuleAddress | undefined {
  const [, user, name, pathVersion] = valPattern.exec(path) ?? []
  if (user === undefined || name === undefined) return undefined
  const version =
    pathVersion ??
    (queryVersion !== null && /^[1-9][0-9]*$/.test(queryVersion) ? queryVersion : undefined)
  const mayBeElsewhere = origin === townOrigin
  const module = `/v/${user.toLowerCase()}/${name.toLowerCase()}${version === undefined ? "" : `@${version}`}`
  const isPinned = version !== undefined
  return { fileName: `${module}.tsx`, path: module, isPinned, mayBeElsewhere }
}

function toStandard(name: string): ModuleAddress {
  const path = `/std/${name}`
  return { fileName: `${path}.ts`, path, isPinned: false, mayBeElsewhere: false }
}
