import { limits } from "../limits.ts"
import { createCacheStorage } from "./memory-caches.ts"

/**
 * `localStorage`, `sessionStorage` and `caches` are in memory and end with the process; a Worker has
 * its own. Deno's would write to its cache folder, which is read-only and without a limit on its
 * size.
 */
export function provideWebStorage(): void {
  provide("localStorage", createStorage)
  provide("sessionStorage", createStorage)
  provide("caches", createCacheStorage)
}

/** Created when it is used first. */
function provide(name: string, create: () => object): void {
  let created: object | undefined
  Object.defineProperty(globalThis, name, {
    get: () => {
      created ??= create()
      return created
    },
    set: (value: object) => {
      created = value
    },
    enumerable: true,
    configurable: true,
  })
}

function createStorage(): Storage {
  const methods = new MemoryStorage()
  // Workers of Deno have no such class.
  if (typeof Storage === "function")
    Object.setPrototypeOf(MemoryStorage.prototype, Storage.prototype)
  const isItem = (name: string | symbol): name is string =>
    typeof name === "string" && !(name in methods)
  return new Proxy(methods, {
    get: (target, name) =>
      isItem(name) ? (target.getItem(name) ?? undefined) : bound(target, name),
    set(target, name, value) {
      if (isItem(name)) target.setItem(name, value)
      return true
    },
    has: (target, name) => name in methods || (isItem(name) && target.getItem(name) !== null),
    deleteProperty(target, name) {
      if (isItem(name)) target.removeItem(name)
      return true
    },
    ownKeys: (target) => target.keys(),
    getOwnPropertyDescriptor(target, name) {
      const value = isItem(name) ? target.getItem(name) : null
      return value === null
        ? undefined
        : { value, writable: true, enumerable: true, configurable: true }
    },
  })
}

/** Methods of a class with private fields need the object itself, not its proxy. */
function bound(target: MemoryStorage, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target)
  return typeof value === "function" ? value.bind(target) : value
}

class MemoryStorage implements Storage {
  readonly #items = new Map<string, string>()
  #bytes = 0

  get length(): number {
    return this.#items.size
  }

  key(index: number): string | null {
    return this.keys()[Number(index)] ?? null
  }

  keys(): string[] {
    return [...this.#items.keys()]
  }

  getItem(name: string): string | null {
    return this.#items.get(String(name)) ?? null
  }

  setItem(name: string, value: string): void {
    const [key, text] = [String(name), String(value)]
    const bytes = this.#bytes - this.#measure(key) + 2 * (key.length + text.length)
    if (bytes > limits.storageBytesMax)
      throw new DOMException(
        `Cannot store "${key}": the storage of a process holds ${limits.storageBytesMax} bytes; std/blob and std/sqlite hold more`,
        "QuotaExceededError",
      )
    this.#items.set(key, text)
    this.#bytes = bytes
  }

  removeItem(name: string): void {
    const key = String(name)
    this.#bytes -= this.#measure(key)
    this.#items.delete(key)
  }

  clear(): void {
    this.#items.clear()
    this.#bytes = 0
  }

  #measure(key: string): number {
    const value = this.#items.get(key)
    return value === undefined ? 0 : 2 * (key.length + value.length)
  }
}
