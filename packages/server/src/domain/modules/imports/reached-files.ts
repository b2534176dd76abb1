import type { ValConfig } from "@hamlet/contract/deno-json"
import { resolveMapped, toOwnPath } from "@hamlet/contract/import-map"
import { createTimeSlice } from "@hamlet/kit"
import type { SourceFile } from "@hamlet/npm"

/**
 * The paths of the files that these files import, directly or not, and their own. Strings are read
 * instead of imports, as for programs: one that is no import only adds a file.
 */
export async function findReachedFiles(
  files: readonly SourceFile[],
  config: ValConfig | undefined,
  roots: readonly string[],
): Promise<ReadonlySet<string>> {
  const codes = new Map(files.map(({ path, code }) => [path, code]))
  const reached = new Set(roots)
  const pace = createTimeSlice()
  for (const path of reached)
    for (const [, , text = ""] of codes.get(path)?.matchAll(stringPattern) ?? []) {
      await pace()
      const target = toPath(text, path, config)
      if (target !== undefined && codes.has(target)) reached.add(target)
    }
  return reached
}

const stringPattern = /(["'`])(?=([^"'`\s\\]{1,600})\1)/g
/** The files of a version, as a relative path resolves in them. */
const root = "http://val/"

function toPath(text: string, path: string, config: ValConfig | undefined): string | undefined {
  const mapped = config && resolveMapped(config.map, text, path)
  if (mapped !== undefined) return toOwnPath(mapped)
  if (!/^\.\.?\//.test(text)) return undefined
  return URL.parse(text, root + path)?.pathname.slice(1)
}
