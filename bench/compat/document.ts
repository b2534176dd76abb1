import { join } from "node:path"
import { isClear, toLine } from "./outcome.ts"
import type { ApiResult, PackageResult } from "./run-cases.ts"

const path = join(import.meta.dir, "..", "..", "docs", "compatibility.md")

/** Writes a table into its section of the document. */
export async function writeSection(name: string, lines: readonly string[]): Promise<void> {
  const [begin, end] = [`<!-- ${name}: written by npm run compat -->`, `<!-- end of ${name} -->`]
  const document = await Bun.file(path).text()
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from)
    throw new Error(`Cannot write ${name}: docs/compatibility.md has no section for them`)
  const text = `${begin}\n\n${lines.join("\n")}\n\n`
  await Bun.write(path, document.slice(0, from) + text + document.slice(to))
}

/** The table of packages, by topic. */
export function toPackageLines(results: readonly PackageResult[]): string[] {
  const ran = results.filter(({ notRun }) => notRun === undefined)
  const rows = results.map(({ topic, name, version, deno, hamlet, notRun }) => [
    topic,
    `\`${name}\` ${version}`,
    notRun ? "not run" : toMark(deno),
    notRun ? "not run" : toMark(hamlet),
    toReason(notRun ?? hamlet ?? withoutPaths(deno)),
  ])
  return [
    `Plain Deno runs ${countPassed(ran, "deno")} of ${ran.length}, Hamlet runs ${countPassed(ran, "hamlet")}.`,
    "",
    ...toTable(["topic", "package", "Deno", "Hamlet", "what fails"], rows),
  ]
}

/** The table of vals with several packages. */
export function toCombinationLines(results: readonly PackageResult[]): string[] {
  const rows = results.map(({ packages, deno, hamlet }) => [
    packages.map(({ name }) => `\`${name}\``).join(", "),
    toMark(deno),
    toMark(hamlet),
    toReason(hamlet ?? withoutPaths(deno)),
  ])
  return [
    `Plain Deno runs ${countPassed(results, "deno")} of ${results.length}, Hamlet runs ${countPassed(results, "hamlet")}.`,
    "",
    ...toTable(["packages", "Deno", "Hamlet", "what fails"], rows),
  ]
}

/** The table of APIs, by group. */
export function toApiLines(results: readonly ApiResult[]): string[] {
  const rows = results.map(({ group, name, deno, hamlet }) => [
    group,
    name,
    toMark(deno),
    toMark(hamlet),
    toReason(hamlet ?? withoutPaths(deno)),
  ])
  return [
    `Plain Deno passes ${countPassed(results, "deno")} of ${results.length} checks, Hamlet ${countPassed(results, "hamlet")}.`,
    "",
    ...toTable(["group", "API", "Deno", "Hamlet", "what a val gets instead"], rows),
  ]
}

/** How many results of a host have no failure. */
export function countPassed(
  results: readonly { readonly deno?: unknown; readonly hamlet?: unknown }[],
  host: "deno" | "hamlet",
): number {
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
