import type { ifExists } from "@hamlet/contract"
import type { z } from "zod"
import type { ImportedHistory, ImportedVersion } from "./imported-history.ts"
import type { Val, ValChange } from "./vals.ts"

/** What becomes of a val that exists and differs. */
export type IfExists = z.infer<typeof ifExists>

/** The val that has the name of one that is imported. */
export interface ExistingVal {
  readonly val: Val
  /** The highest number that a version of it has ever had. */
  readonly versionLast: number
  /** The imported versions that the val has already, with the same number and the same code. */
  readonly known: ReadonlySet<number>
}

/** What is said of an imported val beside its code; what is undefined stays as it is. */
export type ImportedSettings = Pick<ValChange, "privacy" | "type" | "readme">

/** What is to be done about an imported val. */
export type ImportPlan =
  | { readonly kind: "create" }
  | {
      readonly kind: "change"
      readonly versions: readonly ImportedVersion[]
      readonly settings: ImportedSettings
    }
  | { readonly kind: "leave"; readonly status: "unchanged" | "skipped" | "failed" }

/**
 * Decides about a val, given the one that has its name. What was imported before is there already,
 * so that to import it again does nothing, also when the val has got further versions since. Of a
 * history that goes on where the val is, the rest is added as it was; of one that went another way
 * only the code that it came to, because the number of a version is never used again.
 */
export function planImport(
  imported: { readonly history: ImportedHistory; readonly settings: ImportedSettings },
  existing: ExistingVal | undefined,
  ifExists: IfExists,
  at: number,
): ImportPlan {
  if (!existing) return { kind: "create" }
  const { history } = imported
  const versions = findNewVersions(history, existing, at)
  const hasMovedOn = versions.length === 0 && history.last.source.code !== existing.val.code
  const settings = hasMovedOn ? {} : findNewSettings(imported.settings, existing.val)
  if (versions.length === 0 && Object.keys(settings).length === 0)
    return { kind: "leave", status: "unchanged" }
  if (ifExists !== "version")
    return { kind: "leave", status: ifExists === "skip" ? "skipped" : "failed" }
  return { kind: "change", versions, settings }
}

function findNewVersions(
  history: ImportedHistory,
  existing: ExistingVal,
  at: number,
): readonly ImportedVersion[] {
  const { val, versionLast, known } = existing
  const { versions, last } = history
  if (history.isNumbered && versions.every(({ version }) => known.has(version))) return []
  const goesOn =
    history.isNumbered &&
    versions.every(({ version }) => version > versionLast || known.has(version))
  const added = goesOn
    ? versions.filter(({ version }) => version > versionLast)
    : [{ ...last, version: versionLast + 1, createdAt: at }]
  // Code that equals the current version's makes no version, here as everywhere.
  const first = added.findIndex(({ source }) => source.code !== val.code)
  const fresh = first === -1 ? [] : added.slice(first)
  return fresh.map((version) => ({
    ...version,
    createdAt: Math.max(version.createdAt, val.updatedAt),
  }))
}

function findNewSettings(settings: ImportedSettings, val: Val): ImportedSettings {
  const { privacy, type, readme } = settings
  return {
    ...(privacy !== undefined && privacy !== val.privacy && { privacy }),
    ...(type !== undefined && type !== val.type && { type }),
    ...(readme !== undefined && readme !== val.readme && { readme }),
  }
}
