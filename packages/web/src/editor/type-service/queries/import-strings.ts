import { standardModuleNames } from "@hamlet/contract/standard-modules"
import type { Project } from "../project.ts"
import type { Completions } from "../protocol.ts"

/** The part of a line before the cursor that is an unfinished module name. */
const pattern = /(?:\bfrom|\bimport)\s*(?:\(\s*)?(["'])([^"'\n]*)$/
const lineCharsMax = 500

/** The modules of Node that vals can use and that are asked for most. */
const nodeModules = [
  "assert",
  "async_hooks",
  "buffer",
  "crypto",
  "dns",
  "events",
  "fs",
  "fs/promises",
  "http",
  "https",
  "module",
  "net",
  "os",
  "path",
  "perf_hooks",
  "process",
  "querystring",
  "readline",
  "sqlite",
  "stream",
  "stream/promises",
  "string_decoder",
  "timers",
  "timers/promises",
  "tls",
  "url",
  "util",
  "zlib",
]

/** The completions inside the string of an import; undefined elsewhere. */
export function completeImport(
  project: Project,
  path: string,
  position: number,
): Completions | undefined {
  const before = project.getText(path).slice(Math.max(0, position - lineCharsMax), position)
  const typed = pattern.exec(before)?.[2]
  if (typed === undefined) return undefined
  const names = [
    ...project.listOwnFiles(path).map(({ specifier: name }) => ({ name, rank: 0 })),
    ...project.listMapped(path).map((name) => ({ name, rank: 0 })),
    ...project.listOwnVals().map((name) => ({ name, rank: 1 })),
    ...project.listPackages().map((name) => ({ name, rank: 2 })),
    ...standardModuleNames.map((name) => ({ name: `/std/${name}`, rank: 3 })),
    ...nodeModules.map((name) => ({ name: `node:${name}`, rank: 4 })),
  ]
  const known = new Map(names.map((one) => [one.name, one]))
  return {
    from: position - typed.length,
    to: position,
    isModule: true,
    options: [...known.values()]
      .toSorted((one, other) => one.rank - other.rank || one.name.localeCompare(other.name))
      .map(({ name, rank }) => ({ name, type: "namespace", rank })),
  }
}
