import type vm from "node:vm"
import { evalContext } from "../internals.ts"
import {
  arrayPush,
  bare,
  decodeText,
  hardenPattern,
  isArray,
  matchPattern,
  PromiseCtor,
  reflectApply,
  TypeErrorCtor,
  uncurryThis,
} from "../primordials.ts"
import { packagesScript, packagesSymbol } from "../protocol.ts"
import { patchBuiltIns } from "./built-ins.ts"
import { createBundleRequire, createFolderRequire } from "./package-location.ts"

const readFile = Deno.readFileSync
const { isInteger } = Number
type RunScript = (script: vm.Script) => unknown
let Script: typeof vm.Script | undefined
let runInThisContext: RunScript | undefined

/**
 * Loads what evaluating packages with their code cache needs: Node's scripts. That takes longer than
 * the rest of the first response of a val.
 */
export async function preparePackages(): Promise<void> {
  const { default: loaded } = await import("node:vm")
  Script = loaded.Script
  runInThisContext = uncurryThis(Script.prototype.runInThisContext) as RunScript
}

type Entries = readonly (() => unknown)[]
/** A promise if a package has a top-level await. */
type Bundle = Entries | Promise<Entries>

const hashPattern = hardenPattern(/^[0-9a-f]{64}$/)

/**
 * Provides the packages that stubs ask for: `(hash, entry) => namespace`. The host has stored the
 * code before the val was loaded. It is evaluated on its first import, usually with V8's code
 * cache, because compiling takes most of the time.
 */
export function providePackages(folder: string): void {
  const evaluated = bare<Record<string, Bundle>>({})
  const find = (hash: unknown, entry: unknown): unknown => {
    if (typeof hash !== "string" || matchPattern(hash, hashPattern) === null || !isInteger(entry))
      throw new TypeErrorCtor("Cannot find the package: it needs a hash and a number")
    if (evaluated[hash] === undefined) {
      arrayPush(folders, `${folder}/${hash}`)
      evaluated[hash] = evaluate(`${folder}/${hash}`)
    }
    const bundle = evaluated[hash]
    return bundle instanceof PromiseCtor
      ? getLater(bundle, hash, entry as number)
      : getEntry(bundle, hash, entry as number)
  }
  Object.defineProperty(globalThis, Symbol.for(packagesSymbol), { value: find })
  provideRequire()
}

async function getLater(bundle: Promise<Entries>, hash: string, entry: number): Promise<unknown> {
  return await getEntry(await bundle, hash, entry)
}

function getEntry(entries: Entries, hash: string, entry: number): unknown {
  if (!isArray(entries))
    throw new TypeErrorCtor("Cannot read the packages: their code does not export a list")
  const get = entries[entry]
  if (typeof get !== "function")
    throw new TypeErrorCtor(`Cannot find package ${entry} of ${hash}: the package does not exist`)
  return get()
}

function evaluate(path: string): Bundle {
  const module = { exports: {} as unknown }
  reflectApply(compile(path) as () => unknown, module.exports, [
    module,
    module.exports,
    createBundleRequire(path),
  ])
  return module.exports as Bundle
}

/** The function of a bundle, with the code cache if Node's scripts are loaded. */
function compile(path: string): unknown {
  const code = decodeText(readFile(`${path}.js`))
  const { name } = packagesScript
  if (Script !== undefined && runInThisContext !== undefined)
    return runInThisContext(
      new Script(code, bare({ filename: name, cachedData: readCache(`${path}.cache`) })),
    )
  const result = evalContext(code, name)
  if (result[1] !== null) throw result[1].thrown
  return result[0]
}

/** Not every bundle has a code cache, and V8 rejects one that another Deno has made. */
function readCache(path: string): Uint8Array | undefined {
  try {
    return readFile(path)
  } catch {
    return undefined
  }
}

/** The folders with the files of the val's packages. */
const folders: string[] = []

type CreateRequire = (from: unknown) => unknown

const remotePattern = hardenPattern(/^https?:/)

/**
 * Lets `createRequire(import.meta.url)` of the val find the packages whose files are there. The
 * module of a val has an address instead of a path, which Node does not accept.
 */
function provideRequire(): void {
  patchBuiltIns(["module"], (get) => {
    const system = get("module") as { createRequire: CreateRequire }
    const { createRequire } = system
    system.createRequire = (from) =>
      matchPattern(`${from}`, remotePattern) === null
        ? createRequire(from)
        : createFolderRequire(folders)
  })
}
