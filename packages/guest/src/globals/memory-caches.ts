import { limits } from "../limits.ts"

/** The Cache API in memory. When it is full, the oldest entries of all caches are dropped. */
export function createCacheStorage(): CacheStorage {
  const space: Space = { bytes: 0, entries: new Set() }
  const caches = new Map<string, MemoryCache>()
  const storage = {
    async open(name: string) {
      const key = String(name)
      const cache = caches.get(key) ?? new MemoryCache(space)
      caches.set(key, cache)
      return cache
    },
    has: async (name: string) => caches.has(String(name)),
    async delete(name: string) {
      caches.get(String(name))?.clear()
      return caches.delete(String(name))
    },
    keys: async () => [...caches.keys()],
    async match(request: RequestInfo | URL, options?: CacheQueryOptions) {
      for (const cache of caches.values()) {
        const found = await cache.match(request, options)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
  return Object.setPrototypeOf(storage, CacheStorage.prototype)
}

/** What all caches of a process share: their size, and their entries, the oldest first. */
interface Space {
  bytes: number
  readonly entries: Set<Entry>
}

interface Entry {
  readonly cache: MemoryCache
  readonly url: string
  readonly requestHeaders: Headers
  readonly body: Uint8Array<ArrayBuffer>
  readonly init: ResponseInit
  readonly vary: readonly string[]
  readonly hasBody: boolean
}

class MemoryCache {
  readonly #space: Space
  #entries: Entry[] = []

  constructor(space: Space) {
    this.#space = space
  }

  async match(
    request: RequestInfo | URL,
    options: CacheQueryOptions = {},
  ): Promise<Response | undefined> {
    const found = this.#find(request, options)[0]
    return found && new Response(found.hasBody ? found.body.slice() : null, found.init)
  }

  async matchAll(
    request?: RequestInfo | URL,
    options: CacheQueryOptions = {},
  ): Promise<Response[]> {
    const found = request === undefined ? this.#entries : this.#find(request, options)
    return found.map(({ hasBody, body, init }) => new Response(hasBody ? body.slice() : null, init))
  }

  async keys(request?: RequestInfo | URL, options: CacheQueryOptions = {}): Promise<Request[]> {
    const found = request === undefined ? this.#entries : this.#find(request, options)
    return found.map(({ url, requestHeaders }) => new Request(url, { headers: requestHeaders }))
  }

  async put(request: RequestInfo | URL, response: Response): Promise<void> {
    const key = new Request(request)
    const vary = (response.headers.get("vary") ?? "")
      .toLowerCase()
      .split(/\s*,\s*/)
      .filter(Boolean)
    const problem = findProblem(key, response, vary)
    if (problem !== undefined) throw new TypeError(`Cannot put into the cache: ${problem}`)
    const { status, statusText } = response
    const headers = new Headers(response.headers)
    const hasBody = response.body !== null
    const body = new Uint8Array(await response.arrayBuffer())
    if (body.length > limits.storageBytesMax)
      throw new DOMException(
        `Cannot put into the cache: the caches of a process hold ${limits.storageBytesMax} bytes`,
        "QuotaExceededError",
      )
    for (const entry of this.#find(key, {})) this.#remove(entry)
    const init = { status, statusText, headers }
    const url = toUrl(key.url)
    this.#add({ cache: this, url, requestHeaders: key.headers, body, init, vary, hasBody })
  }

  async add(request: RequestInfo | URL): Promise<void> {
    const response = await fetch(request)
    if (!response.ok)
      throw new TypeError(
        `Cannot put into the cache: the response has the status ${response.status}`,
      )
    await this.put(request, response)
  }

  async addAll(requests: Iterable<RequestInfo | URL>): Promise<void> {
    await Promise.all([...requests].map((request) => this.add(request)))
  }

  async delete(request: RequestInfo | URL, options: CacheQueryOptions = {}): Promise<boolean> {
    const found = this.#find(request, options)
    for (const entry of found) this.#remove(entry)
    return found.length > 0
  }

  clear(): void {
    for (const entry of [...this.#entries]) this.#remove(entry)
  }

  #find(request: RequestInfo | URL, options: CacheQueryOptions): Entry[] {
    const wanted = new Request(request)
    if (wanted.method !== "GET" && !options.ignoreMethod) return []
    const url = toUrl(wanted.url, options.ignoreSearch)
    return this.#entries.filter(
      (entry) =>
        toUrl(entry.url, options.ignoreSearch) === url &&
        (options.ignoreVary || isSameVariant(entry, wanted.headers)),
    )
  }

  #add(entry: Entry): void {
    const space = this.#space
    this.#entries.push(entry)
    space.entries.add(entry)
    space.bytes += measure(entry)
    for (const oldest of space.entries) {
      if (space.bytes <= limits.storageBytesMax) return
      oldest.cache.#remove(oldest)
    }
  }

  #remove(entry: Entry): void {
    if (!this.#space.entries.delete(entry)) return
    this.#space.bytes -= measure(entry)
    this.#entries = this.#entries.filter((other) => other !== entry)
  }
}

/** An entry takes some memory beside its body. */
function measure(entry: Entry): number {
  return entry.body.length + entry.url.length + 1_000
}

function findProblem(
  request: Request,
  response: Response,
  vary: readonly string[],
): string | undefined {
  if (!/^https?:/.test(request.url)) return "its key has no HTTP address"
  if (request.method !== "GET") return "the request is not a GET"
  if (response.status === 206) return "the response is a part of another"
  if (vary.includes("*")) return "the response varies with everything"
  return response.bodyUsed ? "the body of the response is already used" : undefined
}

function toUrl(text: string, ignoresSearch = false): string {
  const url = new URL(text)
  url.hash = ""
  if (ignoresSearch) url.search = ""
  return url.href
}

function isSameVariant(entry: Entry, headers: Headers): boolean {
  return entry.vary.every((name) => entry.requestHeaders.get(name) === headers.get(name))
}
