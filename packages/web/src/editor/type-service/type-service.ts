import type { FromPage, FromWorker, QuestionName, Questions, ToWorker } from "./protocol.ts"
import { toWorkerUrl } from "./worker-url.ts"

/**
 * The types of the code that is being edited. One for the whole app; it answers nothing until it is
 * loaded, and nothing if it cannot be.
 */
export interface TypeService {
  /**
   * Says that a document is shown. The first one has the worker started, as soon as the browser has
   * nothing else to do.
   */
  open(path: string): void
  close(path: string): void
  /**
   * Undefined while there is nobody to answer. `text` is sent only if it is another object than the
   * last time.
   */
  ask<Name extends QuestionName>(
    path: string,
    text: { toString(): string },
    name: Name,
    ask: Questions[Name]["ask"],
  ): Promise<Questions[Name]["answer"] | undefined>
  /** Calls back whenever earlier answers may be out of date; gives what ends it. */
  onChange(listener: () => void): () => void
  stop(): void
}

export interface TypeServiceOptions {
  readonly workerUrl: string
  readonly libsUrl: string
  /** The address of the server, that vals are imported from. */
  readonly baseUrl: string
  /**
   * What a page of the server sends so that its session counts; it changes when somebody signs in.
   */
  readonly readPageKey: () => string
}

const limits = {
  /** An idle moment may not come on a busy page. */
  idleMsMax: 5_000,
  /**
   * TypeScript can get lost in a type. Whoever waits longer would wait for ever, with a core at
   * work.
   */
  answerMsMax: 30_000,
}

/** A type service that has not started yet. */
export function createTypeService({
  workerUrl,
  libsUrl,
  baseUrl,
  readPageKey,
}: TypeServiceOptions): TypeService {
  const listeners = new Set<() => void>()
  const waiting = new Map<number, (answer: Questions[QuestionName]["answer"] | undefined) => void>()
  const open = new Map<string, { count: number; sent: object | undefined }>()
  let state: "new" | "starting" | "ready" | "gone" = "new"
  let worker: Worker | undefined
  let asked = 0

  const say = (message: ToWorker) =>
    worker?.postMessage({ ...message, pageKey: readPageKey() } satisfies ToWorker & FromPage)

  function start(): void {
    if (state !== "starting") return
    try {
      // It is a string wherever there are no trusted types.
      worker = new Worker(toWorkerUrl(workerUrl) as string, { type: "module", name: "types" })
    } catch {
      stop()
      return
    }
    worker.addEventListener("error", stop)
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => hear(data))
    say({ kind: "start", libsUrl: new URL(libsUrl, location.href).href, baseUrl })
  }

  function hear(message: FromWorker): void {
    if (message.kind === "answer") waiting.get(message.id)?.(message.answer)
    else if (message.kind === "failed") stop()
    else {
      if (message.kind === "ready") {
        state = "ready"
        for (const path of open.keys()) say({ kind: "open", path })
      }
      for (const listener of listeners) listener()
    }
  }

  function stop(): void {
    state = "gone"
    worker?.terminate()
    worker = undefined
    for (const settle of [...waiting.values()]) settle(undefined)
  }

  return {
    open(path) {
      const document = open.get(path)
      open.set(path, { count: (document?.count ?? 0) + 1, sent: undefined })
      if (state === "ready") say({ kind: "open", path })
      if (state !== "new") return
      state = "starting"
      whenIdle(start)
    },
    close(path) {
      const document = open.get(path)
      if (!document) return
      if (document.count > 1) open.set(path, { ...document, count: document.count - 1 })
      else if (open.delete(path)) say({ kind: "close", path })
    },
    ask(path, text, name, ask) {
      const document = open.get(path)
      if (state !== "ready" || !document) return Promise.resolve(undefined)
      asked += 1
      const id = asked
      say({
        kind: "ask",
        id,
        path,
        name,
        ask,
        text: document.sent === text ? undefined : text.toString(),
      })
      document.sent = text
      return new Promise((resolve) => {
        const timer = setTimeout(stop, limits.answerMsMax)
        waiting.set(id, (answer) => {
          clearTimeout(timer)
          waiting.delete(id)
          resolve(answer as Questions[typeof name]["answer"] | undefined)
        })
      })
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stop,
  }
}

function whenIdle(run: () => void): void {
  // Not every browser has it.
  if (typeof requestIdleCallback === "function")
    requestIdleCallback(run, { timeout: limits.idleMsMax })
  else setTimeout(run)
}
