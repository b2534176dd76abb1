import { signal } from "@preact/signals"
import type { Api } from "./api.ts"
import { toApi } from "./to-api.ts"

/** Whether the OpenAPI document is loaded. */
export type DocumentState =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly api: Api }
  | { readonly kind: "failed"; readonly message: string }

/** The address of the OpenAPI document. */
export const documentPath = "/openapi.json"

/** The document, as far as it is loaded. */
export const documentState = signal<DocumentState>({ kind: "loading" })

/** Fetches the document, also again after a failure. */
export async function loadDocument(): Promise<void> {
  documentState.value = { kind: "loading" }
  documentState.value = await fetchDocument().catch(() => failed("the server does not respond"))
}

async function fetchDocument(): Promise<DocumentState> {
  const response = await fetch(documentPath, {
    credentials: "omit",
    headers: { accept: "application/json" },
  })
  if (!response.ok)
    return failed(`the server responded ${`${response.status} ${response.statusText}`.trim()}`)
  const api = toApi(await response.json().catch(() => undefined))
  return api ? { kind: "ready", api } : failed("the response is not an OpenAPI 3 document")
}

function failed(reason: string): DocumentState {
  return { kind: "failed", message: `Cannot load ${documentPath}: ${reason}` }
}
