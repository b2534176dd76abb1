import {
  hardenPattern,
  matchPattern,
  replacePattern,
  stringIndexOf,
  stringSlice,
  stringStartsWith,
} from "../primordials.ts"
import { findServerPath, isModuleOfVal, nameModules } from "./stack-text.ts"

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
const standardModules =
  "API_URL, blob, blob/main, email, fetch, openai, rpc, sqlite, sqlite/main, sqlite2, utils"
const standardModule = hardenPattern(/^https?:\/\/[^/]+\/(?:v\/@?)?std\/([\w.-]+)/)
/** A path of a file, which Deno reads as one of the server. */
const ownFile = hardenPattern(/^https?:\/\/[^/]+(\/tmp\/.+)$/)
const valName = hardenPattern(/\/v\/@?([\w-]+\/[\w-]+)(?:@[^/?]*)?(?:\?[^/]*)?$/)
/** A file in a version of a val: the user, the val, the version and the path. */
const versionedFile = hardenPattern(/\/v\/@?([\w-]+)\/([\w-]+)@(\d+)-[^/]+\/([^?]+)/)
/** A file of a val; for a file at the root of a val, `../user/val` looks like it too. */
const someFile = hardenPattern(/\/v\/@?([\w-]+\/[\w-]+)(?:@[^/]*)?\/([^?]+)/)
const bareName = hardenPattern(/^\w+(?:@\d+)?$/)

/** Several different things can be missing. */
function explainMissing(url: string): string {
  const file = matchPattern(url, ownFile)
  if (file !== null) return `a file is imported by its address, "file://${file[1]}"`
  const standard = matchPattern(url, standardModule)
  if (standard !== null)
    return `this server has no standard module "${standard[1]}" (it has ${standardModules})`
  if (!isModuleOfVal(url)) {
    const path = findServerPath(url)
    return path === undefined
      ? isRemote
      : `an address that begins with "/" means the root of the server, not of the val; files are imported by a relative path, such as ".${path}"`
  }
  const val = matchPattern(url, valName)
  if (val !== null) return `there is no val "${val[1]}" ${forAuthor}`
  return explainMissingFile(url)
}

const forAuthor = "on this server that the author of this val can see"

function explainMissingFile(url: string): string {
  const own = matchPattern(url, versionedFile)
  if (own !== null) {
    const [, user, val, version, path = ""] = own
    const file = `version ${version} of "${user}/${val}" has no file "${path}"`
    return matchPattern(path, bareName) === null
      ? file
      : `${file}, and there is no val "${user}/${path}" ${forAuthor}`
  }
  const found = matchPattern(url, someFile)
  if (found === null) return "it is not the address of a val or a file"
  const [, val = "", path = ""] = found
  const file = `there is no file "${path}" of a val "${val}"`
  return matchPattern(path, bareName) === null
    ? `${file} ${forAuthor}`
    : `${file}, and no val "${stringSlice(val, stringIndexOf(val, "/") + 1)}/${path}", ${forAuthor}`
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
