import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

/** The module through which the main thread calls the functions of this rule. */
const boundedModule = "packages/kit/src/hostile-input/bounded.ts"

const serverSource =
  /^packages\/(?:database|http1|kit|npm|owner-databases|sandbox|server)\/src\/.*(?<!\.test)\.ts$/

/**
 * Code of the server that does not run on its main thread while it serves, with the reason. A folder
 * ends with a slash.
 */
const exempt: readonly (readonly [path: string, reason: string])[] = [
  ["packages/server/src/commands/", "the command line, before and after serving"],
  ["packages/server/src/config/", "reads the operator's settings, once"],
  ["packages/server/src/doctor/", "a process of its own"],
  ["packages/server/src/http/mcp/apply-edits.ts", "a thread"],
  ["packages/server/src/http/mcp/mcp-server.ts", "a thread"],
  ["packages/server/src/http/mcp/mcp-thread.ts", "a thread"],
  ["packages/server/src/http/mcp/tools/", "a thread"],
  ["packages/server/src/http/request/body.ts", "a thread above 32 KB: large-bodies.ts"],
  ["packages/server/src/http/request/large-body-thread.ts", "a thread"],
  ["packages/npm/src/tool/", "a tool in a sandbox"],
  ["packages/server/src/mail/outbound/compile-message.ts", "a thread above 64 KB"],
  ["packages/sandbox/src/emits/transpile-tool.ts", "a tool in a sandbox"],
  ["packages/sandbox/src/guest-client/guest-values.ts", "a thread above 32 KB"],
  ["packages/owner-databases/src/worker/", "a worker process above 32 KB"],
  ["packages/sandbox/src/worker-processes/serve-requests.ts", "a worker process"],
  ["packages/server/src/storage/backup/", "a thread, and the command that restores"],
  ["packages/server/src/storage/migrations/", "before serving"],
  ["packages/database/src/sqlite/serve-writes.ts", "a thread"],
]
/** Helpers of tests. */
const testing = /\/testing\//

const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g

/** Each call, and what may stand directly behind it because it cannot be slow or multiply. */
const calls: readonly (readonly [name: string, call: RegExp, harmless?: RegExp])[] = [
  ["JSON.parse", /\bJSON\.parse\b/g],
  ["JSON.stringify", /\bJSON\.stringify\b/g],
  ["decodeURIComponent", /\bdecodeURI(?:Component)?\b/g],
  // A pattern that is written in the code is read in a review.
  ["RegExp", /\bRegExp\(/g, /^(?:"[^"]*"|'[^']*'|`[^`$]*`)\s*[,)]/],
  // A number, or a limit with a name; `this` is an argument of a method of ours.
  ["repeat", /\.repeat\(/g, /^(?:[\d_]+|limits\.\w+)\)|^this\b/],
  ["padStart", /\.pad(?:Start|End)\(/g, /^(?:[\d_]+|limits\.\w+)\s*[,)]/],
  // At most as long as what it replaces: a character for a character, or nothing.
  [
    "replaceAll",
    /\.replaceAll\(/g,
    /^\s*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n])+\/\w*),\s*"(?:|\\?.|\\u\w{4})"\s*,?\s*\)/,
  ],
]

/**
 * Functions that multiply their input, or that are slow on hostile input, are called on the main
 * thread through one module, which takes a limit.
 */
export function checkBoundedCalls({ root, files }: Tree): string[] {
  return files.filter(isOnMainThread).flatMap((path) => {
    const code = readFileSync(join(root, path), "utf8").replace(comment, (text) =>
      text.replaceAll(/[^\n]/g, " "),
    )
    return calls.flatMap(([name, call, harmless]) =>
      Array.from(code.matchAll(call))
        .filter((found) => !harmless?.test(code.slice(found.index + found[0].length)))
        .map((found) => {
          const line = code.slice(0, found.index).split("\n").length
          return `${path}:${line}: calls ${name} on the main thread; ${boundedModule} has it with a limit`
        }),
    )
  })
}

function isOnMainThread(path: string): boolean {
  if (!serverSource.test(path) || path === boundedModule || testing.test(path)) return false
  return !exempt.some(([prefix]) =>
    prefix.endsWith("/") ? path.startsWith(prefix) : path === prefix,
  )
}
