import { CliError } from "../cli-error.ts"
import { toText } from "../terminal/read-input.ts"
import { formatVersion, type Manifest, manifestPath } from "./archive-format.ts"
import type { ImportSource } from "./import-source.ts"
import { findImportedNames, type LinkedVal, orderVals } from "./order-vals.ts"
import { readVal } from "./read-val.ts"

/** A file that contains a val. */
export interface ScannedVal extends LinkedVal {
  readonly path: string
}

/** A file that does not contain a valid val. */
export interface BadFile {
  readonly path: string
  readonly error: CliError
}

/** What to import, in import order. */
export interface ScannedSource {
  readonly vals: readonly ScannedVal[]
  readonly bad: readonly BadFile[]
  /** The owner of the archive. */
  readonly user: string | undefined
}

/**
 * Reads every file once and keeps only what sorting needs: all vals together may not fit into
 * memory.
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
          `Cannot import "${path}": its val "${name}" is also in "${other}"`,
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
      `Cannot read the archive: it has format ${manifest.formatVersion}, and this program supports ${formatVersion}`,
      {
        advice: "use a newer version of this program",
      },
    )
  return typeof manifest.user === "string" ? manifest.user : undefined
}

/** Other services may use a file of that name for something else. */
function parseManifest(text: string): Partial<Manifest> {
  try {
    const value: Partial<Manifest> | null = JSON.parse(text)
    return value?.format === "hamlet-archive" ? value : {}
  } catch {
    throw new CliError("failed", `Cannot read "${manifestPath}": it is not JSON`)
  }
}
