import { ApiError, ConnectionError } from "@hamlet/contract/client"

/** The reason of a failure, as users read it. */
export function explain(error: unknown): string {
  if (error instanceof ConnectionError)
    return "The server does not respond. It may be restarting; your input is kept"
  if (error instanceof ApiError) return withIssues(error)
  return error instanceof Error ? error.message : String(error)
}

/** Whether there is nothing at that address, or nothing that this user may see. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

function withIssues({ message, issues }: ApiError): string {
  if (!issues || issues.length === 0) return message
  return `${message}: ${issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path} ${issue.message}`)).join("; ")}`
}
