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
 * To look at the property is to load all that Node has of modules, which takes milliseconds; so
 * nobody does before something is required.
 */
const readFindBuiltIn = getterOf(
  process as unknown as { getBuiltinModule: unknown },
  "getBuiltinModule",
)

type Bundle = readonly (() => unknown)[]

const hashPattern = hardenPattern(/^[0-9a-f]{64}$/)

/**
 * Gives the stubs that stand for packages what they ask for: `(hash, entry) => namespace`. The host
 * has put the code there before the val was loaded; it is evaluated when something of it is
 * imported first, with V8's own cache of it, since compiling takes most of the time.
 */
export function providePackages(folder: string): void {
  const evaluated = bare<Record<string, Bundle>>({})
  const find = (hash: unknown, entry: unknown): unknown => {
    if (typeof hash !== "string" || matchPattern(hash, hashPattern) === null || !isInteger(entry))
      throw new TypeErrorCtor("Cannot find the package: it is named by a hash and a number")
    evaluated[hash] ??= evaluate(`${folder}/${hash}`)
    const get = evaluated[hash][entry as number]
    if (typeof get !== "function")
      throw new TypeErrorCtor(`Cannot find package ${entry} of ${hash}: there is no such package`)
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
    throw new TypeErrorCtor("Cannot read the packages: their code gives no list")
  return module.exports as Bundle
}

/** Not every bundle has one, and V8 takes none that another Deno has made. */
function readCache(path: string): Uint8Array | undefined {
  try {
    return readFile(path)
  } catch {
    return undefined
  }
}

let findBuiltIn: ((name: string) => unknown) | undefined

/**
 * All that packages need of each other is in their code; what is left is what Node has built in.
 */
function requireBuiltIn(name: unknown): unknown {
  findBuiltIn ??= reflectApply(readFindBuiltIn, process, []) as typeof findBuiltIn
  const found = typeof name === "string" ? findBuiltIn?.(name) : undefined
  if (found !== undefined) return found
  const error: Error & { code?: string } = new ErrorCtor(
    `Cannot find module "${name}": no package of the val has it, nor is it built in`,
  )
  // Packages that can do without look for it.
  error.code = "MODULE_NOT_FOUND"
  throw error
}
