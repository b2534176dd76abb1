import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { findDeno } from "../../../../../../scripts/find-deno.ts"
import { listNames, readNodeTypes, removeGlobals } from "./build-node-types.ts"
import { nodeGlobals, prelude } from "./prelude.ts"
import { markUnavailable } from "./unavailable.ts"

/** The names of the written files. */
export interface TypeLibs {
  /** The libraries of the language and of Deno, which every val has. */
  readonly libs: string
  /** The modules of Node, for vals that import one. */
  readonly nodeTypes: string
  /** The types of the DOM, for code that pages load. */
  readonly domTypes: string
}

/** Writes the built-in types of vals. Done when the app is built, with the Deno that runs vals. */
export async function writeTypeLibs(folder: string): Promise<TypeLibs> {
  const deno = await readDenoTypes()
  const libs = {
    ...readLibs(libPattern),
    "/lib/deno.d.ts": deno,
    "/lib/prelude.d.ts": prelude,
    "/lib/node-globals.d.ts": nodeGlobals,
    "/lib/text-module.d.ts": "declare const text: string\nexport default text\n",
  }
  const nodeTypes = readNodeTypes(findPackage("@types/node"), [deno, prelude])
  return {
    libs: await writeFiles(folder, "type-libs", libs),
    nodeTypes: await writeFiles(folder, "node-types", nodeTypes),
    domTypes: await writeFiles(folder, "dom-types", readDomTypes(deno)),
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

function readLibs(pattern: RegExp): Record<string, string> {
  const folder = join(findPackage("typescript-js"), "lib")
  const names = readdirSync(folder).filter((name) => pattern.test(name))
  return Object.fromEntries(
    names.map((name) => [`/lib/${name}`, readFileSync(join(folder, name), "utf8")]),
  )
}

const domPattern = /^lib\.dom(\.[a-z]+)?\.d\.ts$/
/** Declared by both, and merged: Deno adds to them. */
const mergedNames = ["Console", "ImportMeta"]

/**
 * The libraries of the DOM, and what Deno and our prelude declare beside them, for code that runs in
 * a page and in a val.
 */
function readDomTypes(deno: string): Record<string, string> {
  const dom = Object.fromEntries(
    // A root file with such a comment replaces the libraries of the language.
    Object.entries(readLibs(domPattern)).map(([name, text]) => [
      name,
      text.replaceAll(/^\/\/\/ <reference no-default-lib=.*$/gm, ""),
    ]),
  )
  const names = new Set(Object.values(dom).flatMap(listNames))
  for (const name of mergedNames) names.delete(name)
  return {
    ...dom,
    "/dom/deno.d.ts": removeGlobals(deno, names),
    "/dom/prelude.d.ts": removeGlobals(prelude, names),
  }
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
