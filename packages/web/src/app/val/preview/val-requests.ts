import type { Output } from "@hamlet/contract/client"
import { batch, type Signal, signal } from "@preact/signals"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import { pause } from "../../data/pause.ts"
import { isGoingOn } from "../../runs/list/run-kinds.ts"
import { toPath } from "../../runs/list/run-title.ts"
import type { ValEditing } from "../code/val-editing.ts"
import { PageConsole } from "../console/page-console.ts"
import type { RecentRuns } from "../panes/recent-runs.ts"
import { findLastPage, findPageRun, findRequestRun, isPage, toIds } from "./find-request-run.ts"
import { hasBody } from "./methods.ts"
import { readHistory, rememberRequest, type TypedRequest } from "./request-history.ts"
import { toHeaders } from "./to-headers.ts"

/** What is shown of a request. */
export type RequestView = "page" | "response" | "logs" | "error"

/** The latest request to the val. */
export type RequestState =
  | { readonly kind: "none" }
  | { readonly kind: "sending"; readonly isPage: boolean; readonly startedAt: number }
  /** The frame has loaded the page. The app cannot read it. */
  | { readonly kind: "shown" }
  | { readonly kind: "received"; readonly response: Output<"sendValRequest"> }
  /** There was no response. */
  | { readonly kind: "failed"; readonly message: string }

const limits = { pollMs: 400, findMsMax: 5_000, navigationMsMax: 2_000 }

/**
 * The requests to an http val from its page. A page is loaded by a frame, which runs its scripts;
 * everything else is sent through the API, which returns the whole response.
 */
export class ValRequests {
  readonly draft: Signal<TypedRequest> = signal({ method: "GET", path: "/", headers: "", body: "" })
  readonly exchange: Signal<RequestState> = signal<RequestState>({ kind: "none" })
  readonly view: Signal<RequestView> = signal<RequestView>("page")
  /** The run of the latest request, once it is known; before the first one, that of the last page. */
  readonly run: Signal<Output<"getRun"> | undefined> = signal(undefined)
  /** Whether the last page is still being looked for. */
  readonly isLooking: Signal<boolean>
  readonly history: Signal<readonly TypedRequest[]>
  /** What the frame shows. Another number loads it again; 0 has not been loaded. */
  readonly page: Signal<{ readonly path: string; readonly number: number }> = signal({
    path: "/",
    number: 0,
  })
  /** What the page in the frame logs, requests and throws. */
  readonly console: PageConsole = new PageConsole()
  readonly #editing: ValEditing
  readonly #recent: RecentRuns | undefined
  /** The view to return to when a request no longer fails. */
  #viewBeforeError: RequestView = "page"
  #isPageStale = false
  #loadingNumber = 0
  /** The runs that belong to earlier requests. */
  #known: ReadonlySet<string> = new Set()
  #abort = new AbortController()
  /** The id of the file that the requests are sent to. */
  #fileId: string | undefined

  /** `recent` is undefined for users who may not see the runs of requests: all but the owner. */
  constructor(editing: ValEditing, recent: RecentRuns | undefined) {
    this.#editing = editing
    this.#recent = recent
    this.isLooking = signal(recent !== undefined)
    this.history = signal(readHistory(editing.val.peek().id))
  }

