import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { findDeno } from "../../../../../scripts/find-deno.ts"
import { readNodeTypes } from "./build-node-types.ts"
import { nodeGlobals, prelude } from "./prelude.ts"
import { markUnavailable } from "./unavailable.ts"

/** The names of the written files. */
export interface TypeLibs {
  /** The libraries of the language and of Deno, which every val has. */
  readonly libs: string
  /** The modules of Node, for vals that import one. */
  readonly nodeTypes: string
}

/** Writes the built-in types of vals. Done when the app is built, with the Deno that runs vals. */
export async function writeTypeLibs(folder: string): Promise<TypeLibs> {
  const deno = await readDenoTypes()
  const libs = {
    ...readLanguageLibs(),
    "/lib/deno.d.ts": deno,
    "/lib/prelude.d.ts": prelude,
    "/lib/node-globals.d.ts": nodeGlobals,
  }
  const nodeTypes = readNodeTypes(findPackage("@types/node"), [deno, prelude])
  return {
    libs: await writeFiles(folder, "type-libs", libs),
    nodeTypes: await writeFiles(folder, "node-types", nodeTypes),
  }
}

async function writeFiles(
  folder: string,
  kind: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const text = JSON.stringify(files)
  const name = `${kind}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}.json`
  await writeFile(join(folder, name), text)
  return name
}

/** Without the browser libraries, and without the files that only combine others. */
const libPattern = /^lib\.(decorators|es5|es20\d\d|esnext)(\.(?!full)[a-z.]+)?\.d\.ts$/

function readLanguageLibs(): Record<string, string> {
  const folder = join(findPackage("typescript-js"), "lib")
  const names = readdirSync(folder).filter((name) => libPattern.test(name))
  return Object.fromEntries(
    names.map((name) => [`/lib/${name}`, readFileSync(join(folder, name), "utf8")]),
  )
}

async function readDenoTypes(): Promise<string> {
  const child = Bun.spawn([findDeno(), "types"], {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  })
  const [types, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`Cannot read the types of Deno: ${stderr.trim()}`)
  // The output joins many files, which reference each other by names that only Deno knows.
  return markUnavailable(types.replaceAll(/^\/\/\/ <reference .*$/gm, ""))
}

function findPackage(name: string): string {
  return dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir))
}
