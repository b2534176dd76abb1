import { type Signal, signal } from "@preact/signals"
import type { Operation } from "../operations/api.ts"
import type { Schemas } from "../schemas/schema.ts"
import { type Draft, emptyDraft, findObstacle, toRequest } from "./request.ts"
import { type Answer, sendRequest } from "./send-request.ts"
import { token } from "./token.ts"

/** How it stands with the request of an operation. */
export type SendState =
  | { readonly kind: "idle" }
  | { readonly kind: "sending"; readonly stop: () => void }
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly message: string }

/**
 * The form of an operation and what came of it. It outlives going to another operation and back.
 */
export interface Exchange {
  readonly draft: Signal<Draft>
  readonly state: Signal<SendState>
  /** Whether the example is looked at although there is a real answer. */
  readonly isExampleShown: Signal<boolean>
}

const exchanges = new Map<string, Exchange>()

/** Whether the form is open: once opened, it is open on every operation. */
export const isTryItOpen = signal(false)

/** The exchange of an operation. */
export function exchangeOf(schemas: Schemas, operation: Operation): Exchange {
  const known = exchanges.get(operation.id)
  if (known) return known
  const exchange = {
    draft: signal(emptyDraft(schemas, operation)),
    state: signal<SendState>({ kind: "idle" }),
    isExampleShown: signal(false),
  }
  exchanges.set(operation.id, exchange)
  return exchange
}

/** Sends what the form describes. */
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
      signal: controller.signal,
    }
    state.value = { kind: "answered", answer: await sendRequest(request, options) }
  } catch (error) {
    state.value = { kind: "failed", message: describeFailure(error, controller.signal.aborted) }
  }
}

function describeFailure(error: unknown, isStopped: boolean): string {
  if (isStopped) return "Stopped before the answer was complete"
  return `Cannot send the request: ${error instanceof Error ? error.message : String(error)}`
}
