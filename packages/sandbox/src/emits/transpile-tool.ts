/**
 * Converts modules of programs to JavaScript with `deno transpile`, which does what Deno does when it
 * loads a module. The server starts it in a sandbox, with a ToolPaths as its argument. It uses
 * nothing of Node: loading that takes Deno longer than everything else here.
 */
import type { ToolPaths } from "../sandboxes/profiles/tool-profile.ts"

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

/** What it uses of Deno, whose types the server does not have. */
declare const Deno: {
  readonly args: readonly string[]
  readonly version: { readonly deno: string }
  readonly stdin: { readSync(bytes: Uint8Array): number | null }
  readonly stdout: { writeSync(bytes: Uint8Array): number }
  readonly Command: new (program: string, options: object) => { outputSync(): object }
  mkdirSync(path: string): void
  readTextFileSync(path: string): string
  removeSync(path: string): void
  statSync(path: string): { readonly size: number }
  writeTextFileSync(path: string, text: string): void
}

const mapReference = /\/\/# sourceMappingURL=[^\n]*\n?$/
/** The function to which older decorators are converted. */
const helper = "_ts_decorate("
/** When it loads a module, Deno refuses these, which `deno transpile` does not. */
const importsWithAssert = /\sassert\s/

const { deno, scratch } = JSON.parse(Deno.args[0] ?? "{}") as ToolPaths
const inFolder = `${scratch}/in`
const outFolder = `${scratch}/out`
/**
 * Without this option, `deno transpile` converts all classes for decorators, also those that have
 * none, which Deno does not do when it loads a module. With it, decorators are the older ones, so
 * modules that have decorators are converted once more.
 */
const configPath = `${scratch}/config.json`
respond(transpile(JSON.parse(readInput()) as TranspileRequest))

function readInput(): string {
  const decoder = new TextDecoder()
  const chunk = new Uint8Array(65_536)
  let text = ""
  for (let size = Deno.stdin.readSync(chunk); size !== null; size = Deno.stdin.readSync(chunk))
    text += decoder.decode(chunk.subarray(0, size), { stream: true })
  return text
}

function transpile({ modules, bytesMax }: TranspileRequest): readonly (Uint8Array | undefined)[] {
  Deno.mkdirSync(inFolder)
  const names = modules.map(({ type }, index) => `${index}.${type}`)
  for (const [index, { code }] of modules.entries())
    Deno.writeTextFileSync(`${inFolder}/${names[index]}`, code)
  Deno.writeTextFileSync(configPath, `{ "compilerOptions": { "experimentalDecorators": true } }`)
  run(names, [`--config=${configPath}`])
  const decorated = names.filter((_, index) => findScript(index, bytesMax)?.includes(helper))
  if (decorated.length > 0) run(decorated, ["--no-config"])
  return modules.map(({ code }, index) => read(index, code, bytesMax))
}

/** Deno stops at the first module that does not parse, and some modules end it. */
function run(names: readonly string[], switches: readonly string[]): void {
  for (const name of names)
    if (findSize(toOutPath(name)) !== undefined) Deno.removeSync(toOutPath(name))
  runOnce(names, switches)
  const left = names.filter((name) => findSize(toOutPath(name)) === undefined)
  if (names.length > 1) for (const name of left) runOnce([name], switches)
}

function runOnce(names: readonly string[], switches: readonly string[]): void {
  const all = [...switches, "--quiet", "--no-lock", "--source-map=separate"]
  new Deno.Command(deno, {
    args: ["transpile", ...all, `--outdir=${outFolder}`, ...names],
    cwd: inFolder,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    clearEnv: true,
    env: { DENO_DIR: `${scratch}/deno`, HOME: scratch, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  }).outputSync()
}

/** The JavaScript of a module. Beside it is its source map. */
function toOutPath(name: string): string {
  return `${outFolder}/${Number.parseInt(name, 10)}.js`
}

function findSize(path: string): number | undefined {
  try {
    return Deno.statSync(path).size
  } catch {
    return undefined
  }
}

/** The JavaScript of a module, if there is some that is not too long. */
function findScript(index: number, bytesMax: number): string | undefined {
  const path = toOutPath(String(index))
  const size = findSize(path) ?? bytesMax
  return size < bytesMax ? Deno.readTextFileSync(path).replace(mapReference, "") : undefined
}

function read(index: number, code: string, bytesMax: number): Uint8Array | undefined {
  const javascript = findScript(index, bytesMax)
  const mapPath = `${toOutPath(String(index))}.map`
  if (javascript === undefined || importsWithAssert.test(code)) return undefined
  if (findSize(mapPath) === undefined) return undefined
  const { names, mappings } = JSON.parse(Deno.readTextFileSync(mapPath)) as SourceMap
  // The source map names no file, so that stack traces show the module's own address.
  const json = JSON.stringify({ version: 3, sources: [""], names, mappings })
  const address = `data:application/json;base64,${toBytes(json).toBase64()}`
  const newline = javascript.endsWith("\n") ? "" : "\n"
  const bytes = toBytes(`${javascript}${newline}//# sourceMappingURL=${address}`)
  return bytes.length > bytesMax ? undefined : bytes
}

interface SourceMap {
  readonly names: readonly string[]
  readonly mappings: string
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function respond(found: readonly (Uint8Array | undefined)[]): void {
  const head: TranspileResponse = {
    deno: Deno.version.deno,
    sizes: found.map((bytes) => bytes?.length ?? null),
  }
  for (const bytes of [toBytes(`${JSON.stringify(head)}\n`), ...found])
    if (bytes) for (let at = 0; at < bytes.length; ) at += Deno.stdout.writeSync(bytes.subarray(at))
}
