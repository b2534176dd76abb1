import type { PageEntry } from "./page-message.ts"
import { pageLimits } from "./page-message.ts"
import { toShortUrl } from "./short-url.ts"

type RequestEntry = Extract<PageEntry, { kind: "request" }>
type Note = (make: () => RequestEntry) => void

/** Notes each request of the page by `fetch` and `XMLHttpRequest` when its response begins or fails. */
export function watchRequests(note: Note): void {
  watchFetch(note)
  watchXhr(note)
}

function watchFetch(note: Note): void {
  window.fetch = new Proxy(window.fetch, {
    apply(target, self, args: Parameters<typeof fetch>) {
      const startedMs = performance.now()
      const about = describe(args)
      // What the page gets is the promise behind these: otherwise a failure that the page does not
      // handle would count as handled.
      return (Reflect.apply(target, self, args) as Promise<Response>).then(
        (response) => {
          const isOpaque = response.type === "opaque" || response.type === "opaqueredirect"
          const { method, url } = about()
          note(() => ({
            kind: "request",
            method,
            url: url || toShortUrl(response.url),
            status: response.status,
            ms: performance.now() - startedMs,
            failure: isOpaque ? response.type : "",
          }))
          return response
        },
        (error: unknown) => {
          const failure = error instanceof Error ? `${error.name}: ${error.message}` : "failed"
          const ms = performance.now() - startedMs
          note(() => ({
            kind: "request",
            ...about(),
            status: 0,
            ms,
            failure: failure.slice(0, pageLimits.urlCharsMax),
          }))
          throw error
        },
      )
    },
  })
}

/** Method and address, read late. An object that makes up its address is not asked twice. */
function describe([input, init]: Parameters<typeof fetch>) {
  return () => {
    try {
      const isRequest = input instanceof Request
      const method = init?.method ?? (isRequest ? input.method : "GET")
      const url = isRequest ? input.url : input
      const isText = typeof url === "string" || url instanceof URL
      return { method: toMethod(method), url: isText ? toShortUrl(String(url)) : "" }
    } catch {
      return { method: "", url: "" }
    }
  }
}

function watchXhr(note: Note): void {
  const opened = new WeakMap<XMLHttpRequest, { readonly method: string; readonly url: string }>()
  const { prototype } = XMLHttpRequest
  prototype.open = new Proxy(prototype.open, {
    apply(target, self: XMLHttpRequest, args: Parameters<XMLHttpRequest["open"]>) {
      const [method, url] = args
      if (typeof url === "string" || url instanceof URL)
        opened.set(self, { method: toMethod(method), url: toShortUrl(String(url)) })
      return Reflect.apply(target, self, args)
    },
  })
  prototype.send = new Proxy(prototype.send, {
    apply(target, self: XMLHttpRequest, args: Parameters<XMLHttpRequest["send"]>) {
      const startedMs = performance.now()
      const about = opened.get(self)
      let failure = "failed"
      const end = () => {
        const ms = performance.now() - startedMs
        const { status } = self
        if (about)
          note(() => ({
            kind: "request",
            ...about,
            status,
            ms,
            failure: status === 0 ? failure : "",
          }))
      }
      for (const name of ["abort", "timeout"] as const)
        self.addEventListener(name, () => {
          failure = name
        })
      self.addEventListener("loadend", end, { once: true })
      return Reflect.apply(target, self, args)
    },
  })
}

function toMethod(method: unknown): string {
  return String(method).slice(0, pageLimits.methodCharsMax).toUpperCase()
}
