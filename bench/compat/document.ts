import { type Section, writeSection } from "../harness/document.ts"
import { isClear, toLine } from "./outcome.ts"
import type { ApiResult, PackageResult } from "./run-cases.ts"

interface Result {
  readonly deno?: string | undefined
  readonly hamlet?: string | undefined
  readonly notRun?: string
}

/** Writes the table of packages, by topic. */
export function writePackages(results: readonly PackageResult[]): Promise<void> {
  const ran = results.filter(({ notRun }) => notRun === undefined)
  const columns = ["topic", "package", "Deno", "Hamlet", "what fails"]
  return write("packages", toRunSum(ran), columns, results, ({ topic, name, version }) => [
    topic,
    `\`${name}\` ${version}`,
  ])
}

/** Writes the table of vals with several packages. */
export function writeCombinations(results: readonly PackageResult[]): Promise<void> {
  const columns = ["packages", "Deno", "Hamlet", "what fails"]
  return write("packages together", toRunSum(results), columns, results, ({ packages }) => [
    packages.map(({ name }) => `\`${name}\``).join(", "),
  ])
}

/** Writes the table of APIs, by group. */
export function writeApis(results: readonly ApiResult[]): Promise<void> {
  const sum = `Plain Deno passes ${countPassed(results, "deno")} of ${results.length} checks, Hamlet ${countPassed(results, "hamlet")}.`
  const columns = ["group", "API", "Deno", "Hamlet", "what a val gets instead"]
  return write("APIs", sum, columns, results, ({ group, name }) => [group, name])
}

function toRunSum(results: readonly Result[]): string {
  return `Plain Deno runs ${countPassed(results, "deno")} of ${results.length}, Hamlet runs ${countPassed(results, "hamlet")}.`
}

/** A table: what `toNames` says of each result, what came of it on both hosts, and why. */
async function write<One extends Result>(
  name: string,
  sum: string,
  columns: readonly string[],
  results: readonly One[],
  toNames: (result: One) => readonly string[],
): Promise<void> {
  if (results.length === 0) return
  const section: Section = {
    file: "compatibility.md",
    begin: `<!-- ${name}: written by npm run compat -->`,
    end: `<!-- end of ${name} -->`,
  }
  const rows = results.map((result) => {
    const { deno, hamlet, notRun } = result
    const marks = [deno, hamlet].map((failure) => (notRun ? "not run" : toMark(failure)))
    return [...toNames(result), ...marks, toReason(notRun ?? hamlet ?? withoutPaths(deno))]
  })
  await writeSection(section, [sum, "", ...toTable(columns, rows)].join("\n"))
}

/** How many results of a host have no failure. */
export function countPassed(results: readonly Result[], host: "deno" | "hamlet"): number {
  return results.filter((result) => result[host] === undefined).length
}

/** Results whose reason the author of a val cannot understand. */
export function findUnclear<T extends { readonly hamlet?: string | undefined }>(
  results: readonly T[],
): readonly T[] {
  return results.filter(({ hamlet }) => hamlet !== undefined && !isClear(hamlet))
}

function toMark(failure: string | undefined): string {
  return failure === undefined ? "yes" : "no"
}

/** What Deno says names the folders of its cache and of the case, which are those of one machine. */
function withoutPaths(reason: string | undefined): string | undefined {
  return reason?.replaceAll(/(?:file:\/\/)?\/[^\s'"]*\/(?:npm\/[^/]+|case\d+)\//g, "")
}

function toReason(reason: string | undefined): string {
  return reason === undefined ? "" : toLine(reason).replaceAll("|", "\\|").replaceAll("<", "&lt;")
}

function toTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const toRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`
  return [toRow(columns), `|${columns.map(() => "---").join("|")}|`, ...rows.map(toRow)]
}
