import { spawn } from "node:child_process"

/** How the tool starts Deno. */
export interface DenoSetup {
  readonly deno: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The output of `deno info --json` for a file and all its imports, as far as it is used here. */
export interface DenoInfo {
  readonly modules: readonly InfoModule[]
  readonly redirects: Readonly<Record<string, string>>
  readonly npmPackages: Readonly<Record<string, InfoPackage>>
}

/** A module, or what is known of one that failed. */
export interface InfoModule {
  readonly specifier: string
  readonly kind?: string
  readonly error?: string
  /** Its path in Deno's cache. */
  readonly local?: string
  readonly mediaType?: string
  readonly npmPackage?: string
  readonly dependencies?: readonly InfoDependency[]
}

/** One specifier in a module. A type-only import has no `code`. */
export interface InfoDependency {
  readonly specifier: string
  readonly code?: { readonly specifier?: string; readonly error?: string; readonly span: InfoSpan }
  readonly isDynamic?: boolean
  readonly assertionType?: string
  readonly npmPackage?: string
}

/** The first occurrence in the code, without `end`. */
export interface InfoSpan {
  readonly start: InfoPosition
  readonly end: InfoPosition
}

/** Lines end with \n only; characters are code points. Both count from 0. */
export interface InfoPosition {
  readonly line: number
  readonly character: number
}

/** An npm package in one version, with the ids of its dependencies. */
export interface InfoPackage {
  readonly name: string
  readonly version: string
  readonly dependencies: readonly string[]
  readonly localPath?: string
}

const switches = ["--quiet", "--no-config", "--no-lock", "--vendor=false"]

/** Reads one file without its imports. */
export function readFileInfo(setup: DenoSetup, file: string): Promise<DenoInfo> {
  return readInfo(setup, ["--no-remote", "--no-npm", "--node-modules-dir=none", file])
}

/** Fetches all imports of a file. When `signal` aborts, Deno is killed and it rejects. */
export function fetchInfo(setup: DenoSetup, file: string, signal?: AbortSignal): Promise<DenoInfo> {
  return readInfo(setup, [...fetchSwitches, file], signal)
}

/** Why Deno cannot fetch the imports of a file, which `deno info` does not always report. */
export async function findFetchError(setup: DenoSetup, file: string): Promise<string | undefined> {
  const { code, stderr } = await runDeno(setup, ["cache", ...switches, ...fetchSwitches, file])
  return code === 0 ? undefined : toMessage(stderr)
}

/** Any host is allowed here: the egress proxy decides. Install scripts of packages never run. */
const fetchSwitches = ["--allow-import", "--node-modules-dir=auto"]

async function readInfo(
  setup: DenoSetup,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<DenoInfo> {
  const { stdout, stderr } = await runDeno(setup, ["info", "--json", ...switches, ...args], signal)
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
  return stderr.trim().replace(/^error: /, "") || "unknown error"
}

const outputCharsMax = 64 * 1024 ** 2

/** How Deno ended, and what it wrote. */
interface DenoResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts Deno and waits for its end. Output beyond the limit is dropped. */
function runDeno(
  { deno, cwd, env }: DenoSetup,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<DenoResult> {
  return new Promise((resolve, reject) => {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"]
    const end = signal && { signal, killSignal: "SIGKILL" as const }
    const child = spawn(deno, args, { cwd, env: { ...env }, stdio, ...end })
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8")
      child[name].on("data", (text: string) => {
        if (said[name].length + text.length <= outputCharsMax) said[name] += text
      })
    }
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, ...said }))
  })
}
