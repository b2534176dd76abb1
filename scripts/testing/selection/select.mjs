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
 * The arguments of `bun test` for those of `npm test`: the name of a suite becomes its files, and any
 * other name the files with it in their paths. bun itself takes "cli" for a part of a path, as in
 * packages/contract/src/client.ts, and no part of a path beside a file.
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
    const suite = files.filter((file) => isOfSuite(file, name))
    const selected = suite.length > 0 ? suite : files.filter((file) => file.includes(arg))
    // bun says that there is no such file.
    return selected.length > 0 ? selected.map((file) => `./${file}`) : [arg]
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
