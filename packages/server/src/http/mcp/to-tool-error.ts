import type { ErrorCode } from "@hamlet/contract"
import { ApiError } from "@hamlet/contract/client"
import { ToolError } from "./tool.ts"

/** What an assistant can do about an error. Codes whose message says it already are missing. */
const advice: Partial<Readonly<Record<ErrorCode, string>>> = {
  version_conflict: "Call read_val to get the current code and version, then edit again",
  val_not_found: 'Name it as "username/name"; call search_vals or list_my_vals to find it',
  version_not_found: "Call list_versions to see which versions exist",
  run_not_found: "Call list_runs to see the runs of this account",
  blob_not_found: "Call list_blobs to see the keys",
  not_owner: "Only the owner of a val may change it; create a val of your own with create_val",
  name_taken: "Choose another name, or change the existing val with edit_val",
  not_http: "Only vals of type http have a web address; run this one with run_val",
  packages_pending: "The packages of this version are being installed; try again in a few seconds",
  rate_limited: "Wait before the next call",
  too_many_runs: "Wait until other runs have ended",
  missing_scope: "The user must give this assistant a token with that scope",
}

/** The text that an assistant gets for an error; undefined for a bug, which the caller logs. */
export function toToolErrorText(error: unknown): string | undefined {
  if (error instanceof ToolError) return error.message
  if (!(error instanceof ApiError)) return undefined
  const issues = error.issues.map(({ path, message }) => `- ${path || "arguments"}: ${message}`)
  const hint = error.code === "unknown" ? undefined : advice[error.code]
  return [`${error.message} [${error.code}]`, ...issues, ...(hint ? [`${hint}.`] : [])].join("\n")
}
