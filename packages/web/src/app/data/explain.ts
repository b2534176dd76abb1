import { ApiError, ConnectionError } from "@hamlet/contract/client"

/** What users read when the server did not respond. */
export const noResponse = "The server does not respond. It may be restarting; your input is kept"

/** The reason of a failure, as users read it. */
export function explain(error: unknown): string {
  if (isConnectionError(error)) return noResponse
  if (error instanceof ApiError) return withIssues(error)
  return error instanceof Error ? error.message : String(error)
}

/** Whether the server did not respond. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof ConnectionError
}

/** Whether there is nothing at that address, or nothing that this user may see. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || isAboutAddress(error))
}

const namesInAddresses = ["run_id", "user_id", "username", "val_name", "webhook_id"]

/** No name or id looks like that part of the address. */
function isAboutAddress({ status, issues = [] }: ApiError): boolean {
  const isOfAddress = ({ path }: { readonly path: string }) => namesInAddresses.includes(path)
  return status === 400 && issues.length > 0 && issues.every(isOfAddress)
}

function withIssues({ message, issues }: ApiError): string {
  if (!issues || issues.length === 0) return message
  return `${message}: ${issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path} ${issue.message}`)).join("; ")}`
}
