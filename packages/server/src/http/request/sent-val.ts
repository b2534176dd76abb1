import { importedVal, limits, toIssueText } from "@hamlet/contract"
import type { ImportItem } from "../../domain/vals/import-vals.ts"

/**
 * One val of many is checked by itself, so that it fails by itself. Of what is wrong with it, the
 * first thing is told.
 */
export function toSentVal(value: unknown): ImportItem {
  const { data, error } = importedVal.safeParse(value, { error: toIssueText })
  if (data) return { val: data }
  const [issue] = error.issues
  const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : ""
  return { name: toSentName(value), problem: `${where}${issue?.message ?? "it is not valid"}` }
}

/** What it was called, if that was a text: whoever sent it wants to find it. */
function toSentName(value: unknown): string {
  const name =
    typeof value === "object" && value !== null && "name" in value ? value.name : undefined
  return typeof name === "string" ? name.slice(0, limits.nameCharsMax).toWellFormed() : ""
}
