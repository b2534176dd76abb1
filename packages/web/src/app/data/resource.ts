import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"

/**
 * Something that is fetched. What was there stays until its successor is there, so that nothing
 * jumps.
 */
export type Resource<Data> =
  | { readonly kind: "loading" }
  /** Stale while its successor is on its way. */
  | { readonly kind: "ready"; readonly data: Data; readonly isStale: boolean }
  | { readonly kind: "failed"; readonly error: unknown }

/** A resource on a page. */
export interface UsedResource<Data> {
  readonly state: Resource<Data>
  /** Fetches it again. */
  reload(): void
  /** Puts in what is known to be there now, after a change that was made here. */
  set(data: Data): void
}

/**
 * Fetches what `key` names, again whenever the key changes; undefined fetches nothing yet. Only the
 * latest answer counts. With `keepsPrevious` what another key named stays until its successor is
 * there: for lists whose filter changes with every letter.
 */
export function useResource<Data>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Data>,
  { keepsPrevious = false }: { readonly keepsPrevious?: boolean } = {},
): UsedResource<Data> {
  const state: Signal<Resource<Data>> = useSignal<Resource<Data>>({ kind: "loading" })
  const loadedKey = useSignal<string | undefined>(undefined)
  const attempt = useSignal(0)
  useEffect(() => {
    if (key === undefined) return
    const controller = new AbortController()
    const isAnother = loadedKey.peek() !== key
    const before = state.peek()
    if (before.kind !== "ready" || (isAnother && !keepsPrevious)) state.value = { kind: "loading" }
    else state.value = { ...before, isStale: true }
    load(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return
        loadedKey.value = key
        state.value = { kind: "ready", data, isStale: false }
      },
      (error: unknown) => {
        if (controller.signal.aborted) return
        const known = state.peek()
        // What is shown stays when it cannot be fetched again: it was true a moment ago, and
        // whoever asks regularly asks again.
        if (known.kind === "ready" && !isAnother) state.value = { ...known, isStale: false }
        else {
          loadedKey.value = key
          state.value = { kind: "failed", error }
        }
      },
    )
    return () => controller.abort()
  }, [key, attempt.value])
  // The first time a page is drawn with another key, nothing has been asked for yet: what the last
  // one named must not go by this one's name.
  const isOfKey = keepsPrevious || loadedKey.value === key
  return {
    state: isOfKey ? state.value : { kind: "loading" },
    reload() {
      attempt.value += 1
    },
    set(data) {
      loadedKey.value = key
      state.value = { kind: "ready", data, isStale: false }
    },
  }
}
