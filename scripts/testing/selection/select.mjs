import { listTestFiles } from "./test-files.mjs"

/** Options of `bun test` whose value is the next argument. */
const optionsWithValue = new Set([
  "-t",
  "--test-name-pattern",
  "--timeout",
  "--rerun-each",
  "--seed",
  "--max-concurrency",
  "--reporter",
  "--reporter-outfile",
])

/** Names that are neither a folder nor a file. */
const aliases = new Map([["browser", "packages/web/test/"]])

/**
 * The arguments of `bun test` for those of `npm test`: the name of a suite becomes its files. bun
 * itself takes "cli" for a part of a path, as in packages/contract/src/client.ts.
 * @param {string} root
 * @param {readonly string[]} args
 * @returns {string[]}
 */
export function selectTests(root, args) {
  const files = listTestFiles(root)
  const folders = new Set(files.map((file) => file.split("/").slice(0, 2).join("/")))
  return args.flatMap((arg, index) => {
    if (arg.startsWith("-") || optionsWithValue.has(args[index - 1] ?? "")) return [arg]
    const name = folders.has(`packages/${arg}`) ? `packages/${arg}` : arg
    const suite = files.filter((file) => isOfSuite(file, name)).map((file) => `./${file}`)
    return suite.length > 0 ? suite : [arg]
  })
}

/**
 * A suite is a folder with its test files, or one test file. The name of a package is that package
 * alone, although others have suites about it.
 * @param {string} file
 * @param {string} name a path from the root, or the end of one
 */
function isOfSuite(file, name) {
  const path = name
    .replace(/^\.\//, "")
    .replace(/\/$/, "")
    .replace(/\.test\.\w+$/, "")
  const alias = aliases.get(path)
  if (alias !== undefined) return file.startsWith(alias)
  const withoutEnding = `/${file.replace(/\.test\.\w+$/, "")}`
  return withoutEnding.includes(`/${path}/`) || withoutEnding.endsWith(`/${path}`)
}
