import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { tryListEntries } from "@hamlet/kit"
import { readPackage } from "../package-json.ts"
import { installFolder } from "./bundle-plugin.ts"

/** Packages that do nothing but find and load the native addon of another package. */
const loaderNames: ReadonlySet<string> = new Set([
  "bindings",
  "node-gyp-build",
  "node-gyp-build-optional-packages",
  "@mapbox/node-pre-gyp",
  "node-pre-gyp",
  "pkg-prebuilds",
])

/** Whether importing this means loading a native addon. */
export function isNativeName(specifier: string): boolean {
  return specifier.endsWith(".node") || loaderNames.has(specifier)
}

/**
 * Removes native addons and the packages that load them, because a sandbox cannot load them. So esbuild
 * reports which modules need one, and leaves those alone that can do without: it knows whether a
 * call of `require` is in a `try`.
 */
export function removeNativeAddons(folder: string): NativeAddons {
  const platformNames = new Set<string>()
  const paths = new Set<string>()
  for (const { name, path } of listPackages(join(folder, installFolder))) {
    if (loaderNames.has(name)) rmSync(path, { recursive: true })
    else if (removeAddons(path)) {
      paths.add(path)
      if (isForPlatform(path)) platformNames.add(name)
    }
  }
  return { platformNames, paths }
}

/** The packages that contain native addons. */
export interface NativeAddons {
  /** The names of those that contain an addon for one platform and nothing else. */
  readonly platformNames: ReadonlySet<string>
  /** The folders of all. */
  readonly paths: ReadonlySet<string>
}

interface InstalledPackage {
  readonly name: string
  readonly path: string
}

/** Packages are folders; links beside them are what they depend on. */
function listPackages(root: string): InstalledPackage[] {
  return listFolders(root).flatMap((id) => {
    const folder = join(root, id, "node_modules")
    return listFolders(folder).flatMap((name) =>
      name.startsWith("@")
        ? listFolders(join(folder, name)).map((part) => ({
            name: `${name}/${part}`,
            path: join(folder, name, part),
          }))
        : [{ name, path: join(folder, name) }],
    )
  })
}

/** The folders at a path; none if no npm package was needed. */
function listFolders(path: string): string[] {
  return tryListEntries(path).flatMap((entry) => (entry.isDirectory() ? entry.name : []))
}

function removeAddons(folder: string): boolean {
  let hasAddon = false
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) hasAddon = removeAddons(path) || hasAddon
    else if (entry.name.endsWith(".node")) {
      rmSync(path)
      hasAddon = true
    }
  }
  return hasAddon
}

function isForPlatform(folder: string): boolean {
  const { os, cpu } = readPackage(folder) ?? {}
  return os !== undefined || cpu !== undefined
}
