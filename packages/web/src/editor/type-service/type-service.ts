import { textOf } from "../text-of.ts"
import type { LockedVersion } from "./package-types.ts"
import type { FromPage, FromWorker, ToWorker, TypeQueries, TypeQueryName } from "./protocol.ts"

/** The types of the edited code. Until the worker is loaded, every query returns undefined. */
export interface TypeService {
  /** Registers a document. The first one starts the worker when the browser is idle. */
  open(path: string): void
  close(path: string): void
  /** The text of a document that is not shown in an editor. */
  setText(path: string, text: string): void
  /** The saved version of a document: its lockfile has the types of its packages. */
  setLocked(path: string, locked: LockedVersion): void
  /** Undefined while the worker is not ready. `text` is sent only when it is another object. */
  query<Name extends TypeQueryName>(
    path: string,
    text: { toString(): string },
    name: Name,
    input: TypeQueries[Name]["input"],
  ): Promise<TypeQueries[Name]["result"] | undefined>
  /** Calls back when earlier results may be out of date; returns a function that ends it. */
  onChange(listener: () => void): () => void
  stop(): void
}

export interface TypeServiceOptions {
  readonly workerUrl: string
  readonly libsUrl: string
  readonly nodeTypesUrl: string
  /** The types of the DOM, for code that pages load. */
  readonly domTypesUrl: string
  /** The address of the server, from which vals are imported. */
  readonly baseUrl: string
  /** Without the page key, the session does not count; it changes when the user signs in. */
  readonly readPageKey: () => string
  /** Another limit than 30 seconds for a query, for tests. */
  readonly queryMsMax?: number
}

const limits = {
  /** A busy page may never be idle. */
  idleMsMax: 5_000,
  /** TypeScript can loop in a type: the worker is stopped, since it would use a core forever. */
  queryMsMax: 30_000,
  /** How often it is started again for code that has changed, while no check of it succeeds. */
  restartsMax: 3,
}

type AnyResult = TypeQueries[TypeQueryName]["result"]

/** A type service that has not started yet. */
export function createTypeService(options: TypeServiceOptions): TypeService {
  return new WorkerTypeService(options)
}

class WorkerTypeService implements TypeService {
  readonly #options: TypeServiceOptions
  readonly #listeners = new Set<() => void>()
  readonly #pending = new Map<number, (result: AnyResult | undefined) => void>()
  readonly #documents = new Map<
    string,
    {
      count: number
      /** The text that the worker has, if an editor has sent it. */
      sent: object | undefined
      /** The text that the page has set since. */
      text: string | undefined
    }
  >()
  readonly #locked = new Map<string, LockedVersion>()
  #state: "new" | "starting" | "ready" | "hung" | "stopped" = "new"
  #worker: Worker | undefined
  #lastId = 0
  #hasPackages = true
  /** The code that could not be checked in time. */
  #hung: { readonly path: string; readonly text: object } | undefined
  #restarts = 0

  constructor(options: TypeServiceOptions) {
    this.#options = options
  }

