/** A module of this server: a val, or one of the standard library. */
export interface ModuleAddress {
  /** Its file name in the type service. */
  readonly fileName: string
  /** Its path below the address of the server. */
  readonly path: string
  /** A pinned version never changes. */
  readonly isPinned: boolean
}

const namePattern = "[A-Za-z]\\w*"
const valPattern = new RegExp(`^/v/@?(${namePattern})/(${namePattern})(?:@([1-9][0-9]*))?$`)
const standardPattern = /^\/std\/([a-z]+)(?:\.ts)?$/
/** The standard library as vals written for Val Town import it. */
const townStandardPattern = /^\/v\/@?std\/(blob|sqlite)(?:@[\w.-]+)?(?:\/(?:main|global)\.tsx?)?$/
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
    const standard = townStandardPattern.exec(url.pathname)?.[1]
    return standard === undefined
      ? toVal(url.pathname, url.searchParams.get("v"))
      : toStandard(standard)
  }
  const address = url.origin + url.pathname
  if (!address.startsWith(`${base}/`)) return undefined
  const path = address.slice(base.length)
  const standard = standardPattern.exec(path)?.[1]
  return standard === undefined ? toVal(path, null) : toStandard(standard)
}

/** `queryVersion` is the old form; a version in the path wins. Names ignore case. */
function toVal(path: string, queryVersion: string | null): ModuleAddress | undefined {
  const [, user, name, pathVersion] = valPattern.exec(path) ?? []
  if (user === undefined || name === undefined) return undefined
  const version =
    pathVersion ??
    (queryVersion !== null && /^[1-9][0-9]*$/.test(queryVersion) ? queryVersion : undefined)
  const module = `/v/${user.toLowerCase()}/${name.toLowerCase()}${version === undefined ? "" : `@${version}`}`
  return { fileName: `${module}.tsx`, path: module, isPinned: version !== undefined }
}

function toStandard(name: string): ModuleAddress {
  return { fileName: `/std/${name}.ts`, path: `/std/${name}`, isPinned: false }
}
