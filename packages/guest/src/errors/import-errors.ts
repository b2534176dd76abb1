import {
  hardenPattern,
  matchPattern,
  replacePattern,
  stringSlice,
  stringStartsWith,
} from "../primordials.ts"
import { isModuleOfVal, nameModules } from "./stack-text.ts"

interface Named {
  readonly name: string
  readonly message: string
}

type Explanation = (found: string, more: string | undefined) => string

const isRemote = "it was not fetched when this version was saved; only literal imports are"

/** Deno's messages and ours. The first group is what could not be imported. */
const explanations: readonly (readonly [RegExp, Explanation])[] = (
  [
    [/^Specifier not found in cache: "([^"]*)"/, (url) => `"${url}": ${explainMissing(url)}`],
    [/^Requires import access to "([^"]*?)(?::\d+)?"/, (host) => `from "${host}": ${isRemote}`],
    [/^(npm) specifiers were requested/, (registry) => `from ${registry}: ${isRemote}`],
    [/^JSR package manifest for '([^']*)'/, (name) => `"jsr:${name}": ${isRemote}`],
    [/^Import "([^"]*)" not a dependency(\n {2}hint: [^\n]*"node:)?/, explainBare],
    [
      /^Unsupported scheme "[^"]*" for module "([^"]*)"/,
      (url) => `"${url}": the module does not exist`,
    ],
    [
      /^Remote modules are not allowed to import local modules[\s\S]*Importing: (\S*)/,
      (url) => `"${url}": a val has no files to import`,
    ],
  ] satisfies (readonly [RegExp, Explanation])[]
).map(([pattern, explain]) => [hardenPattern(pattern), explain])

/** The server's list, which a test compares with this one. */
const standardModules = "API_URL, blob, email, fetch, openai, rpc, sqlite, sqlite2, utils"
const standardModule = hardenPattern(/^https?:\/\/[^/]+\/(?:v\/@?)?std\/([\w.-]+)/)
/** A path of a file, which Deno reads as one of the server. */
const ownFile = hardenPattern(/^https?:\/\/[^/]+(\/tmp\/.+)$/)
const valName = hardenPattern(/\/v\/@?(\w+\/\w+)(?:@\d+)?(?:\?[^/]*)?$/)

/** Three different things can be missing. */
function explainMissing(url: string): string {
  const file = matchPattern(url, ownFile)
  if (file !== null) return `a file is imported by its address, "file://${file[1]}"`
  const standard = matchPattern(url, standardModule)
  if (standard !== null)
    return `this server has no standard module "${standard[1]}" (it has ${standardModules})`
  if (!isModuleOfVal(url)) return isRemote
  const val = matchPattern(url, valName)
  return val === null
    ? "a val is one file; other code is imported from the address of its own val"
    : `there is no val "${val[1]}" on this server that the author of this val can see`
}

function explainBare(name: string, isBuiltIn: string | undefined): string {
  return `"${name}": ${isBuiltIn === undefined ? `packages are imported as "npm:${name}"` : `built-in modules are imported as "node:${name}"`}`
}

const missingExport = hardenPattern(
  /^The requested module '[^']*' does not provide an export named/,
)
const syntaxPrefix = "SyntaxError: "
/** The location of the import, which the stack contains too. */
export const importLocation = hardenPattern(/\n {4}at \S+$/)

/**
 * Rewrites Deno's message about a module that it cannot load for the author of a val. Other errors
 * stay as they are.
 */
export function explainImportError(error: Named): Named {
  const { name, message } = error
  if (name === "SyntaxError")
    return matchPattern(message, missingExport) === null
      ? error
      : { name, message: nameModules(message) }
  if (name !== "TypeError") return error
  // Deno reports syntax errors of its compiler like this.
  if (stringStartsWith(message, syntaxPrefix)) {
    return {
      name: "SyntaxError",
      message: stringSlice(replacePattern(message, importLocation, ""), syntaxPrefix.length),
    }
  }
  for (let index = 0; index < explanations.length; index += 1) {
    const [pattern, explain] = explanations[index] as readonly [RegExp, Explanation]
    const found = matchPattern(message, pattern)
    if (found !== null)
      return { name, message: `Cannot import ${explain(found[1] as string, found[2])}` }
  }
  return error
}
