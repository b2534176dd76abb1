import { signal } from "@preact/signals"

/** Where we are: the path, what is asked for after `?`, and what stands after `#`. */
export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  readonly hash: string
}

/** Where we are. */
export const place = signal<Place>(readPlace())

/**
 * Asked before the page is left, for a path or (undefined) for whatever comes when the tab is
 * closed; one that says no keeps us here.
 */
type Guard = (path: string | undefined) => boolean

const guards = new Set<Guard>()

/**
 * Asks before the page is left, by a link or by closing the tab, for as long as the returned
 * function has not been called.
 */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard)
  return () => guards.delete(guard)
}

/**
 * Goes to another page of the app, unless somebody there has reason to stay. Gives whether it went.
 */
export function navigate(
  to: string,
  { replace = false }: { readonly replace?: boolean } = {},
): boolean {
  const url = new URL(to, location.href)
  const isSamePage = url.pathname === location.pathname
  if (!isSamePage && !mayLeave(url.pathname)) return false
  history[replace ? "replaceState" : "pushState"](null, "", url)
  place.value = readPlace()
  if (!isSamePage) window.scrollTo(0, 0)
  return true
}

/**
 * Changes what stands after `?` without a step in the history: filters are no places to go back to.
 * A missing value takes its name away.
 */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const url = new URL(location.href)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  navigate(url.href, { replace: true })
}

/** Follows links, the history and the closing of the tab from now on. */
export function followLocation(): void {
  addEventListener("popstate", goBack)
  addEventListener("click", followLink)
  addEventListener("beforeunload", (event) => {
    if ([...guards].some((guard) => !guard(undefined))) event.preventDefault()
  })
}

/** The browser has gone already when it tells us: whoever wants to stay is brought back. */
function goBack(): void {
  const from = place.value
  if (location.pathname !== from.path && !mayLeave(location.pathname)) {
    history.pushState(null, "", toHref(from))
    return
  }
  place.value = readPlace()
}

function followLink(event: MouseEvent): void {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return
  const link = event.target instanceof Element ? event.target.closest("a") : null
  if (link?.target !== "" || link.hasAttribute("download") || link.origin !== location.origin)
    return
  // Not pages of the app: the browser goes there itself.
  if (/^\/(docs|v1|v|std|assets|openapi\.json|metrics)(\/|$)/.test(link.pathname)) return
  if (link.pathname === location.pathname && link.search === location.search && link.hash !== "")
    return
  event.preventDefault()
  navigate(link.href)
}

function mayLeave(path: string): boolean {
  return [...guards].every(
    (guard) => guard(path) || confirm("There are changes that are not saved. Leave them?"),
  )
}

function toHref({ path, query, hash }: Place): string {
  const search = query.toString()
  return `${path}${search === "" ? "" : `?${search}`}${hash}`
}

function readPlace(): Place {
  return {
    path: location.pathname,
    query: new URLSearchParams(location.search),
    hash: location.hash,
  }
}
