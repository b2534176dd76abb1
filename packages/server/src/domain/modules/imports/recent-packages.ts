import type { ValConfig } from "@hamlet/contract/deno-json"
import { RecentMap } from "@hamlet/kit"
import type { SourceFile } from "@hamlet/npm"
import type { Clock } from "../../clock.ts"
import type { Resolution } from "../lockfiles.ts"
import { decidePackages } from "./carry-over.ts"
import type { WrittenPackage } from "./text-packages.ts"

/** The packages that versions were resolved to a short while ago. */
export type RecentPackages = ReturnType<typeof createRecentPackages>

/** A file, and the packages that it imports; undefined if only the resolver can tell. */
export interface ListedSource extends SourceFile {
  readonly packages: readonly WrittenPackage[] | undefined
}

const limits = {
  /** How long a range such as `npm:zod@4` keeps its meaning in other versions. */
  msMax: 600_000,
  ownersMax: 500,
  perOwnerMax: 20,
  /** The names of exports in what is kept: the largest packages are resolved again. */
  exportsMax: 2_000,
}

interface Recent {
  readonly at: number
  readonly resolution: Resolution
}

/**
 * Keeps what versions were resolved to, so that another version with the same packages takes them
 * over, as the next version of a val does. Only among those of one owner: who takes over the resolver
 * by code of theirs must not reach the vals of others.
 */
export function createRecentPackages({ now }: Pick<Clock, "now">) {
  const owners = new RecentMap<string, RecentMap<string, Recent>>(limits.ownersMax)
  return {
    note(ownerId: string, resolution: Resolution): void {
      const { imports, bundle, leftOut } = resolution
      const exported = imports.reduce((sum, one) => sum + one.exports.length, 0)
      const isWhole = imports.every(({ error, places }) => error === null && places.length > 0)
      if (bundle === null || !isWhole || exported > limits.exportsMax) return
      const recent = owners.get(ownerId) ?? new RecentMap<string, Recent>(limits.perOwnerMax)
      owners.set(ownerId, recent)
      const key = toKey(imports.map(({ specifier }) => specifier))
      // Texts and places are those of the version.
      const kept = {
        ...resolution,
        files: [],
        imports: imports.map((one) => ({ ...one, places: [] })),
      }
      recent.set(key, { at: now(), resolution: leftOut ? { ...kept, leftOut } : kept })
    },
    /** Whether there may be something for a version of that owner. */
    has: (ownerId: string) => owners.has(ownerId),
    /** What another version with the same packages was resolved to, with the places in these files. */
    find(
      ownerId: string,
      files: readonly ListedSource[],
      config: ValConfig | undefined,
    ): Resolution | undefined {
      const specifiers = files.flatMap(({ packages = [] }) => packages.map((one) => one.specifier))
      const recent = owners.get(ownerId)?.get(toKey(specifiers))
      if (!recent || now() - recent.at > limits.msMax) return undefined
      const changed = files.map(({ path, code, packages }) => ({
        path,
        isEnd: false,
        from: undefined,
        text: { code, listPackages: () => packages },
      }))
      const before = { state: "ready" as const, resolution: recent.resolution }
      const decision = decidePackages(before, changed, config)
      return typeof decision === "object" ? decision.carried : undefined
    },
  }
}

function toKey(specifiers: readonly string[]): string {
  return [...new Set(specifiers)].toSorted().join("\n")
}
