import { toOpenApi } from "@hamlet/contract/openapi"
import { type Api, findOperation, type Operation } from "../../src/docs/operations/api.ts"
import { toApi } from "../../src/docs/operations/to-api.ts"

/** The document that the server serves. */
export const realDocument: unknown = JSON.parse(
  JSON.stringify(toOpenApi({ baseUrl: "http://localhost:8080", version: "0.1.0" })),
)

/** The document as the page reads it. */
export const realApi: Api = toApi(realDocument) ?? fail("the document is not read")

/** One of the operations. */
export function realOperation(id: string): Operation {
  return findOperation(realApi, id) ?? fail(`there is no operation ${id}`)
}

function fail(reason: string): never {
  throw new Error(reason)
}
