import { signal } from "@preact/signals"

/** The address of the current page, in parts. */
export interface AppLocation {
  readonly path: string
  readonly query: URLSearchParams
  readonly hash: string
}

/** The address of the current page. */
export const currentLocation = signal<AppLocation>(readLocation())

/** Whether the page may be left for a path; undefined when the tab is being closed. */
type Guard = (path: string | undefined) => boolean

const guards = new Set<Guard>()

/** Asks the user before the page is left, until the returned function is called. */
export function guardNavigation(guard: Guard): () => void {
  guards.add(guard)
  return () => guards.delete(guard)
}

/** Goes to another page of the app, unless the user decides to stay. Returns whether it went. */
export function navigate(
  to: string,
  { replace = false }: { readonly replace?: boolean } = {},
): boolean {
  const url = new URL(to, location.href)
  const isSamePage = url.pathname === location.pathname
  if (!isSamePage && !mayLeave(url.pathname)) return false
  history[replace ? "replaceState" : "pushState"](null, "", url)
  currentLocation.value = readLocation()
  if (!isSamePage) window.scrollTo(0, 0)
  return true
}

/**
 * Changes query parameters without a history entry: filters are not steps to go back through. An
 * undefined value removes its parameter.
 */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  navigate(withQuery(readLocation(), changes), { replace: true })
}

/** The address of this page with other query parameters. */
export function toHrefWith(changes: Readonly<Record<string, string | undefined>>): string {
  return withQuery(currentLocation.value, changes)
}

function withQuery(
  { path, query, hash }: AppLocation,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const changed = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") changed.delete(name)
    else changed.set(name, value)
  }
  return toHref({ path, query: changed, hash })
}

/** Handles links, the history and the closing of the tab from now on. */
export function followNavigation(): void {
  addEventListener("popstate", onPopState)
  addEventListener("click", followLink)
  addEventListener("beforeunload", (event) => {
    if ([...guards].some((guard) => !guard(undefined))) event.preventDefault()
  })
}

/** The browser reports this after it went: staying means going forward again. */
function onPopState(): void {
  const from = currentLocation.value
  if (location.pathname !== from.path && !mayLeave(location.pathname)) {
    history.pushState(null, "", toHref(from))
    return
  }
  currentLocation.value = readLocation()
}

function followLink(event: MouseEvent): void {
  const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
  if (event.defaultPrevented || event.button !== 0 || hasModifier) return
  const link = event.target instanceof Element ? event.target.closest("a") : null
  if (link?.target !== "" || link.hasAttribute("download") || link.origin !== location.origin)
    return
  // The browser loads addresses that are not pages of the app.
  if (/^\/(?:.*\.md$|(?:v[0-9]*|std|assets|openapi\.json|metrics)(?:\/|$))/.test(link.pathname))
    return
  if (link.pathname === location.pathname && link.search === location.search && link.hash !== "")
    return
  event.preventDefault()
  navigate(link.href)
}

function mayLeave(path: string): boolean {
  return [...guards].every(
    (guard) => guard(path) || confirm("There are unsaved changes. Discard them?"),
  )
}

function toHref({ path, query, hash }: AppLocation): string {
  const search = query.toString()
  return `${path}${search === "" ? "" : `?${search}`}${hash}`
}

function readLocation(): AppLocation {
  return {
    path: location.pathname,
    query: new URLSearchParams(location.search),
    hash: location.hash,
  }
}
