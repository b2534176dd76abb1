/**
 * Converts modules of vals to JavaScript with `deno transpile`, which does what Deno does when it
 * loads a module. The server starts it in a sandbox, with a ToolPaths as its argument.
 */
import { spawnSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import vm from "node:vm"
import type { ToolPaths } from "../sandbox/profiles/tool-profile.ts"

/** The request of the tool: JSON on its standard input. */
export interface TranspileRequest {
  readonly modules: readonly { readonly code: string; readonly type: string }[]
  /** Longer JavaScript is left out. */
  readonly bytesMax: number
}

/** The first line of its response, as JSON. The JavaScript of the modules follows. */
export interface TranspileResponse {
  /** The version of Deno. */
  readonly deno: string
  /** In bytes; null for modules that have no JavaScript. */
  readonly sizes: readonly (number | null)[]
}

const mapReference = /\/\/# sourceMappingURL=[^\n]*\n?$/
/** The function to which older decorators are converted. */
const helper = "_ts_decorate("
/** When it loads a module, Deno refuses these, which `deno transpile` does not. */
const importsWithAssert = /\sassert\s/

const { deno, scratch } = JSON.parse(process.argv[2] ?? "{}") as ToolPaths
const inFolder = join(scratch, "in")
const outFolder = join(scratch, "out")
/**
 * Without this option, `deno transpile` converts all classes for decorators, also those that have
 * none, which Deno does not do when it loads a module. With it, decorators are the older ones, so
 * modules that have decorators are converted once more.
 */
const configPath = join(scratch, "config.json")
respond(transpile(JSON.parse(readFileSync(0, "utf8")) as TranspileRequest))

function transpile({ modules, bytesMax }: TranspileRequest): readonly (Buffer | undefined)[] {
  mkdirSync(inFolder)
  const names = modules.map(({ type }, index) => `${index}.${type}`)
  for (const [index, { code }] of modules.entries())
    writeFileSync(join(inFolder, names[index] ?? ""), code)
  writeFileSync(configPath, `{ "compilerOptions": { "experimentalDecorators": true } }`)
  run(names, [`--config=${configPath}`])
  const decorated = names.filter((_, index) => findScript(index, bytesMax)?.includes(helper))
  if (decorated.length > 0) run(decorated, ["--no-config"])
  return modules.map(({ code }, index) => read(index, code, bytesMax))
}

/** Deno stops at the first module that does not parse, and some modules end it. */
function run(names: readonly string[], switches: readonly string[]): void {
  for (const name of names) rmSync(toOutPath(name, ".js"), { force: true })
  runOnce(names, switches)
  const left = names.filter((name) => !existsSync(toOutPath(name, ".js")))
  if (names.length > 1) for (const name of left) runOnce([name], switches)
}

function runOnce(names: readonly string[], switches: readonly string[]): void {
  const all = [...switches, "--quiet", "--no-lock", "--source-map=separate"]
  spawnSync(deno, ["transpile", ...all, `--outdir=${outFolder}`, ...names], {
    cwd: inFolder,
    stdio: "ignore",
    env: { DENO_DIR: `${scratch}/deno`, HOME: scratch, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  })
}

function toOutPath(name: string, ending: ".js" | ".js.map"): string {
  return join(outFolder, `${Number.parseInt(name, 10)}${ending}`)
}

/** The JavaScript of a module, if there is some that is not too long. */
function findScript(index: number, bytesMax: number): string | undefined {
  const path = toOutPath(String(index), ".js")
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? bytesMax
  return size < bytesMax ? readFileSync(path, "utf8").replace(mapReference, "") : undefined
}

function read(index: number, code: string, bytesMax: number): Buffer | undefined {
  const javascript = findScript(index, bytesMax)
  const mapPath = toOutPath(String(index), ".js.map")
  if (javascript === undefined || importsWithAssert.test(code) || !isModule(javascript))
    return undefined
  if (!existsSync(mapPath)) return undefined
  const { names, mappings } = JSON.parse(readFileSync(mapPath, "utf8")) as SourceMap
  // It names no file, so that stack traces show the module's own address.
  const json = JSON.stringify({ version: 3, sources: [""], names, mappings })
  const address = `data:application/json;base64,${Buffer.from(json).toString("base64")}`
  const newline = javascript.endsWith("\n") ? "" : "\n"
  const bytes = Buffer.from(`${javascript}${newline}//# sourceMappingURL=${address}`)
  return bytes.length > bytesMax ? undefined : bytes
}

interface SourceMap {
  readonly names: readonly string[]
  readonly mappings: string
}

/** Some TypeScript, such as `export =`, stays as it is. Deno explains it when it loads the module. */
function isModule(javascript: string): boolean {
  try {
    new vm.SourceTextModule(javascript)
    return true
  } catch {
    return false
  }
}

function respond(found: readonly (Buffer | undefined)[]): void {
  const head: TranspileResponse = {
    deno: process.versions.deno ?? "",
    sizes: found.map((bytes) => bytes?.length ?? null),
  }
  const parts = found.filter((bytes) => bytes !== undefined)
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...parts])
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
}
