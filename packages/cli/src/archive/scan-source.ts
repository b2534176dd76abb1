import { CliError } from "../cli-error.ts"
import { toText } from "../terminal/read-input.ts"
import { formatVersion, type Manifest, manifestPath } from "./archive-format.ts"
import type { ImportSource } from "./import-source.ts"
import { findImportedNames, type LinkedVal, orderVals } from "./order-vals.ts"
import { readVal } from "./read-val.ts"

/** A file that is a val. */
export interface ScannedVal extends LinkedVal {
  readonly path: string
}

/** A file that should be a val and is none. */
export interface BadFile {
  readonly path: string
  readonly error: CliError
}

/** What there is to import, in the order in which it should be. */
export interface ScannedSource {
  readonly vals: readonly ScannedVal[]
  readonly bad: readonly BadFile[]
  /** Whose archive it is. */
  readonly user: string | undefined
}

/**
 * Looks at every file once and keeps of each what an order needs: all vals together may be more
 * than fits into memory.
 */
export async function scanSource(source: ImportSource): Promise<ScannedSource> {
  const user = await readUser(source)
  const vals: ScannedVal[] = []
  const bad: BadFile[] = []
  const paths = new Map<string, string>()
  for (const path of source.paths) {
    try {
      const { name, versions } = readVal(path, await source.read(path))
      const other = paths.get(name.toLowerCase())
      if (other !== undefined)
        throw new CliError(
          "failed",
          `Cannot import "${path}": its val "${name}" is in "${other}" already`,
        )
      paths.set(name.toLowerCase(), path)
      vals.push({ path, name, imports: findImportedNames(versions.at(-1)?.code ?? "") })
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      bad.push({ path, error })
    }
  }
  return { vals: orderVals(vals), bad, user }
}

async function readUser(source: ImportSource): Promise<string | undefined> {
  const bytes = await source.readManifest()
  if (!bytes) return undefined
  const manifest = parseManifest(toText(bytes, `"${manifestPath}"`))
  if (typeof manifest.formatVersion === "number" && manifest.formatVersion > formatVersion)
    throw new CliError(
      "failed",
      `Cannot read the archive: it is of format ${manifest.formatVersion}, and this program knows ${formatVersion}`,
      {
        advice: "a newer one does",
      },
    )
  return typeof manifest.user === "string" ? manifest.user : undefined
}

/** Others have files of that name too, in which nothing of this is. */
function parseManifest(text: string): Partial<Manifest> {
  try {
    const value: Partial<Manifest> | null = JSON.parse(text)
    return value?.format === "hamlet-archive" ? value : {}
  } catch {
    throw new CliError("failed", `Cannot read "${manifestPath}": it is not JSON`)
  }
}
