import { signal } from "@preact/signals"
import type { Api } from "./api.ts"
import { toApi } from "./to-api.ts"

/** How it stands with the description of the API. */
export type DocumentState =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly api: Api }
  | { readonly kind: "failed"; readonly message: string }

/** Where the description is. */
export const documentPath = "/openapi.json"

/** The description, as far as it is there. */
export const documentState = signal<DocumentState>({ kind: "loading" })

/** Fetches the description; also the way out of a failure. */
export async function loadDocument(): Promise<void> {
  documentState.value = { kind: "loading" }
  documentState.value = await fetchDocument().catch(
    (): DocumentState => failed("the server does not answer"),
  )
}

async function fetchDocument(): Promise<DocumentState> {
  const response = await fetch(documentPath, {
    credentials: "omit",
    headers: { accept: "application/json" },
  })
  if (!response.ok)
    return failed(`the server answered ${`${response.status} ${response.statusText}`.trim()}`)
  const api = toApi(await response.json().catch(() => undefined))
  return api ? { kind: "ready", api } : failed("what the server sent is no OpenAPI 3 document")
}

function failed(reason: string): DocumentState {
  return { kind: "failed", message: `Cannot load ${documentPath}: ${reason}` }
}
