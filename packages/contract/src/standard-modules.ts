/** The modules of the standard library, each at `{server}/std/{name}`. */
export const standardModuleNames = [
  "API_URL",
  "blob",
  "email",
  "fetch",
  "openai",
  "rpc",
  "sqlite",
  "sqlite2",
  "utils",
] as const

/** The name of a module of the standard library. */
export type StandardModuleName = (typeof standardModuleNames)[number]

const townOrigin = "https://esm.town"

/** On a Hamlet server. */
const ownPattern = /^\/std\/(\w+?)(?:\.ts)?$/
/**
 * On Val Town: with or without a version, as one file or one of several. Only the main file of a
 * module of several files is known.
 */
const townPattern = /^\/v\/@?std\/(\w+)(?:@[\w.-]+)?(?:\/(?:main|index|global|mod)\.tsx?)?$/

/**
 * The module of the standard library that a path of a Hamlet server names: `/std/blob`, with or
 * without `.ts`.
 */
export function findOwnStandardModule(path: string): StandardModuleName | undefined {
  const name = ownPattern.exec(path)?.[1]
  return standardModuleNames.find((it) => it === name)
}

/**
 * The module of this server that stands for a URL of Val Town's standard library, whatever its
 * version. Val Town ignores the case of names.
 */
export function findTownStandardModule(url: URL): StandardModuleName | undefined {
  if (url.origin !== townOrigin) return undefined
  const name = townPattern.exec(url.pathname)?.[1]?.toLowerCase()
  // The second is `/std/blob` in a val that is itself imported from there.
  return (
    standardModuleNames.find((it) => it.toLowerCase() === name) ??
    findOwnStandardModule(url.pathname)
  )
}
