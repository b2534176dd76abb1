import process from "node:process"
import { Script } from "node:vm"
import {
  bare,
  decodeText,
  ErrorCtor,
  getterOf,
  hardenPattern,
  isArray,
  matchPattern,
  reflectApply,
  TypeErrorCtor,
  uncurryThis,
} from "../primordials.ts"
import { packagesScript, packagesSymbol } from "../protocol.ts"

const readFile = Deno.readFileSync
const { isInteger } = Number
const runInThisContext = uncurryThis(Script.prototype.runInThisContext) as (
  script: Script,
) => unknown
/**
 * Reading the property loads all of Node's module system, which takes milliseconds, so it is read
 * only when something is required.
 */
const readFindBuiltIn = getterOf(
  process as unknown as { getBuiltinModule: unknown },
  "getBuiltinModule",
)

type Bundle = readonly (() => unknown)[]

const hashPattern = hardenPattern(/^[0-9a-f]{64}$/)

/**
 * Provides the packages that stubs ask for: `(hash, entry) => namespace`. The host has stored the
 * code before the val was loaded. It is evaluated on its first import, with V8's code cache,
 * because compiling takes most of the time.
 */
export function providePackages(folder: string): void {
  const evaluated = bare<Record<string, Bundle>>({})
  const find = (hash: unknown, entry: unknown): unknown => {
    if (typeof hash !== "string" || matchPattern(hash, hashPattern) === null || !isInteger(entry))
      throw new TypeErrorCtor("Cannot find the package: it needs a hash and a number")
    evaluated[hash] ??= evaluate(`${folder}/${hash}`)
    const get = evaluated[hash][entry as number]
    if (typeof get !== "function")
      throw new TypeErrorCtor(`Cannot find package ${entry} of ${hash}: the package does not exist`)
    return get()
  }
  Object.defineProperty(globalThis, Symbol.for(packagesSymbol), { value: find })
}

function evaluate(path: string): Bundle {
  const { name, before, after } = packagesScript
  const code = decodeText(readFile(`${path}.js`))
  const script = new Script(
    before + code + after,
    bare({ filename: name, cachedData: readCache(`${path}.cache`) }),
  )
  const module = { exports: {} as unknown }
  reflectApply(runInThisContext(script) as () => unknown, module.exports, [
    module,
    module.exports,
    requireBuiltIn,
  ])
  if (!isArray(module.exports))
    throw new TypeErrorCtor("Cannot read the packages: their code does not export a list")
  return module.exports as Bundle
}

/** Not every bundle has a code cache, and V8 rejects one that another Deno has made. */
function readCache(path: string): Uint8Array | undefined {
  try {
    return readFile(path)
  } catch {
    return undefined
  }
}

let findBuiltIn: ((name: string) => unknown) | undefined

/** Packages contain each other's code; only modules built into Node are left. */
function requireBuiltIn(name: unknown): unknown {
  findBuiltIn ??= reflectApply(readFindBuiltIn, process, []) as typeof findBuiltIn
  const found = typeof name === "string" ? findBuiltIn?.(name) : undefined
  if (found !== undefined) return found
  const error: Error & { code?: string } = new ErrorCtor(
    `Cannot find module "${name}": no package of the val contains it, and it is not built in`,
  )
  // Packages with optional dependencies check for this code.
  error.code = "MODULE_NOT_FOUND"
  throw error
}
