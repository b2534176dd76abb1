import type { Client, Input, Item, PageName } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { api } from "../api.ts"
import { type UsedResource, useResource } from "./resource.ts"
import { sayFailed } from "./toasts.ts"

/** A list of which more can be asked for. */
export interface UsedPages<Element> extends UsedResource<Pages<Element>> {
  /** Fetches the next page and puts it at the end. */
  more(): Promise<void>
  readonly isLoadingMore: boolean
  /** Puts what is new on top and brings what is shown up to date, without losing the pages that were asked for. */
  refresh(): Promise<void>
}

interface Pages<Element> {
  readonly items: readonly Element[]
  readonly hasMore: boolean
}

/** The first page of a list, and more of it on demand. Undefined input fetches nothing yet. */
export function usePages<Name extends PageName>(name: Name, input: Input<Name> | undefined, limit = 50): UsedPages<Item<Name>> {
  const isLoadingMore = useSignal(false)
  const load = async (offset: number, signal?: AbortSignal): Promise<Pages<Item<Name>>> => {
    const call = api[name] as unknown as (input: object, options: object) => ReturnType<Client["listVals"]>
    const { data, links } = await call({ ...input, limit, offset }, { signal })
    return { items: data as unknown as Item<Name>[], hasMore: links.next !== undefined }
  }
  const key = input === undefined ? undefined : `${name} ${JSON.stringify(input)} ${limit}`
  const resource = useResource(key, (signal) => load(0, signal), { keepsPrevious: true })
  const { state } = resource
  const latestKey = useRef(key)
  latestKey.current = key
  /** What was asked for under another filter is no longer wanted. */
  const isWanted = () => latestKey.current === key
  return {
    ...resource,
    isLoadingMore: isLoadingMore.value,
    async more() {
      if (state.kind !== "ready" || isLoadingMore.value) return
      isLoadingMore.value = true
      try {
        const next = await load(state.data.items.length)
        if (isWanted()) resource.set({ items: withoutTwins([...state.data.items, ...next.items]), hasMore: next.hasMore })
      } catch (error) {
        sayFailed(error)
      } finally {
        isLoadingMore.value = false
      }
    },
    async refresh() {
      if (state.kind !== "ready" || state.isStale || isLoadingMore.value) return
      const newest = await load(0)
      if (isWanted()) resource.set(merge(newest, state.data))
    },
  }
}

/** The newest page before what is known; alone where nothing joins the two, since there would be a gap. */
function merge<Element>(newest: Pages<Element>, known: Pages<Element>): Pages<Element> {
  const ids = new Set(newest.items.map(toId))
  const rest = known.items.filter((item) => !ids.has(toId(item)))
  if (!newest.hasMore || rest.length === known.items.length) return newest
  return { items: [...newest.items, ...rest], hasMore: known.hasMore || rest.length === 0 }
}

/** While pages are turned, new elements push others onto the next page. */
function withoutTwins<Element>(items: readonly Element[]): readonly Element[] {
  return [...new Map(items.map((item) => [toId(item), item])).values()]
}

function toId(item: unknown): unknown {
  return (item as { readonly id?: string }).id ?? item
}
