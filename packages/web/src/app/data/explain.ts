import { ApiError, ConnectionError } from "@hamlet/contract/client"

/** What went wrong, in words for the person in front of the screen. */
export function explain(error: unknown): string {
  if (error instanceof ConnectionError)
    return "The server does not answer. It may be restarting; what you have typed is kept"
  if (error instanceof ApiError) return withIssues(error)
  return error instanceof Error ? error.message : String(error)
}

/** Whether there is nothing at that address, or nothing that this person may see. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

function withIssues({ message, issues }: ApiError): string {
  if (!issues || issues.length === 0) return message
  return `${message}: ${issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path} ${issue.message}`)).join("; ")}`
}
