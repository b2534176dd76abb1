import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { dismiss, showOutdated } from "../frame/toast-list.ts"
import { comebacks } from "./connection.ts"
import { isConnectionError } from "./explain.ts"

/** Fetched data. Old data stays until new data arrives, so that nothing jumps. */
export type Resource<Data> =
  | { readonly kind: "loading" }
  /** Stale while it is being fetched again. */
  | { readonly kind: "ready"; readonly data: Data; readonly isStale: boolean }
  | { readonly kind: "failed"; readonly error: unknown }

/** A resource and how to change it. */
export interface UsedResource<Data> {
  readonly state: Resource<Data>
  /**
   * Fetches it again, after a change or because the user asks. When that fails, the user reads that
   * the data may be out of date, and can try again.
   */
  reload(): void
  /**
   * Fetches it again without being asked, unless that is under way: a slow response would never
   * arrive if each turn began anew. A failure says nothing: the next turn tries again.
   */
  poll(): void
  /**
   * Replaces the data, after a change that was made here. A response that is under way may be older
   * than the change: it is dropped.
   */
  set(data: Data): void
}

/**
 * Fetches the data of `key`, again whenever the key changes; undefined fetches nothing yet. Only the
 * latest response counts. With `keepsPrevious` the data of the previous key stays until new data
 * arrives: for lists whose filter changes with every letter.
 */
export function useResource<Data>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Data>,
  { keepsPrevious = false }: { readonly keepsPrevious?: boolean } = {},
): UsedResource<Data> {
  const state: Signal<Resource<Data>> = useSignal<Resource<Data>>({ kind: "loading" })
  const loadedKey = useSignal<string | undefined>(undefined)
  const attempt = useSignal({ isPoll: false })
  const loading = useRef<AbortController | undefined>(undefined)
  /** The message that the data may be out of date. */
  const warning = useRef<number | undefined>(undefined)
  const endWarning = () => {
    if (warning.current !== undefined) dismiss(warning.current)
    warning.current = undefined
  }
  const reload = () => {
    attempt.value = { isPoll: false }
  }
  useEffect(() => {
    if (key === undefined) return
    const controller = new AbortController()
    loading.current = controller
    const { isPoll } = attempt.peek()
    const isNewKey = loadedKey.peek() !== key
    const before = state.peek()
    if (before.kind === "ready" && (keepsPrevious || !isNewKey))
      state.value = { ...before, isStale: true }
    // The reason of a failure stays while a poll tries again.
    else if (before.kind !== "failed" || isNewKey || !isPoll) state.value = { kind: "loading" }
    load(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return
        loading.current = undefined
        endWarning()
        loadedKey.value = key
        state.value = { kind: "ready", data, isStale: false }
      },
      (error: unknown) => {
        if (controller.signal.aborted) return
        loading.current = undefined
        const current = state.peek()
        // Data that cannot be fetched again stays: it was true a moment ago.
        if (current.kind === "ready" && !isNewKey) {
          state.value = { ...current, isStale: false }
          if (isPoll) return
          endWarning()
          warning.current = showOutdated(error, reload)
        } else {
          loadedKey.value = key
          state.value = { kind: "failed", error }
        }
      },
    )
    return () => controller.abort()
  }, [key, attempt.value])
  useEffect(() => endWarning, [key])
  useEffect(() => {
    const current = state.peek()
    const isLost = current.kind === "failed" && isConnectionError(current.error)
    if (isLost || warning.current !== undefined) reload()
  }, [comebacks.value])
  return {
    state: toShown(state.value, loadedKey.value === key, keepsPrevious),
    reload,
    poll() {
      if (loading.current === undefined) attempt.value = { isPoll: true }
    },
    set(data) {
      loading.current?.abort()
      loading.current = undefined
      endWarning()
      loadedKey.value = key
      state.value = { kind: "ready", data, isStale: false }
    },
  }
}

/** On the first render with another key nothing is fetched yet: the old data is not that of the key. */
function toShown<Data>(
  state: Resource<Data>,
  isOfKey: boolean,
  keepsPrevious: boolean,
): Resource<Data> {
  if (isOfKey) return state
  if (!keepsPrevious) return { kind: "loading" }
  return state.kind === "ready" ? { ...state, isStale: true } : state
}
