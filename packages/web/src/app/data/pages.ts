import type { Client, Input, Item, PageName } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { api } from "../api.ts"
import { sayFailed } from "../frame/toast-list.ts"
import { type UsedResource, useResource } from "./resource.ts"

/** A list of which more can be asked for. */
export interface UsedPages<Element> extends UsedResource<Pages<Element>> {
  /** Fetches the next page and puts it at the end. */
  more(): Promise<void>
  readonly isLoadingMore: boolean
  /**
   * Puts what is new on top and brings what is shown up to date, without losing the pages that were
   * asked for.
   */
  refresh(): Promise<void>
}

interface Pages<Element> {
  readonly items: readonly Element[]
  /** The cursor of the next page; undefined where there is none. */
  readonly next: string | undefined
}

/** The first page of a list, and more of it on demand. Undefined input fetches nothing yet. */
export function usePages<Name extends PageName>(
  name: Name,
  input: Input<Name> | undefined,
  limit = 50,
): UsedPages<Item<Name>> {
  const isLoadingMore = useSignal(false)
  const load = async (cursor?: string, signal?: AbortSignal): Promise<Pages<Item<Name>>> => {
    const call = api[name] as unknown as (
      input: object,
      options: object,
    ) => ReturnType<Client["listVals"]>
    const { data, links } = await call({ ...input, limit, cursor }, { signal })
    return { items: data as unknown as Item<Name>[], next: toCursor(links.next) }
  }
  const key = input === undefined ? undefined : `${name} ${JSON.stringify(input)} ${limit}`
  const resource = useResource(key, (signal) => load(undefined, signal), { keepsPrevious: true })
  const { state } = resource
  const latestKey = useRef(key)
  latestKey.current = key
  /** What was asked for under another filter is no longer wanted. */
  const isWanted = () => latestKey.current === key
  return {
    ...resource,
    isLoadingMore: isLoadingMore.value,
    async more() {
      if (state.kind !== "ready" || state.data.next === undefined || isLoadingMore.value) return
      isLoadingMore.value = true
      try {
        const { items, next } = await load(state.data.next)
        if (isWanted()) resource.set({ items: withoutTwins([...state.data.items, ...items]), next })
      } catch (error) {
        sayFailed(error)
      } finally {
        isLoadingMore.value = false
      }
    },
    async refresh() {
      if (state.kind !== "ready" || state.isStale || isLoadingMore.value) return
      const newest = await load()
      if (isWanted()) resource.set(merge(newest, state.data))
    },
  }
}

/**
 * The newest page before what is known; alone where nothing joins the two, since there would be a
 * gap.
 */
function merge<Element>(newest: Pages<Element>, known: Pages<Element>): Pages<Element> {
  const ids = new Set(newest.items.map(toId))
  const rest = known.items.filter((item) => !ids.has(toId(item)))
  if (newest.next === undefined || rest.length === known.items.length) return newest
  return { items: [...newest.items, ...rest], next: rest.length === 0 ? newest.next : known.next }
}

function toCursor(link: string | undefined): string | undefined {
  return link === undefined ? undefined : (new URL(link).searchParams.get("cursor") ?? undefined)
}

/** An element that has changed meanwhile may have another place in the list. */
function withoutTwins<Element>(items: readonly Element[]): readonly Element[] {
  return [...new Map(items.map((item) => [toId(item), item])).values()]
}

function toId(item: unknown): unknown {
  return (item as { readonly id?: string }).id ?? item
}
