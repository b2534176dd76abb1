import { type Signal, signal } from "@preact/signals"
import type { Operation } from "../operations/api.ts"
import type { Schemas } from "../schemas/schema.ts"
import { emptyDraft, findObstacle, type RequestDraft, toRequest } from "./request.ts"
import { type ApiResponse, sendRequest } from "./send-request.ts"
import { signedInAs } from "./session.ts"
import { token } from "./token.ts"

/** The state of the request of an operation. */
export type SendState =
  | { readonly kind: "idle" }
  | { readonly kind: "sending"; readonly stop: () => void }
  | { readonly kind: "received"; readonly response: ApiResponse }
  | { readonly kind: "failed"; readonly message: string }

/** The form of an operation and its response. It stays while the user views other operations. */
export interface Exchange {
  readonly draft: Signal<RequestDraft>
  readonly state: Signal<SendState>
  /** Whether the example is shown although a response was received. */
  readonly isExampleShown: Signal<boolean>
}

const exchanges = new Map<string, Exchange>()

/** Whether the form is open, on every operation. */
export const isTryItOpen = signal(false)

/** The exchange of an operation. */
export function exchangeOf(schemas: Schemas, operation: Operation): Exchange {
  const existing = exchanges.get(operation.id)
  if (existing) return existing
  const exchange = {
    draft: signal(emptyDraft(schemas, operation)),
    state: signal<SendState>({ kind: "idle" }),
    isExampleShown: signal(false),
  }
  exchanges.set(operation.id, exchange)
  return exchange
}

/** Sends the request that the form describes. */
export async function send(schemas: Schemas, operation: Operation): Promise<void> {
  const { draft, state, isExampleShown } = exchangeOf(schemas, operation)
  if (state.value.kind === "sending") return
  isExampleShown.value = false
  const request = toRequest(schemas, operation, draft.value, false)
  const obstacle = findObstacle(request)
  if (obstacle !== undefined) {
    state.value = { kind: "failed", message: obstacle }
    return
  }
  const controller = new AbortController()
  state.value = { kind: "sending", stop: () => controller.abort() }
  try {
    const options = {
      origin: location.origin,
      token: token.value.trim(),
      usesSession: signedInAs.value !== undefined,
      signal: controller.signal,
    }
    state.value = { kind: "received", response: await sendRequest(request, options) }
  } catch (error) {
    state.value = { kind: "failed", message: describeFailure(error, controller.signal.aborted) }
  }
}

function describeFailure(error: unknown, isStopped: boolean): string {
  if (isStopped) return "Cancelled before the response was complete"
  return `Cannot send the request: ${error instanceof Error ? error.message : String(error)}`
}
