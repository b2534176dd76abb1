import { toOpenApi } from "@hamlet/contract/openapi"
import {
  type ApiDocument,
  listOperations,
  type Operation,
} from "../../src/app/reference/document.ts"

/** The document that the server serves, as the page reads it. */
export const realApi = JSON.parse(
  JSON.stringify(toOpenApi({ baseUrl: "http://localhost:8080", version: "0.1.0" })),
) as ApiDocument

/** All operations of the document. */
export const realOperations: readonly Operation[] = listOperations(realApi)

/** One of the operations. */
export function realOperation(id: string): Operation {
  const operation = realOperations.find(({ operationId }) => operationId === id)
  if (!operation) throw new Error(`there is no operation ${id}`)
  return operation
}
