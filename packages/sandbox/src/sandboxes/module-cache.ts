import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { sha256, toOwnJson } from "@hamlet/kit"
import type { ProgramModule } from "../program/program-module.ts"

/**
 * Puts a module into Deno's cache of downloaded modules, so that `--cached-only` imports it
 * without a network. Deno does not document the layout of the cache: its version is pinned, and a
 * test imports a module from here. `link` puts a file there that it already has, and returns
 * whether it did: to write one takes longer, and on a busy disk a hundred times as long.
 */
export function writeModule(
  denoDir: string,
  module: ProgramModule,
  link: (module: ProgramModule, path: string) => boolean = () => false,
): void {
  const path = toModulePath(denoDir, module)
  const folder = dirname(path)
  if (!existsSync(folder)) mkdirSync(folder, folderMode)
  if (link(module, path)) return
  // Through a link of the same URL, it would change the file that others have too.
  rmSync(path, { force: true })
  writeFileSync(path, toModuleFile(module), fileMode)
}

/** Writes a module without blocking, if no run waits for it. */
export async function writeModuleLater(denoDir: string, module: ProgramModule): Promise<void> {
  const path = toModulePath(denoDir, module)
  await mkdir(dirname(path), folderMode)
  await writeFile(path, toModuleFile(module), fileMode)
}

const contentTypes: Readonly<Record<NonNullable<ProgramModule["type"]>, string>> = {
  tsx: "text/tsx",
  ts: "text/typescript",
  jsx: "text/jsx",
  js: "text/javascript",
  json: "application/json",
  text: "text/plain",
}

const folderMode = { recursive: true, mode: 0o755 } as const
const fileMode = { mode: 0o644 } as const

function toModulePath(denoDir: string, { url }: ProgramModule): string {
  return join(denoDir, "remote", toCachePath(url))
}

/** The file of a module. Deno wants a URL in it, and does not compare it with that of the module. */
export function toModuleFile({
  code,
  type = "tsx",
  location,
}: Pick<ProgramModule, "code" | "type" | "location">): string {
  const headers = location === undefined ? { "content-type": contentTypes[type] } : { location }
  const metadata = toOwnJson({ headers, url: "", time: 1 })
  return `${code}\n// denoCacheMetadata=${metadata}`
}

/** Host names become folder names, so only valid host names are accepted. */
const hostPattern = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/

/** The path of a module in each of Deno's caches. */
export function toCachePath(text: string): string {
  const url = URL.parse(text)
  const scheme = url?.protocol.slice(0, -1)
  if (!url || (scheme !== "http" && scheme !== "https") || !hostPattern.test(url.hostname))
    throw new Error(`Cannot put module "${text}" into the cache: it has no HTTP address`)
  const host = url.port === "" ? url.hostname : `${url.hostname}_PORT${url.port}`
  return join(scheme, host, sha256(url.pathname + url.search).toString("hex"))
}
