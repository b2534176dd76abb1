import {
  arrayPush,
  ErrorCtor,
  hardenPattern,
  matchPattern,
  objectKeys,
  stringEndsWith,
  stringLastIndexOf,
  stringSlice,
  stringStartsWith,
  TypeErrorCtor,
} from "../primordials.ts"
import { getBuiltIn, prepareBuiltIns } from "./built-ins.ts"

const encodePath = encodeURI
const URLCtor = URL
const { assign, create } = Object

/** A module that is built into Node. */
export function findBuiltIn(name: unknown): unknown {
  if (typeof name !== "string") return undefined
  prepareBuiltIns([name])
  return getBuiltIn(name)
}

/**
 * The `require` of bundles: packages contain each other's code; only modules built into Node are
 * left. `at` describes where a module is.
 */
export function createBundleRequire(folder: string): (name: unknown) => unknown {
  const at = (place: string, isModule = false) =>
    matchPattern(place, remotePattern) === null
      ? new FileLocation(`${folder}/${place}`, isModule)
      : new RemoteLocation(place)
  const share = (getters: Readonly<Record<string, () => unknown>>) => shareModules(folder, getters)
  return assign(requireBuiltIn, { at: assign(at, { share }) })

  function requireBuiltIn(name: unknown): unknown {
    const found = findBuiltIn(name)
    if (found === undefined) throw notFound(name)
    return found
  }
}

/** Getters of modules that are on disk and in a bundle, by their paths, until they are needed. */
const shared: [path: string, get: () => unknown][] = []

function shareModules(folder: string, getters: Readonly<Record<string, () => unknown>>): void {
  const names = objectKeys(getters)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string
    arrayPush(shared, [`${folder}/${name}`, getters[name] as () => unknown])
  }
}

interface ModuleSystem {
  createRequire(path: string): NodeRequire
  readonly _cache: Record<string, unknown>
}

/** Node's module system. It finds the shared modules in its cache, and does not load them again. */
function getModuleSystem(): ModuleSystem {
  const system = findBuiltIn("node:module") as ModuleSystem
  for (let index = 0; index < shared.length; index += 1) {
    const entry = shared[index] as (typeof shared)[number]
    system._cache[entry[0]] ??= toCachedModule(entry[0], entry[1])
  }
  shared.length = 0
  return system
}

function toCachedModule(filename: string, get: () => unknown): object {
  return {
    id: filename,
    filename,
    loaded: true,
    children: [],
    get exports() {
      return get()
    },
  }
}

const remotePattern = hardenPattern(/^https?:\/\//)
const nativePattern = hardenPattern(
  /\.node$|^(?:bindings|node-gyp-build|node-gyp-build-optional-packages|(?:@mapbox\/)?node-pre-gyp|pkg-prebuilds)$|[-/](?:linux|darwin|win32)(?:32)?-(?:x64|arm64|arm|ia32)/,
)

function notFound(name: unknown): Error {
  const isNative = typeof name === "string" && matchPattern(name, nativePattern) !== null
  const error: Error & { code?: string } = new ErrorCtor(
    isNative
      ? `Cannot load "${name}": it is a native addon, which cannot be loaded`
      : `Cannot find module "${name}": no package of the val contains it, and it is not built in; the lockfile has a warning if its files were too large`,
  )
  // Packages with optional dependencies check for this code.
  error.code = "MODULE_NOT_FOUND"
  return error
}

type PackageRequire = ((name: unknown) => unknown) & { readonly resolve: (name: string) => string }

interface NodeRequire {
  (name: string): unknown
  resolve(name: string): string
}

/** The location of a module of a package, whose files are on disk. ES modules have no `__dirname`. */
class FileLocation {
  readonly filename: string
  readonly dirname: string
  readonly __filename: string | undefined
  readonly __dirname: string | undefined
  #require: PackageRequire | undefined

  constructor(path: string, isModule: boolean) {
    this.filename = path
    this.dirname = stringSlice(path, 0, stringLastIndexOf(path, "/"))
    if (isModule) return
    this.__filename = this.filename
    this.__dirname = this.dirname
  }

  get url(): string {
    return `file://${encodePath(this.filename)}`
  }

  /** `require` with a computed name: the module is loaded from disk. */
  get require(): PackageRequire {
    this.#require ??= createPathsRequire([this.filename])
    return this.#require
  }

  /** `require.resolve` */
  get find(): (name: string) => string {
    return this.require.resolve
  }

  /** `import.meta.resolve` */
  get resolve(): (specifier: string) => string {
    return (specifier) => {
      if (isRelative(specifier)) return new URLCtor(specifier, this.url).href
      const path = this.require.resolve(specifier)
      return stringStartsWith(path, "/") ? `file://${encodePath(path)}` : `node:${path}`
    }
  }

  /** `import` with a computed name. */
  get import(): (specifier: unknown) => Promise<unknown> {
    return async (specifier) => {
      const text = `${specifier}`
      if (matchPattern(text, remotePattern) !== null)
        throw new TypeErrorCtor(
          `Cannot import "${text}": it was not fetched when this version was saved; only literal imports are`,
        )
      const isFile = stringStartsWith(text, "file:")
      return toNamespace(
        this.require(isFile ? decodeURIComponent(new URLCtor(text).pathname) : text),
      )
    }
  }
}

/** The location of a module from another server. */
class RemoteLocation {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  get resolve(): (specifier: string) => string {
    return (specifier) => new URLCtor(specifier, this.url).href
  }

  get require(): (name: unknown) => unknown {
    return (name) => {
      const found = findBuiltIn(name)
      if (found === undefined) throw notFound(name)
      return found
    }
  }

  get find(): (name: string) => string {
    return (name) => {
      throw notFound(name)
    }
  }

  get import(): (specifier: unknown) => Promise<unknown> {
    return async (specifier) => toNamespace(this.require(specifier))
  }
}

function isRelative(specifier: string): boolean {
  return stringStartsWith(specifier, "./") || stringStartsWith(specifier, "../")
}

/** A `require` that finds the packages in these folders. */
export function createFolderRequire(folders: readonly string[]): PackageRequire {
  const paths: string[] = []
  for (let index = 0; index < folders.length; index += 1)
    arrayPush(paths, `${folders[index]}/index.js`)
  return createPathsRequire(paths)
}

/** The first path from which Node finds a module counts. */
function createPathsRequire(paths: readonly string[]): PackageRequire {
  let nodeRequire: NodeRequire | undefined
  const find = (name: string): string => {
    const system = getModuleSystem()
    if (findBuiltIn(name) !== undefined) return name
    for (let index = 0; index < paths.length; index += 1) {
      try {
        const from = system.createRequire(paths[index] as string)
        const found = from.resolve(name)
        nodeRequire = from
        return found
      } catch {
        // Beside files that do not exist, Deno reports folders that it may not read.
      }
    }
    throw notFound(name)
  }
  const require = (name: unknown): unknown => {
    const found = findBuiltIn(name)
    if (found !== undefined) return found
    if (typeof name !== "string" || stringEndsWith(name, ".node")) throw notFound(name)
    const target = find(name)
    return (nodeRequire as NodeRequire)(target)
  }
  return assign(require, { resolve: find, cache: create(null) as object, main: undefined })
}

/** What `import` returns for the exports of a CommonJS module. */
function toNamespace(exported: unknown): unknown {
  if (typeof exported !== "object" || exported === null) return { default: exported }
  const isNamespace =
    (exported as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === "Module"
  return isNamespace ? exported : { ...exported, default: exported }
}
