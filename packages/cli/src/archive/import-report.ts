import type { Context } from "../context.ts"
import type { Progress } from "../terminal/progress.ts"
import { toOneLine } from "../terminal/visible.ts"
import type { ImportResult } from "./send-vals.ts"

type Status = ImportResult["status"]

/** The result of a file; an unreadable one has no name. */
type Outcome = Omit<ImportResult, "name"> & { readonly name: string | null }

/** Prints each val as it is imported, and the totals at the end. */
export function createReport({ output }: Context, dryRun: boolean) {
  const counts: Record<Status, number> = {
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    failed: 0,
  }
  let progress: Progress | undefined
  const note = (text: string) => (progress ? progress.note(text) : output.note(text))
  return {
    get failed() {
      return counts.failed
    },
    useProgress(shown: Progress) {
      progress = shown
    },
    add(path: string, result: Outcome) {
      const { name, status, version, message = "" } = result
      counts[status] += 1
      if (name !== null) progress?.add(1)
      if (output.mode === "json") output.json({ ...result, file: path, ...(dryRun && { dryRun }) })
      else if (output.mode === "plain")
        output.line([status, name ?? path, version ?? "", toOneLine(message)].join("\t"))
      if (output.mode !== "json" && message !== "")
        note(status === "created" ? `${name}: ${message}` : message)
    },
    /** `isBroken` when the import stopped early; its error is printed next. */
    end(isBroken: boolean) {
      const counted = Object.entries(counts).filter(([, count]) => count > 0)
      const text = `${dryRun ? "Would be: " : ""}${counted.map(([status, count]) => `${count} ${status}`).join(", ")}`
      if (output.mode !== "json" && counted.length > 0)
        note(
          isBroken
            ? `${text}, then the import stopped; run the same command again to continue`
            : text,
        )
      progress = undefined
    },
  }
}

/** What an import prints. */
export type ImportReport = ReturnType<typeof createReport>
