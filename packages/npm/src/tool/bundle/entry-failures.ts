import { readFileSync } from "node:fs"
import { extname, join } from "node:path"
import type { Metafile } from "esbuild"
import { readPackage } from "../package-json.ts"
import type { ImportFailure } from "../tool-messages.ts"
import { canBundle, installFolder, namespaces, type Pass } from "./bundle-plugin.ts"
import type { NativeAddons } from "./native-addons.ts"

/**
 * The entries that cannot work, as far as that is known without running them: something that they
 * import with import statements, directly or not, does not exist, or they are native addons.
 * Whatever else is missing is an error when it is reached.
 */
export function findEntryFailures(
  pass: Pass,
  inputs: Metafile["inputs"],
  natives: ReadonlyMap<string, string>,
  addons: NativeAddons,
): ReadonlyMap<number, ImportFailure> {
  const { entryPaths, folder } = pass
  const failures = new Map<number, ImportFailure>()
  for (const [index, path] of entryPaths.entries()) {
    const failure =
      findNativeEntry(pass, path, inputs, natives, addons) ??
      findStaticFailure(path.slice(folder.length + 1), folder, inputs, natives)
    if (failure) failures.set(index, failure)
  }
  return failures
}

/** The package of the entry is itself a native addon. */
function findNativeEntry(
  { folder, calls }: Pass,
  path: string,
  inputs: Metafile["inputs"],
  natives: ReadonlyMap<string, string>,
  { platformNames, paths }: NativeAddons,
): ImportFailure | undefined {
  const root = findPackageRoot(path, folder)
  if (root === undefined) return undefined
  const isOwn = (module: string) => module.startsWith(join(root, "/"))
  const optional = Object.keys(readPackage(root)?.optionalDependencies ?? {})
  const stems = optional.filter((name) => platformNames.has(name)).map(toStem)
  const namesPlatform = (module: string) => {
    const text = isOwn(module) ? readFileSync(module, "utf8") : ""
    return stems.some((stem) => text.includes(stem))
  }
  const isNative =
    [...natives.keys()].some(isOwn) ||
    (stems.length > 0 && Object.keys(inputs).some((name) => namesPlatform(join(folder, name)))) ||
    // The package computes the path of its addon.
    (paths.has(root) && [...calls.keys()].some((module) => isOwn(module) && namesAddon(module)))
  return isNative ? nativeAddon : undefined
}

/** What a module names that computes the rest, as of `@libsql/linux-x64-gnu`. */
function toStem(platformName: string): string {
  return platformName.replace(/(?<=.)(?:linux|darwin|win32|android|freebsd)\b.*$/, "")
}

function namesAddon(module: string): boolean {
  return /\.node\b["'`]/.test(readFileSync(module, "utf8"))
}

const nativeAddon: ImportFailure = {
  message: "it is a native addon, which cannot be loaded",
  from: "us",
  about: null,
}

/** The folder of the npm package to which a file belongs. */
export function findPackageRoot(path: string, folder: string): string | undefined {
  const root = join(folder, installFolder, "/")
  if (!path.startsWith(root)) return undefined
  const [id = "", , first = "", second = ""] = path.slice(root.length).split("/")
  return join(root, id, "node_modules", first.startsWith("@") ? join(first, second) : first)
}

function findStaticFailure(
  entry: string,
  folder: string,
  inputs: Metafile["inputs"],
  natives: ReadonlyMap<string, string>,
): ImportFailure | undefined {
  const seen = new Set([entry])
  for (const module of seen) {
    if (natives.has(join(folder, module))) return { ...nativeAddon, about: toName(module) }
    for (const { path, kind } of inputs[module]?.imports ?? []) {
      if (kind !== "import-statement") continue
      const message = toMessage(path)
      if (message !== undefined) return { message, from: "esbuild", about: null }
      seen.add(path)
    }
  }
  return undefined
}

function toMessage(path: string): string | undefined {
  if (path.startsWith(`${namespaces.absent}:`))
    return `Could not resolve "${path.slice(namespaces.absent.length + 1)}"`
  const isFile = !path.includes(":")
  return isFile && !canBundle(path)
    ? `No loader is configured for "${extname(path)}" files: ${path}`
    : undefined
}

/** `name/path` of a file in a package. */
function toName(module: string): string {
  return module.slice(module.lastIndexOf("node_modules/") + "node_modules/".length)
}
