// What the tests of the resolver share.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  PackageFolders,
  type Sandboxes,
  type SandboxOptions,
  sandboxLimits,
  toStoredBundle,
} from "@hamlet/sandbox"
import { denoPath, openSandboxes, packageLocationUrl } from "@hamlet/sandbox/testing"
import { plainRules } from "../import-rules.ts"
import { PackageResolver, type ResolverOptions } from "../package-resolver.ts"
import type { Bundle, ResolvedImport, ResolvedPackages } from "../resolved-packages.ts"
import { type ResolverLimits, resolverLimits } from "../resolver-limits.ts"
import { FakeRegistry } from "./fake-registry.ts"
import { openForwardingProxy } from "./forwarding-proxy.ts"

/**
 * A resolver with a registry of its own. Disposing fails if anything has reported an error or was
 * left behind.
 */
export interface OpenResolver<Given = null> extends AsyncDisposable {
  readonly registry: FakeRegistry
  readonly resolver: PackageResolver<Given>
  readonly sandboxes: Sandboxes
  readonly dataDir: string
  /** The errors that the resolver has reported. A test that expects some removes them. */
  readonly errors: unknown[]
  /** Resolves a file `main.tsx`. */
  resolve(code: string, given?: Given): Promise<ResolvedPackages>
}

export interface ResolverTestOptions
  extends Partial<Pick<ResolverOptions<null>, "npmRegistry" | "openEgress">> {
  readonly isolation?: SandboxOptions["isolation"]
  readonly usesCgroups?: boolean
  readonly limits?: Partial<ResolverLimits>
}

export async function openResolver(options: ResolverTestOptions = {}): Promise<OpenResolver> {
  return await openResolverWith({ rules: plainRules, given: null }, options)
}

/** `given` is what the rules get if a test does not say it. */
export async function openResolverWith<Given>(
  { rules, given: usual }: Pick<ResolverOptions<Given>, "rules"> & { readonly given: Given },
  options: ResolverTestOptions = {},
): Promise<OpenResolver<Given>> {
  const { isolation = "auto", usesCgroups = true } = options
  const open = await openSandboxes({ isolation, usesCgroups })
  // The one with which the isolation was tried would be taken for a trace of the resolver.
  await (await open.sandboxes.launch()).stop()
  const registry = new FakeRegistry()
  const errors: unknown[] = []
  const resolver = new PackageResolver({
    sandboxes: async () => open.sandboxes,
    rules,
    npmRegistry: registry.npmUrl,
    jsrUrl: registry.jsrUrl,
    openEgress: (path, { note }) => openForwardingProxy(path, note),
    ...options,
    limits: { ...resolverLimits, ...options.limits },
    onError: (error) => errors.push(error),
  })
  return {
    registry,
    resolver,
    sandboxes: open.sandboxes,
    dataDir: open.dataDir,
    errors,
    resolve: (code, given = usual) =>
      resolver.resolve({
        files: [{ path: "main.tsx", code }],
        given,
        accountId: "ada",
        signal: new AbortController().signal,
      }),
    async [Symbol.asyncDispose]() {
      await resolver.stop()
      await registry.stop()
      await open[Symbol.asyncDispose]()
      if (errors.length > 0) throw new AggregateError(errors, "The resolver reported errors")
    },
  }
}

/** The import of a specifier. */
export function importOf(resolved: ResolvedPackages, specifier: string): ResolvedImport {
  const found = resolved.imports.find((one) => one.specifier === specifier)
  if (!found)
    throw new Error(
      `There is no import of "${specifier}", only ${JSON.stringify(resolved.imports.map((one) => one.specifier))}`,
    )
  return found
}

/** The pieces of the code that an import stands for. */
export function readPlaces(code: string, { places }: ResolvedImport): string[] {
  return places.map(({ start, end }) => code.slice(start, end))
}

/**
 * Evaluates a bundle on Deno as the guest does, and gives what `body` returns, the body of an async
 * function that gets `packages`, the namespaces by specifier, as getters. Fails if V8 did not take
 * the cache.
 */
export async function runBundle(resolved: ResolvedPackages, body: string): Promise<unknown> {
  if (!resolved.bundle) throw new Error(`There is no bundle: ${JSON.stringify(resolved.imports)}`)
  const folder = mkdtempSync(join(tmpdir(), "hamlet-bundle-"))
  try {
    await writeBundle(folder, resolved.bundle)
    const entries = resolved.imports
      .filter(({ error }) => error === null)
      .map(({ specifier, entry }) => [specifier, entry])
    writeFileSync(join(folder, "main.js"), toProgram(folder, entries, body))
    const heapMegabytes = sandboxLimits.heapBytesMax / 1024 ** 2
    const switches = [
      "--quiet",
      "--no-prompt",
      "--no-config",
      "--no-lock",
      "--no-npm",
      "--cached-only",
      "--no-code-cache",
    ]
    const flags = [
      ...switches,
      "--allow-env",
      `--allow-read=${folder}`,
      `--v8-flags=--max-old-space-size=${heapMegabytes}`,
    ]
    const child = Bun.spawn([denoPath, "run", ...flags, join(folder, "main.js")], {
      env: { DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdout: "pipe",
      stderr: "pipe",
    })
    const [out, said] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(said)
    const { value, isRejected } = JSON.parse(out) as { value: unknown; isRejected: boolean }
    if (isRejected) throw new Error("V8 did not take the cache")
    return value
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writeBundle(folder: string, bundle: Bundle): Promise<void> {
  writeFileSync(join(folder, "bundle.js"), bundle.code)
  writeFileSync(join(folder, "bundle.cache"), bundle.cache ?? "")
  await new PackageFolders(join(folder, "unpacked")).provide(toStoredBundle(bundle), folder)
  if (bundle.files) renameSync(join(folder, bundle.hash), join(folder, "files"))
}

function toProgram(folder: string, entries: readonly unknown[], body: string): string {
  // The texts around the script are those of the guest's protocol. V8 takes the cache for no other
  // text.
  const [before, after, name] = ["(function(module,exports,require){", "\n})", "packages:bundle.js"]
  return `
import { Script } from "node:vm"
import { createBundleRequire } from ${JSON.stringify(packageLocationUrl)}
const code = Deno.readTextFileSync(${JSON.stringify(join(folder, "bundle.js"))})
const cachedData = Deno.readFileSync(${JSON.stringify(join(folder, "bundle.cache"))})
const script = new Script(${JSON.stringify(before)} + code + ${JSON.stringify(after)}, { filename: ${JSON.stringify(name)}, cachedData })
const isRejected = script.cachedDataRejected !== false
const module = { exports: {} }
script.runInThisContext()(module, module.exports, createBundleRequire(${JSON.stringify(join(folder, "files"))}))
const entries = await module.exports
const packages = {}
for (const [specifier, entry] of ${JSON.stringify(entries)})
  Object.defineProperty(packages, specifier, { get: () => entries[entry](), enumerable: true })
const value = await (async () => { ${body} })()
console.log(JSON.stringify({ value, isRejected }))
`
}