  /**
   * Shows the file that Run starts now. A page that was loaded before is replaced by that of the
   * file, and one that was seen before is loaded again; otherwise nothing is sent, since the request
   * may have side effects that the user does not know.
   */
  follow(fileId: string | undefined): void {
    const isOther = this.#fileId !== undefined && this.#fileId !== fileId
    this.#fileId = fileId
    if (!isOther) return void this.#showLast()
    const wasLoaded = this.#isPageLoaded()
    this.#abort.abort()
    this.#abort = new AbortController()
    batch(() => {
      this.exchange.value = { kind: "none" }
      this.run.value = undefined
      this.page.value = { path: "/", number: 0 }
      this.view.value = "page"
      this.isLooking.value = this.#recent !== undefined && !wasLoaded
      this.change({ path: "/" })
    })
    void (wasLoaded && fileId !== undefined ? this.loadPage() : this.#showLast())
  }

  /** Loads the last page again, or shows the last response as it was recorded if it was no page. */
  async #showLast(): Promise<void> {
    const { signal } = this.#abort
    const run =
      this.#recent &&
      (await findLastPage(this.#recent, this.#fileId, signal).catch(() => undefined))
    if (signal.aborted) return
    this.isLooking.value = false
    if (!run?.request || this.exchange.peek().kind !== "none") return
    const path = toPath(run.request.url)
    if (this.draft.peek().path === "/") this.change({ path })
    if (isPage(run) && (run.request.status ?? 500) < 400) return this.loadPage(path)
    this.page.value = { path, number: 0 }
    // A page is never shown as its source.
    if (!isPage(run)) this.run.value = run
  }

  change(changes: Partial<TypedRequest>): void {
    this.draft.value = { ...this.draft.peek(), ...changes }
  }

  /** Sends the typed request. A plain GET is loaded by the frame while the page is shown. */
  async send(): Promise<void> {
    const request = { ...this.draft.peek(), path: toValPath(this.draft.peek().path) }
    this.draft.value = request
    const sent = { ...request, body: hasBody(request) ? request.body : "" }
    this.history.value = rememberRequest(this.#editing.val.peek().id, sent)
    const isPlain = request.method === "GET" && request.headers.trim() === ""
    if (isPlain && this.#mainView() === "page") await this.loadPage(request.path)
    else await this.#sendByApi(sent)
  }

  /** Loads the page in the frame. */
  async loadPage(path: string = this.page.peek().path): Promise<void> {
    const signal = this.#begin(true)
    this.#isPageStale = false
    const number = this.page.peek().number + 1
    this.#loadingNumber = number
    const known = await this.#listIds()
    if (signal.aborted) return
    this.page.value = { path, number }
    await this.#findRun(known, path, signal)
  }

  /** Called when the frame has loaded the page, or another one that a link in it leads to. */
  pageLoaded(number: number): void {
    // A frame that was replaced may report late.
    if (number !== this.#loadingNumber) return
    this.console.pageLoaded()
    const { value } = this.exchange
    if (value.kind === "shown") void this.#findNavigation(this.#abort.signal)
    if (value.kind === "sending" && value.isPage) this.exchange.value = { kind: "shown" }
  }

  /** A new version was saved: the shown page is the one of an old version. */
  noteSaved(): void {
    this.#isPageStale = true
  }

  /** Loads the page again if it is shown and old. */
  refreshPage(): void {
    if (this.#isPageStale && this.#isPageLoaded() && this.#mainView() === "page")
      void this.loadPage()
  }

  /** Loads the page again: what the frame shows may be the browser's page about a lost connection. */
  reloadPage(): void {
    if (this.#isPageLoaded()) void this.loadPage()
  }

  show(view: RequestView): void {
    if (view !== "error") this.#viewBeforeError = view
    this.view.value = view
    if (view === "page") this.refreshPage()
  }

  /** Stops waiting for the response; the connection is closed, which ends the run. */
  cancel(): void {
    const { value } = this.exchange
    if (value.kind !== "sending") return
    this.#abort.abort()
    if (value.isPage) this.page.value = { path: this.page.peek().path, number: 0 }
    this.exchange.value = { kind: "failed", message: "You have cancelled the request" }
    this.#isPageStale = true
  }

  stop(): void {
    this.console.stop()
    this.#abort.abort()
  }

  async #sendByApi(request: TypedRequest): Promise<void> {
    const signal = this.#begin(false)
    if (this.#mainView() === "page") this.show("response")
    const { method, path, headers, body } = request
    try {
      const known = await this.#listIds()
      const input = {
        val_id: this.#editing.val.peek().id,
        ...this.#editing.place(),
        method,
        path,
        headers: toHeaders({ headers, body }),
        ...(body === "" ? {} : { body }),
      }
      // The request may have changed what the page shows.
      if (hasBody(request)) this.#isPageStale = true
      const sent = api.sendValRequest(input, { signal })
      void this.#findRun(known, path, signal, () => this.exchange.peek().kind !== "sending")
      const response = await sent
      if (signal.aborted) return
      this.exchange.value = { kind: "received", response }
      if (this.#recent && response.runId !== null)
        this.#showRun(await api.getRun({ run_id: response.runId }, { signal }))
      else this.#showSuccess()
    } catch (error) {
      if (signal.aborted) return
      this.exchange.value = { kind: "failed", message: explain(error) }
      this.#showError()
    }
  }

  #begin(isPage: boolean): AbortSignal {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#fileId = this.#editing.findStarted()?.id
    this.isLooking.value = false
    this.run.value = undefined
    if (this.view.peek() === "error") this.view.value = this.#viewBeforeError
    this.exchange.value = { kind: "sending", isPage, startedAt: Date.now() }
    return this.#abort.signal
  }

  /** Polls until the run of the latest request has ended, so that its logs appear meanwhile. */
  async #findRun(
    known: ReadonlySet<string>,
    path: string,
    signal: AbortSignal,
    isKnown: () => boolean = () => false,
  ): Promise<void> {
    const recent = this.#recent
    for (let endsAt: number | undefined; recent && !signal.aborted; ) {
      const run = await findRequestRun(recent, known, path, signal).catch(() => undefined)
      if (signal.aborted || isKnown()) return
      this.#known = toIds(recent.runs.peek())
      if (run) this.#showRun(run)
      if (run && !isGoingOn(run)) return
      // A request that was refused has no run.
      if (this.exchange.peek().kind !== "sending") endsAt ??= Date.now() + limits.findMsMax
      if (endsAt !== undefined && !run && Date.now() > endsAt) return this.#showSuccess()
      await pause(limits.pollMs, signal)
    }
  }

  /** Looks for the run of a page that the user, or the page itself, has opened inside the frame. */
  async #findNavigation(signal: AbortSignal): Promise<void> {
    const known = this.#known
    const endsAt = Date.now() + limits.navigationMsMax
    while (this.#recent && !signal.aborted) {
      const isLast = Date.now() >= endsAt
      const run = await findPageRun(this.#recent, known, signal, isLast).catch(() => undefined)
      if (signal.aborted) return
      if (run) {
        this.#known = toIds(this.#recent.runs.peek())
        return this.#showRun(run)
      }
      if (isLast) return
      await pause(limits.pollMs, signal)
    }
  }

  async #listIds(): Promise<ReadonlySet<string>> {
    const runs = await this.#recent?.refresh().catch(() => undefined)
    return runs ? toIds(runs) : this.#known
  }

  #showRun(run: Output<"getRun">): void {
    this.run.value = run
    if (run.error) this.#showError()
    else if (!isGoingOn(run)) this.#showSuccess()
  }

  #showError(): void {
    if (this.view.peek() === "page" || this.view.peek() === "response") this.show("error")
  }

  #showSuccess(): void {
    if (this.view.peek() === "error") this.view.value = this.#viewBeforeError
  }

  #isPageLoaded(): boolean {
    return this.page.peek().number > 0
  }

  /** The view without regard to an error that is shown over it. */
  #mainView(): RequestView {
    return this.view.peek() === "error" ? this.#viewBeforeError : this.view.peek()
  }
}

/** Always a path of the val: `//host` and `/\host` would be another host. */
export function toValPath(text: string): string {
  return `/${text.trim().replace(/^[/\\]+/, "")}`
}
