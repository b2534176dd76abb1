import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "../list-files.ts"
import { type Area, findArea, isTest } from "./areas.ts"
import { findCycles, type ImportGraph } from "./find-cycles.ts"
import { readPackages, resolveImport } from "./resolve-import.ts"
import { scanImports } from "./scan-imports.ts"

/** Checks a tree against the import rule. Returns a sentence per violation. */
export function checkImports(root: string): string[] {
  const files = listFiles(root).filter((path) =>
    /^(packages|bench|scripts)\/.*\.(m?[jt]s|[jt]sx)$/.test(path),
  )
  const graph = readGraph(root, files)
  return [
    ...files.flatMap(checkName),
    ...[...graph].flatMap(([importer, targets]) =>
      targets.flatMap((target) => checkImport(importer, target)),
    ),
    ...findCycles(graph).map((cycle) => `${cycle[0]}: is in an import cycle: ${cycle.join(" → ")}`),
  ]
}

function readGraph(root: string, files: readonly string[]): ImportGraph {
  const packages = readPackages(root)
  return new Map(
    files.map((path) => {
      const specifiers = scanImports(path, readFileSync(join(root, path), "utf8"))
      const targets = specifiers.map((specifier) => resolveImport(root, packages, path, specifier))
      return [path, [...new Set(targets.filter((target) => target !== undefined))]]
    }),
  )
}

function checkName(path: string): string[] {
  if (/(^|\/)utils?(\/|\.[a-z]+$)/.test(path))
    return [`${path}: utils is not a name: call it after what it does`]
  if (/^packages\/[^/]+\/src\//.test(path) && !isTest(path) && !findArea(path))
    return [`${path}: is in no area of scripts/imports/areas.ts`]
  return []
}

function checkImport(importer: string, target: string): string[] {
  const wall = checkDoor(importer, target)
  if (wall.length > 0) return wall
  if (isTest(importer)) return checkTest(importer, target)
  // Benchmarks start the same services and fakes as the tests do.
  if (isBench(importer) && (target.startsWith("packages/server/test/support/") || isDoor(target)))
    return []
  if (isTest(target)) return [`${importer}: cannot import ${target}: that is part of the tests`]
  const [from, to] = [findArea(importer), findArea(target)]
  // A target without an area is already refused by name, or is not code, such as package.json.
  if (!from || !to || mayImport(from, to)) return []
  return [
    `${importer}: cannot import ${target}: ${from.name} may import ${from.mayImport.join(", ") || "nothing of ours"}, not ${to.name}`,
  ]
}

function mayImport(from: Area, to: Area): boolean {
  return from === to || from.mayImport.includes(to.name)
}

/** A package with walls is imported by its entries alone. */
function checkDoor(importer: string, target: string): string[] {
  const to = findArea(target)
  if (!to?.doors || findArea(importer) === to || isDoor(target)) return []
  const [index] = to.doors
  return [
    `${importer}: cannot import ${target}: import "${index?.name}" instead, and export there what is missing`,
  ]
}

function isDoor(path: string): boolean {
  return findArea(path)?.doors?.some((door) => door.path === path) ?? false
}

function isBench(path: string): boolean {
  return path.startsWith("bench/")
}

/**
 * Tests may import what the code beside them may, their own package and those that it uses, the
 * contract, scripts that start what they need, and the cases of compatibility, which `npm run compat`
 * runs too.
 */
function checkTest(importer: string, target: string): string[] {
  const [from, to] = [findArea(importer), findArea(target)]
  const isAllowed =
    (from && to && mayImport(from, to)) ||
    // The tests of the server use each package that the server is made of.
    (packageOf(importer) === "packages/server" && isDoor(target)) ||
    packageOf(importer) === packageOf(target) ||
    ["packages/contract", "scripts"].includes(packageOf(target)) ||
    target.startsWith("bench/compat/")
  return isAllowed
    ? []
    : [`${importer}: cannot import ${target}: a test may import its own package and the contract`]
}

function packageOf(path: string): string {
  return path
    .split("/")
    .slice(0, path.startsWith("packages/") ? 2 : 1)
    .join("/")
}

if (import.meta.main) {
  const problems = checkImports(join(import.meta.dir, "..", ".."))
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
