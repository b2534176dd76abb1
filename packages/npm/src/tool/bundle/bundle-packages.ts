import { join } from "node:path"
import type { BuildFailure, BuildResult, Message, Metafile } from "esbuild"
import { build } from "esbuild"
import type { ImportFailure } from "../tool-messages.ts"
import { locationNames, toBuildOptions } from "./build-options.ts"
import { createPackagesPlugin, type Entry, type Pass } from "./bundle-plugin.ts"
import { findEntryFailures, findPackageRoot } from "./entry-failures.ts"
import type { ComputedCall } from "./locate-modules.ts"
import { isNativeName, type NativeAddons } from "./native-addons.ts"
import type { RemoteModules } from "./remote-modules.ts"

/** A bundle. */
export interface BundledPackages {
  readonly kind: "bundled"
  readonly code: Uint8Array
  readonly inputs: Metafile["inputs"]
  /** Whether a package has a top-level await, so that evaluating the bundle takes a promise. */
  readonly isAsync: boolean
  /** What modules import that does not exist, by the path of the importing module. */
  readonly absent: ReadonlyMap<string, ReadonlySet<string>>
  /** The paths of the entries, in their order. */
  readonly entryPaths: readonly string[]
  /** The paths of the modules in it that use their location. */
  readonly located: readonly string[]
  /** Why entries fail, by their index. The others work without them. */
  readonly failures: ReadonlyMap<number, ImportFailure>
}

/** The result of bundling. */
export type Bundled = BundledPackages | { readonly kind: "failed"; readonly message: string }

/**
 * Bundles all entries into one script; `Bundle` in the domain describes its form. esbuild reports
 * what it cannot bundle: missing optional packages, computed imports, top-level await. It bundles
 * again until these are taken care of.
 */
export async function bundlePackages(
  modules: RemoteModules,
  entries: readonly Entry[],
  folder: string,
  addons: NativeAddons,
): Promise<Bundled> {
  const facts: Facts = {
    isAsync: false,
    absent: new Map(),
    natives: new Map(),
    calls: new Map(),
    shared: new Set(),
    formats: new Map(),
  }
  for (let round = 0; ; round++) {
    const pass: Pass = { ...facts, entries, folder, located: new Map(), entryPaths: [] }
    const result = await runPass(modules, pass)
    const learned = learn(facts, pass, result)
    if (learned.kind === "failed") return learned
    if (learned.isNew && round < roundsMax) continue
    if (!("metafile" in result)) return { kind: "failed", message: toMessage(result) }
    return toBundled(facts, pass, result, addons)
  }
}

const roundsMax = 6

/** What is known of the packages after each round. */
interface Facts {
  isAsync: boolean
  /** What modules import that does not exist, by the path of the importing module. */
  readonly absent: Map<string, Set<string>>
  /** The native addons among these. */
  readonly natives: Map<string, string>
  readonly calls: Map<string, ComputedCall[]>
  /** The CommonJS modules that modules on disk may require; they must be the same there. */
  readonly shared: Set<string>
  readonly formats: Map<string, boolean>
}

type PassResult = BuildResult<ReturnType<typeof toBuildOptions>> | BuildFailure

async function runPass(modules: RemoteModules, pass: Pass): Promise<PassResult> {
  const override = "warning"
  try {
    return await build({
      ...toBuildOptions(pass.folder),
      // A script has no top-level await: an async function around the module has.
      format: pass.isAsync ? "esm" : "cjs",
      logOverride: {
        "unsupported-require-call": override,
        "unsupported-dynamic-import": override,
        "indirect-require": override,
      },
      plugins: [createPackagesPlugin(modules, pass)],
      entryPoints: [{ in: "hamlet:main.mjs", out: "packages" }],
    } as ReturnType<typeof toBuildOptions>)
  } catch (error) {
    return error as BuildFailure
  }
}

type Learned =
  | { readonly kind: "learned"; readonly isNew: boolean }
  | (Bundled & { kind: "failed" })

