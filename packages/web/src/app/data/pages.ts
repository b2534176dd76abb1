import type { Client, Input, Item, PageName } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { api } from "../api.ts"
import { showError } from "../frame/toast-list.ts"
import { type UsedResource, useResource } from "./resource.ts"

/** A list that is fetched page by page. */
export interface UsedPages<Element> extends UsedResource<Pages<Element>> {
  /** Fetches the next page and appends it. */
  more(): Promise<void>
  readonly isLoadingMore: boolean
  /** Puts new items on top and updates the others, without losing the pages fetched so far. */
  poll(): Promise<void>
  /** Replaces items, after a change that was made here. */
  change(toChanged: (item: Element) => Element): void
}

interface Pages<Element> {
  readonly items: readonly Element[]
  /** How many of them are from the first page. */
  readonly firstCount: number
  readonly pageCount: number
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/**
 * The lists on the screen. A change may end when the list that it began on has another filter, or has
 * been left and opened again. What was fetched meanwhile may be older than the change, so that every
 * list of the same route is reloaded.
 */
const shown = new Set<{ readonly name: PageName; readonly reload: () => void }>()

/** The input of a list of vals that shows neither code nor readmes: they may be megabytes. */
export const withoutTexts = { omit: ["code", "readme"] } as const

/** The first page of a list, and more on demand. */
export function usePages<Name extends PageName>(
  name: Name,
  input: Input<Name>,
  limit = 50,
): UsedPages<Item<Name>> {
  const isLoadingMore = useSignal(false)
  const load = async (cursor?: string, signal?: AbortSignal): Promise<Pages<Item<Name>>> => {
    const call = api[name] as unknown as (
      input: object,
      options: object,
    ) => ReturnType<Client["listVals"]>
    const { data, links } = await call({ ...input, limit, cursor }, { signal })
    const items = data as unknown as Item<Name>[]
    return { items, firstCount: items.length, pageCount: 1, next: toCursor(links.next) }
  }
  const key = `${name} ${JSON.stringify(input)} ${limit}`
  const resource = useResource(key, (signal) => load(undefined, signal), { keepsPrevious: true })
  const { state } = resource
  const latestKey = useRef(key)
  latestKey.current = key
  const latestState = useRef(state)
  latestState.current = state
  const polls = useRef(0)
  const reloads = useRef(0)
  const reloadsBefore = reloads.current
  /** A response for an earlier filter is dropped, and one from before the list was reloaded. */
  const isCurrent = () => latestKey.current === key && reloads.current === reloadsBefore
  const reload = useReloadOfAll(name, () => {
    reloads.current += 1
    resource.reload()
  })
  return {
    ...resource,
    isLoadingMore: isLoadingMore.value,
    reload,
    async more() {
      if (state.kind !== "ready" || state.isStale || isLoadingMore.value) return
      if (state.data.next === undefined) return
      isLoadingMore.value = true
      try {
        const { items, next } = await load(state.data.next)
        // Meanwhile an item may have changed.
        const { current } = latestState
        if (isCurrent() && current.kind === "ready")
          resource.set({
            ...current.data,
            items: withoutDuplicates([...current.data.items, ...items]),
            pageCount: current.data.pageCount + 1,
            next,
          })
      } catch (error) {
        showError(error)
      } finally {
        isLoadingMore.value = false
      }
    },
    async poll() {
      if (state.kind !== "ready" || state.isStale || isLoadingMore.value) return
      polls.current += 1
      const turn = polls.current
      const newest = await load().catch(() => undefined)
      // Meanwhile a page may have been added, and a later response may have arrived.
      const { current } = latestState
      if (
        !newest ||
        turn !== polls.current ||
        !isCurrent() ||
        current.kind !== "ready" ||
        isLoadingMore.peek()
      )
        return
      resource.set(merge(newest, current.data, newest.items.length < limit))
    },
    change(toChanged) {
      const { current } = latestState
      if (current.kind !== "ready") return
      // A response that is under way may be older than the change.
      polls.current += 1
      resource.set({ ...current.data, items: current.data.items.map(toChanged) })
    },
  }
}

/** Returns what reloads all lists of a route on the screen, with this one. */
function useReloadOfAll(name: PageName, reload: () => void): () => void {
  useEffect(() => {
    const list = { name, reload }
    shown.add(list)
    return () => void shown.delete(list)
  }, [name])
  return () => {
    for (const list of shown) if (list.name === name) list.reload()
  }
}

/**
 * Puts the newest page before the old items; alone when they do not overlap: there may be a gap.
 * A sparse page is one with fewer items than its limit, although there are more: the server looks at
 * a limited number of rows. It replaces the first page, since its rows are the same.
 */
function merge<Element>(
  newest: Pages<Element>,
  old: Pages<Element>,
  isSparse: boolean,
): Pages<Element> {
  if (newest.next === undefined) return newest
  const ids = new Set(newest.items.map(toId))
  const kept = isSparse ? old.items.slice(old.firstCount) : old.items
  const rest = kept.filter((item) => !ids.has(toId(item)))
  if (isSparse ? old.pageCount === 1 : rest.length === old.items.length) return newest
  return {
    ...newest,
    items: [...newest.items, ...rest],
    pageCount: old.pageCount,
    next: rest.length === 0 && !isSparse ? newest.next : old.next,
  }
}

function toCursor(link: string | undefined): string | undefined {
  return link === undefined ? undefined : (new URL(link).searchParams.get("cursor") ?? undefined)
}

/** An item that has changed may be on two pages. */
function withoutDuplicates<Element>(items: readonly Element[]): readonly Element[] {
  return [...new Map(items.map((item) => [toId(item), item])).values()]
}

function toId(item: unknown): unknown {
  const { id, val, version } = item as {
    readonly id?: string
    readonly val?: { readonly id: string }
    readonly version?: number
  }
  // A val has at most one schedule, which has no id of its own; nor has a version.
  return id ?? val?.id ?? version ?? item
}
