/** The modules of the standard library, each at `{server}/std/{name}`. */
export const standardModuleNames = [
  "API_URL",
  "blob",
  "blob/main",
  "email",
  "fetch",
  "openai",
  "rpc",
  "sqlite",
  "sqlite/main",
  "sqlite2",
  "utils",
] as const

/** The name of a module of the standard library. */
export type StandardModuleName = (typeof standardModuleNames)[number]

const townOrigin = "https://esm.town"

/** On a Hamlet server: as one file or one of several. */
const ownPattern = /^\/std\/(\w+?)(?:\/(main|index|global|mod))?(?:\.tsx?)?$/
/**
 * On Val Town: with or without a version, as one file or one of several. Only the main file of a
 * module of several files is known.
 */
const townPattern = /^\/v\/@?std\/(\w+)(?:@[\w.-]+)?(?:\/(main|index|global|mod)\.tsx?)?$/

/**
 * The module of the standard library that a path of a Hamlet server names: `/std/blob`, with or
 * without `.ts`, or `/std/blob/main.ts`.
 */
export function findOwnStandardModule(path: string): StandardModuleName | undefined {
  const found = ownPattern.exec(path)
  // A save may ask for 140,000 addresses, few of which are ours.
  return found ? findModule(found[1] ?? "", found[2], (it) => it) : undefined
}

/**
 * The module of this server that stands for a URL of Val Town's standard library, whatever its
 * version. Val Town ignores the case of names.
 */
export function findTownStandardModule(url: URL): StandardModuleName | undefined {
  if (url.origin !== townOrigin) return undefined
  const [, name = "", file] = townPattern.exec(url.pathname) ?? []
  // The second is `/std/blob` in a val that is itself imported from there.
  return (
    findModule(name.toLowerCase(), file, (it) => it.toLowerCase()) ??
    findOwnStandardModule(url.pathname)
  )
}

/** Where a module has no `main` of its own, all of its files mean the same. */
function findModule(
  name: string,
  file: string | undefined,
  toKey: (name: string) => string,
): StandardModuleName | undefined {
  const find = (key: string) => standardModuleNames.find((it) => toKey(it) === key)
  return find(`${name}/${file}`) ?? find(name)
}
