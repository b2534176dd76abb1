import { type DenoSetup, runDeno } from "./run-deno.ts"

/** What `deno info --json` says of a file and all that it imports, as far as it matters here. */
export interface DenoInfo {
  readonly modules: readonly InfoModule[]
  readonly redirects: Readonly<Record<string, string>>
  readonly npmPackages: Readonly<Record<string, InfoPackage>>
}

/** A module, or what is known of one that is not there. */
export interface InfoModule {
  readonly specifier: string
  readonly kind?: string
  readonly error?: string
  /** Where Deno keeps it. */
  readonly local?: string
  readonly mediaType?: string
  readonly npmPackage?: string
  readonly dependencies?: readonly InfoDependency[]
}

/** One specifier in a module. `code` is missing where it is only imported for its types. */
export interface InfoDependency {
  readonly specifier: string
  readonly code?: { readonly specifier?: string; readonly error?: string; readonly span: InfoSpan }
  readonly isDynamic?: boolean
  readonly assertionType?: string
  readonly npmPackage?: string
}

/** The first place in the code, from the first character up to, but not with, the last. */
export interface InfoSpan {
  readonly start: InfoPosition
  readonly end: InfoPosition
}

/** Lines end with \n and nothing else; characters are code points. Both are counted from 0. */
export interface InfoPosition {
  readonly line: number
  readonly character: number
}

/** An npm package of a certain version, with certain versions of those that it wants beside it. */
export interface InfoPackage {
  readonly name: string
  readonly version: string
  readonly dependencies: readonly string[]
  readonly localPath?: string
}

const switches = ["--quiet", "--no-config", "--no-lock", "--vendor=false"]

/** Reads one file, and nothing that it imports. */
export function readFileInfo(place: DenoSetup, file: string): Promise<DenoInfo> {
  return readInfo(place, ["--no-remote", "--no-npm", "--node-modules-dir=none", file])
}

/** Fetches all that a file imports. */
export function fetchInfo(place: DenoSetup, file: string): Promise<DenoInfo> {
  return readInfo(place, [...fetchSwitches, file])
}

/**
 * Why Deno cannot fetch what a file imports, which `deno info` does not always tell; undefined when
 * it can.
 */
export async function findFetchError(place: DenoSetup, file: string): Promise<string | undefined> {
  const { code, stderr } = await runDeno(place, ["cache", ...switches, ...fetchSwitches, file])
  return code === 0 ? undefined : toMessage(stderr)
}

/** Any host may be asked: the way out decides. Nothing allows the scripts of packages to run. */
const fetchSwitches = ["--allow-import", "--node-modules-dir=auto"]

async function readInfo(place: DenoSetup, args: readonly string[]): Promise<DenoInfo> {
  const { stdout, stderr } = await runDeno(place, ["info", "--json", ...switches, ...args])
  try {
    const info = JSON.parse(stdout) as Partial<DenoInfo>
    return {
      modules: info.modules ?? [],
      redirects: info.redirects ?? {},
      npmPackages: info.npmPackages ?? {},
    }
  } catch {
    throw new Error(toMessage(stderr))
  }
}

function toMessage(stderr: string): string {
  return stderr.trim().replace(/^error: /, "") || "it says nothing"
}