/** Adds what esbuild reports to the facts. Fails when nothing can be done about an error. */
function learn(facts: Facts, pass: Pass, result: PassResult): Learned {
  const { folder, located } = pass
  const absentBefore = new Map([...facts.absent].map(([path, names]) => [path, new Set(names)]))
  let isNew = false
  for (const error of result.errors ?? []) {
    const isAwait = /[Tt]op-level await/.test(error.text) && !pass.isAsync
    const name = /^Could not resolve "(.+)"$/s.exec(error.text)?.[1]
    if (isAwait) facts.isAsync = true
    else if (name === undefined || !addAbsent(facts, absentBefore, folder, error, name))
      return { kind: "failed", message: toMessage(result as BuildFailure, error) }
    isNew = true
  }
  for (const { id, location } of result.warnings ?? []) {
    if (location?.namespace !== "" || !callIds.has(id)) continue
    const path = join(folder, location.file)
    const calls = facts.calls.get(path) ?? []
    const keyword = id === "unsupported-dynamic-import" ? "import" : "require"
    // A module that is located already has one line more.
    const line = location.line - (located.has(path) ? 1 : 0)
    facts.calls.set(path, [...calls, { line, column: location.column, keyword }])
    isNew = true
  }
  if ("metafile" in result) isNew = learnFormats(facts, pass, result.metafile.inputs) || isNew
  else if (!isNew) return { kind: "failed", message: toMessage(result) }
  return { kind: "learned", isNew }
}

const callIds = new Set([
  "unsupported-require-call",
  "unsupported-dynamic-import",
  "indirect-require",
])

/** Whether a guess of a format was wrong, or there are new modules to share. */
function learnFormats(facts: Facts, { folder, located }: Pass, inputs: Metafile["inputs"]) {
  let isNew = addShared(facts, folder, inputs)
  for (const [path, { isModule }] of located) {
    const isRealModule = inputs[path.slice(folder.length + 1)]?.format === "esm"
    if (isRealModule === isModule) continue
    facts.formats.set(path, isRealModule)
    isNew = true
  }
  return isNew
}

/**
 * A module that is loaded from disk may require modules of its package that are in the bundle too,
 * and expects to share their state.
 */
function addShared({ calls, shared }: Facts, folder: string, inputs: Metafile["inputs"]): boolean {
  const roots = new Set([...calls.keys()].flatMap((path) => findPackageRoot(path, folder) ?? []))
  const before = shared.size
  for (const [name, { format }] of Object.entries(inputs)) {
    const path = join(folder, name)
    if (format === "cjs" && roots.has(findPackageRoot(path, folder) ?? "")) shared.add(path)
  }
  return shared.size > before
}

/** False when the import was known before this pass, or is not in a module. */
function addAbsent(
  facts: Facts,
  before: Pass["absent"],
  folder: string,
  { location }: Message,
  name: string,
): boolean {
  if (!location || (location.namespace !== "" && location.namespace !== "file")) return false
  const path = join(folder, location.file)
  if (before.get(path)?.has(name)) return false
  facts.absent.set(path, (facts.absent.get(path) ?? new Set()).add(name))
  if (isNativeName(name)) facts.natives.set(path, name)
  return true
}

function toBundled(
  facts: Facts,
  pass: Pass,
  { metafile, outputFiles }: Exclude<PassResult, BuildFailure>,
  addons: NativeAddons,
): Bundled {
  const { inputs } = metafile
  const output = Object.values(metafile.outputs)[0]?.inputs ?? {}
  const isIncluded = (path: string) =>
    (output[path.slice(pass.folder.length + 1)]?.bytesInOutput ?? 0) > 0
  const located = [...pass.located].filter(
    ([path, { place }]) => isIncluded(path) && !/^https?:/.test(place),
  )
  const hasLocations = facts.shared.size > 0 || [...pass.located.keys()].some(isIncluded)
  const natives = new Map([...facts.natives].filter(([path]) => isIncluded(path)))
  const isStrict = !Object.entries(inputs).some(isSloppy)
  const code = outputFiles[0]?.contents ?? new Uint8Array()
  return {
    kind: "bundled",
    code: Buffer.concat([
      Buffer.from(isStrict ? '"use strict";' : ""),
      Buffer.from(hasLocations ? `const ${locationNames.at}=require.at;` : ""),
      ...(facts.isAsync ? [asyncBefore, code, asyncAfter] : [code]),
    ]),
    inputs,
    isAsync: facts.isAsync,
    absent: facts.absent,
    entryPaths: pass.entryPaths,
    located: located.map(([path]) => path),
    failures: findEntryFailures(pass, inputs, natives, addons),
  }
}

const asyncBefore = Buffer.from("module.exports=(async module=>{")
const asyncAfter = Buffer.from("\nreturn module.exports})({});")

/**
 * ES modules are strict and CommonJS is not by default, but one script has one mode. Many old
 * packages rely on sloppy mode, and hardly any module relies on strict mode.
 */
function isSloppy([path, { format }]: [string, Metafile["inputs"][string]]): boolean {
  return format === "cjs" && !path.startsWith("hamlet")
}

function toMessage({ errors, message }: Partial<BuildFailure>, error = errors?.[0]): string {
  if (!error) return message ?? "unknown error"
  return error.location ? `${error.text} (${error.location.file})` : error.text
}