  open(path: string): void {
    const { count = 0, text } = this.#documents.get(path) ?? {}
    this.#documents.set(path, { count: count + 1, sent: undefined, text })
    if (this.#state === "ready") this.#openInWorker(path)
    if (this.#state === "hung") this.#startAgain()
    if (this.#state !== "new") return
    this.#state = "starting"
    whenIdle(() => this.#start())
  }

  close(path: string): void {
    const document = this.#documents.get(path)
    if (!document) return
    if (document.count > 1) document.count -= 1
    else if (this.#documents.delete(path)) {
      this.#post({ kind: "close", path })
      this.#notify()
    }
  }

  setText(path: string, text: string): void {
    const document = this.#documents.get(path)
    if (!document || document.text === text) return
    document.text = text
    document.sent = undefined
    if (this.#state !== "ready") return
    this.#post({ kind: "text", path, text })
    // Other documents may import this one.
    this.#notify()
  }

  setLocked(path: string, locked: LockedVersion): void {
    this.#locked.set(path, locked)
    const isOpen = this.#state === "ready" && this.#documents.has(path)
    if (isOpen && this.#hasPackages) this.#post({ kind: "lock", path, locked })
  }

  query<Name extends TypeQueryName>(
    path: string,
    text: { toString(): string },
    name: Name,
    input: TypeQueries[Name]["input"],
  ): Promise<TypeQueries[Name]["result"] | undefined> {
    const document = this.#documents.get(path)
    if (this.#state === "hung" && this.#hung?.path === path && this.#hung.text !== text)
      this.#startAgain()
    if (this.#state !== "ready" || !document) return Promise.resolve(undefined)
    this.#lastId += 1
    const id = this.#lastId
    const changed = document.sent === text ? undefined : textOf(text)
    this.#post({ kind: "query", id, path, name, input, text: changed })
    document.sent = text
    if (changed !== undefined) document.text = changed
    return new Promise((resolve) => {
      const msMax = this.#options.queryMsMax ?? limits.queryMsMax
      const timer = setTimeout(() => this.#endHung(path, text), msMax)
      this.#pending.set(id, (result) => {
        clearTimeout(timer)
        this.#pending.delete(id)
        if (name === "diagnose" && result !== undefined) this.#restarts = 0
        resolve(result as TypeQueries[Name]["result"] | undefined)
      })
    })
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  stop(): void {
    this.#state = "stopped"
    this.#endWorker()
  }

  /**
   * Starts the worker again without the types of packages, which other people have written. If the
   * code itself is the cause, it waits until the code has changed.
   */
  #endHung(path: string, text: object): void {
    this.#endWorker()
    if (this.#hasPackages && this.#locked.size > 0) {
      console.warn("The types take too long; those of packages are left out from now on")
      this.#hasPackages = false
      this.#startAgain()
    } else if (this.#restarts < limits.restartsMax) {
      console.warn("The types take too long; the code is checked again when it has changed")
      this.#restarts += 1
      this.#hung = { path, text }
      this.#state = "hung"
    } else this.stop()
  }

  #startAgain(): void {
    this.#hung = undefined
    this.#state = "starting"
    this.#start()
  }

  #endWorker(): void {
    this.#worker?.terminate()
    this.#worker = undefined
    for (const document of this.#documents.values()) document.sent = undefined
    for (const settle of [...this.#pending.values()]) settle(undefined)
  }

  #start(): void {
    if (this.#state !== "starting") return
    const { workerUrl, libsUrl, nodeTypesUrl, domTypesUrl, baseUrl } = this.#options
    try {
      // Without trusted types the URL is a string.
      this.#worker = new Worker(toWorkerUrl(workerUrl) as string, { type: "module", name: "types" })
    } catch {
      this.stop()
      return
    }
    this.#worker.addEventListener("error", () => this.stop())
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) =>
      this.#receive(data),
    )
    const toUrl = (address: string) => new URL(address, location.href).href
    this.#post({
      kind: "start",
      libsUrl: toUrl(libsUrl),
      nodeTypesUrl: toUrl(nodeTypesUrl),
      domTypesUrl: toUrl(domTypesUrl),
      baseUrl,
    })
  }

  #openInWorker(path: string): void {
    const locked = this.#locked.get(path)
    const { text } = this.#documents.get(path) ?? {}
    this.#post({ kind: "open", path })
    if (text !== undefined) this.#post({ kind: "text", path, text })
    if (locked && this.#hasPackages) this.#post({ kind: "lock", path, locked })
  }

  #post(message: ToWorker): void {
    const pageKey = this.#options.readPageKey()
    this.#worker?.postMessage({ ...message, pageKey } satisfies ToWorker & FromPage)
  }

  #receive(message: FromWorker): void {
    if (message.kind === "result") this.#pending.get(message.id)?.(message.result)
    else if (message.kind === "failed") this.stop()
    else {
      if (message.kind === "ready") {
        this.#state = "ready"
        for (const path of this.#documents.keys()) this.#openInWorker(path)
      }
      this.#notify()
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

function whenIdle(run: () => void): void {
  // Not every browser has it.
  if (typeof requestIdleCallback === "function")
    requestIdleCallback(run, { timeout: limits.idleMsMax })
  else setTimeout(run)
}

/** The used part of trusted types, which not every browser has. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown }
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined

/**
 * The address of a worker for a page whose CSP allows only scripts of the trusted-types policy
 * `hamlet`. A page can create a policy once, so only this file does.
 */
function toWorkerUrl(address: string): unknown {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  if (!trustedTypes) return toOwnUrl(address)
  policy ??= trustedTypes.createPolicy("hamlet", { createScriptURL: toOwnUrl })
  return policy.createScriptURL(address)
}

function toOwnUrl(address: string): string {
  const url = new URL(address, location.href)
  if (url.origin !== location.origin)
    throw new Error(`Cannot load the script "${address}": it is not from this server`)
  return url.href
}
