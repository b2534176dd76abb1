import { ApiError, type Output } from "@hamlet/contract/client"
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { api } from "../../api.ts"
import { findImportProblem, findSyntaxError } from "../saving/find-save-problem.ts"
import { describeSyntaxError, type SaveProblem } from "../saving/syntax-error.ts"
import {
  type Draft,
  type DraftStore,
  noDrafts,
  openDraftStore,
  type RecoverableDraft,
} from "./draft.ts"

/** A val as the API returns it. */
export type Val = Output<"getVal">

/** The state of saving. */
export type SaveState =
  | { readonly kind: "idle" }
  | { readonly kind: "saving" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The val was saved elsewhere; nothing was overwritten. */
  | { readonly kind: "conflict"; readonly theirs: Val }

/** A val in the editor. Typed text is in the browser's storage until it is saved. */
export class ValEditing {
  /** The val as last loaded or saved. */
  readonly val: Signal<Val>
  /** The text in the editor. */
  readonly code: Signal<string>
  readonly isDirty: ReadonlySignal<boolean>
  readonly saving: Signal<SaveState> = signal<SaveState>({ kind: "idle" })
  /** A newer version than the one that the text is based on, which this tab has not saved. */
  readonly elsewhere: Signal<Val | undefined> = signal(undefined)
  /** Why the version that was just saved cannot run. */
  readonly problem: Signal<SaveProblem | undefined> = signal(undefined)
  /** The draft that was restored when the page was opened. */
  readonly restored: Draft | undefined
  /** The newest draft that was set aside, or that belongs to a closed tab. */
  readonly recoverable: Signal<RecoverableDraft | undefined> = signal(undefined)
  /** Asks the editor, which may not be loaded. */
  findSyntaxErrorHere: () => ReturnType<CodeEditorHandle["findSyntaxError"]> | undefined = () =>
    undefined
  readonly #drafts: DraftStore
  /** The version that the text is based on, which may not be the current one. */
  #baseVersion: number
  #pending: Promise<boolean> | undefined
  #checking = new AbortController()
  /** Of the val as it was last looked at. */
  #etag: string | undefined
  /** The saved version, and whether it parses. */
  #parsed: { readonly version: number; readonly isParsed: Promise<boolean> } | undefined

  constructor(loaded: Val, isOwn: boolean) {
    this.#drafts = isOwn ? openDraftStore(loaded.id) : noDrafts
    const draft = this.#drafts.read()
    this.restored = draft && draft.code !== loaded.code ? draft : undefined
    this.#baseVersion = this.restored?.baseVersion ?? loaded.version
    this.val = signal(loaded)
    this.code = signal(this.restored?.code ?? loaded.code)
    this.isDirty = computed(() => this.code.value !== this.val.value.code)
    void this.#findRecoverable()
  }

  /** Stores the typed text as a draft. */
  type(text: string): void {
    this.code.value = text
    if (text === this.val.peek().code) this.#drafts.clear()
    else this.#drafts.write({ code: text, baseVersion: this.#baseVersion, at: Date.now() })
  }

  /** Saves the text as the next version if it has changed. Returns whether the server has it. */
  async save(): Promise<boolean> {
    // Saving and running at the same time does both; text typed in between is saved too.
    if (this.#pending && !(await this.#pending)) return false
    return !this.isDirty.peek() || (await this.#sendOnce(this.#baseVersion))
  }

  /** After a conflict: saves the user's text on top of theirs, which stays a version. */
  async saveOverTheirs(): Promise<boolean> {
    const saving = this.saving.peek()
    return saving.kind === "conflict" && (await this.#sendOnce(saving.theirs.version))
  }

  /** Replaces the text by the saved one. Unsaved text is set aside. */
  takeSaved(saved: Val = this.val.peek()): void {
    if (this.code.peek() !== saved.code) this.#setAside()
    if (saved.version !== this.val.peek().version) void this.#check(saved)
    this.val.value = saved
    this.code.value = saved.code
    this.#setBase(saved.version)
    this.saving.value = { kind: "idle" }
    this.#drafts.clear()
    void this.#findRecoverable()
  }

  /** Restores a draft. Unsaved text is set aside. */
  recover(draft: RecoverableDraft): void {
    this.#setAside()
    this.#setBase(draft.baseVersion)
    this.type(draft.code)
    this.discardDraft(draft)
  }

  discardDraft(draft: RecoverableDraft): void {
    draft.clear()
    void this.#findRecoverable()
  }

  /** Updates the val. Unsaved text stays. */
  refresh(fresh: Val): void {
    const isOther = this.isDirty.peek() && this.code.peek() !== fresh.code
    if (!isOther) this.takeSaved(fresh)
    else if (!this.#takeOtherFiles(fresh)) this.val.value = fresh
  }

  /** Discards all drafts: the val was deleted. */
  async discardAll(): Promise<void> {
    this.code.value = this.val.peek().code
    this.#drafts.clear()
    for (const draft of await this.#drafts.findRecoverable()) draft.clear()
  }

  /** Looks whether the val was saved elsewhere: the user should know before they type much more. */
  async look(): Promise<void> {
    const val_id = this.val.peek().id
    const ifNoneMatch = this.#etag
    const { body, headers } = await (ifNoneMatch === undefined
      ? api.raw.getVal({ val_id })
      : api.raw.getVal({ val_id }, { ifNoneMatch }))
    // Nothing has changed, or a save that is under way may be the reason.
    if (!body || this.saving.peek().kind === "saving") return
    this.#etag = headers.get("etag") ?? undefined
    if (body.version <= this.#baseVersion || this.#takeOtherFiles(body)) return
    // The same text is no conflict: the response to its save was lost.
    if (body.code === this.code.peek()) this.#applySaved(body)
    else this.elsewhere.value = body
  }

  /** Shows what was saved elsewhere: in place of unsaved text only after a question. */
  showElsewhere(theirs: Val): void {
    if (this.isDirty.peek()) this.saving.value = { kind: "conflict", theirs }
    else this.takeSaved(theirs)
  }

  /** Whether the saved version parses; if not, `problem` says why. */
  async parses(): Promise<boolean> {
    const saved = this.val.peek()
    if (this.#parsed?.version !== saved.version) void this.#check(saved)
    return (await this.#parsed?.isParsed) ?? true
  }

  /** Whether leaving the page would lose text: unsaved text is restored when the user is back. */
  mayLose(): boolean {
    return this.isDirty.peek() && !this.#drafts.isKept()
  }

  stop(): void {
    this.#checking.abort()
    this.#drafts.stop()
  }

  #sendOnce(ifMatch: number): Promise<boolean> {
    this.#pending ??= this.#send(ifMatch).finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #send(ifMatch: number): Promise<boolean> {
    this.saving.value = { kind: "saving" }
    const text = this.code.peek()
    const val_id = this.val.peek().id
    try {
      this.#applySaved(await api.createVersion({ val_id, code: text }, { ifMatch }))
      return true
    } catch (error) {
      const failure = await explainFailure(error, val_id)
      if (failure.kind === "conflict" && this.#takeOtherFiles(failure.theirs))
        return this.#send(failure.theirs.version)
      // It was saved, and only the response was lost.
      const isSaved = failure.kind === "conflict" && failure.theirs.code === text
      if (isSaved) this.#applySaved(failure.theirs)
      else this.saving.value = failure
      return isSaved
    }
  }

  #applySaved(saved: Val): void {
    void this.#check(saved)
    this.val.value = saved
    this.#setBase(saved.version)
    this.saving.value = { kind: "idle" }
    // The user may have typed more in the meantime.
    this.type(this.code.peek())
  }

  /** Looks for problems of a saved version. Running it would show them too. */
  async #check(saved: Val): Promise<void> {
    this.#checking.abort()
    this.#checking = new AbortController()
    const { signal } = this.#checking
    this.problem.value = undefined
    const finding = this.#findSyntaxError(saved, signal)
    const isParsed = finding.then(
      (found) => !found,
      () => true,
    )
    this.#parsed = { version: saved.version, isParsed }
    try {
      const found = (await finding) ?? (await findImportProblem(saved, signal))
      if (!signal.aborted) this.problem.value = found
    } catch {
      // The server does not respond: a run will show the problem.
    }
  }

  /**
   * The parser of the server is not that of the sandbox, and may be wrong. The editor knows better
   * once its types are loaded, and its words are those of its marks.
   */
  async #findSyntaxError(saved: Val, signal: AbortSignal): Promise<SaveProblem | undefined> {
    const found = await findSyntaxError(saved, signal)
    if (!found || saved.code !== this.code.peek()) return found
    const here = await this.findSyntaxErrorHere()
    return here === undefined ? found : here ? describeSyntaxError(here) : undefined
  }

  /**
   * Takes a newer version over if its code is that of the version that the text is based on: then only
   * the readme or the type was saved elsewhere.
   */
  #takeOtherFiles(theirs: Val): boolean {
    const before = this.val.peek()
    if (before.version !== this.#baseVersion || theirs.code !== before.code) return false
    this.val.value = theirs
    this.#setBase(theirs.version)
    return true
  }

  #setBase(version: number): void {
    this.#baseVersion = version
    if ((this.elsewhere.peek()?.version ?? 0) <= version) this.elsewhere.value = undefined
  }

  #setAside(): void {
    if (this.isDirty.peek())
      this.#drafts.setAside({
        code: this.code.peek(),
        baseVersion: this.#baseVersion,
        at: Date.now(),
      })
  }

  async #findRecoverable(): Promise<void> {
    const found = await this.#drafts.findRecoverable()
    this.recoverable.value = found.find(
      ({ code }) => code !== this.code.peek() && code !== this.val.peek().code,
    )
  }
}

async function explainFailure(error: unknown, valId: string): Promise<SaveState> {
  if (!(error instanceof ApiError && error.code === "version_conflict"))
    return { kind: "failed", error }
  try {
    return { kind: "conflict", theirs: await api.getVal({ val_id: valId }) }
  } catch (other) {
    return { kind: "failed", error: other }
  }
}
