import { ApiError, type Output } from "@hamlet/contract/client"
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { api } from "../../api.ts"
import { findSaveProblem } from "../saving/find-save-problem.ts"
import type { SaveProblem } from "../saving/syntax-error.ts"
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
  /** Why the version that was just saved cannot run. */
  readonly problem: Signal<SaveProblem | undefined> = signal(undefined)
  /** The draft that was restored when the page was opened. */
  readonly restored: Draft | undefined
  /** The newest draft that was set aside, or that belongs to a closed tab. */
  readonly recoverable: Signal<RecoverableDraft | undefined> = signal(undefined)
  readonly #drafts: DraftStore
  /** The version that the text is based on, which may not be the current one. */
  #baseVersion: number
  #pending: Promise<boolean> | undefined
  #checking = new AbortController()

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
    this.#baseVersion = saved.version
    this.saving.value = { kind: "idle" }
    this.#drafts.clear()
    void this.#findRecoverable()
  }

  /** Restores a draft. Unsaved text is set aside. */
  recover(draft: RecoverableDraft): void {
    this.#setAside()
    this.#baseVersion = draft.baseVersion
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
    if (isOther) this.val.value = fresh
    else this.takeSaved(fresh)
  }

  /** Discards all drafts: the val was deleted. */
  async discardAll(): Promise<void> {
    this.code.value = this.val.peek().code
    this.#drafts.clear()
    for (const draft of await this.#drafts.findRecoverable()) draft.clear()
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
    this.#baseVersion = saved.version
    this.saving.value = { kind: "idle" }
    // The user may have typed more in the meantime.
    this.type(this.code.peek())
  }

  /** Looks for problems of a version that was saved here. Running it would show them too. */
  async #check(saved: Val): Promise<void> {
    this.#checking.abort()
    this.#checking = new AbortController()
    const { signal } = this.#checking
    this.problem.value = undefined
    try {
      const found = await findSaveProblem(saved, signal)
      if (!signal.aborted) this.problem.value = found
    } catch {
      // The server does not respond: a run will show the problem.
    }
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
