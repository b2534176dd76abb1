import { ApiError, type Output } from "@hamlet/contract/client"
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { api } from "../../api.ts"
import { type Draft, type DraftPlace, type LeftDraft, noDrafts, openDraftPlace } from "./draft.ts"

/** A val as the API tells of it. */
export type Val = Output<"getVal">

/** How the text in the editor stands to what is saved. */
export type SaveState =
  | { readonly kind: "idle" }
  | { readonly kind: "saving" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Somebody else has saved meanwhile: nothing is overwritten before it was looked at. */
  | { readonly kind: "conflict"; readonly theirs: Val }

/**
 * A val that somebody is working on, or looks at. Text that was typed is in the browser's storage
 * until it is saved.
 */
export class ValEditing {
  /** As it was last loaded or saved. */
  readonly val: Signal<Val>
  /** The text as it is in the editor. */
  readonly code: Signal<string>
  readonly isDirty: ReadonlySignal<boolean>
  readonly saving: Signal<SaveState> = signal<SaveState>({ kind: "idle" })
  /** The draft that was there when the page was opened, and was taken up. */
  readonly restored: Draft | undefined
  /** The newest text that was put aside, or that a tab left behind. */
  readonly left: Signal<LeftDraft | undefined> = signal(undefined)
  readonly #drafts: DraftPlace
  /** What was typed was typed on top of this version, whatever is current now. */
  #baseVersion: number
  #pending: Promise<boolean> | undefined

  constructor(loaded: Val, isOwn: boolean) {
    this.#drafts = isOwn ? openDraftPlace(loaded.id) : noDrafts
    const draft = this.#drafts.read()
    this.restored = draft && draft.code !== loaded.code ? draft : undefined
    this.#baseVersion = this.restored?.baseVersion ?? loaded.version
    this.val = signal(loaded)
    this.code = signal(this.restored?.code ?? loaded.code)
    this.isDirty = computed(() => this.code.value !== this.val.value.code)
    void this.#lookForLeft()
  }

  /** Remembers what was typed. */
  type(text: string): void {
    this.code.value = text
    if (text === this.val.peek().code) this.#drafts.clear()
    else this.#drafts.write({ code: text, baseVersion: this.#baseVersion, at: Date.now() })
  }

  /** Saves the text as the next version if it is another one; gives whether the server has it. */
  async save(): Promise<boolean> {
    // Who saves and runs at once wants both; what was typed in between is saved too.
    if (this.#pending && !(await this.#pending)) return false
    return !this.isDirty.peek() || (await this.#sendOnce(this.#baseVersion))
  }

  /** After a conflict: saves the own text on top of theirs, which stays as a version. */
  async saveOverTheirs(): Promise<boolean> {
    const saving = this.saving.peek()
    return saving.kind === "conflict" && (await this.#sendOnce(saving.theirs.version))
  }

  /** Takes what is saved. A text that was not saved is put aside. */
  takeSaved(saved: Val = this.val.peek()): void {
    if (this.code.peek() !== saved.code) this.#putAside()
    this.val.value = saved
    this.code.value = saved.code
    this.#baseVersion = saved.version
    this.saving.value = { kind: "idle" }
    this.#drafts.clear()
    void this.#lookForLeft()
  }

  /** Takes up what was left. A text that was not saved is put aside. */
  takeLeft(draft: LeftDraft): void {
    this.#putAside()
    this.#baseVersion = draft.baseVersion
    this.type(draft.code)
    this.forgetLeft(draft)
  }

  forgetLeft(draft: LeftDraft): void {
    draft.clear()
    void this.#lookForLeft()
  }

  /** Hears how the val is now. What was typed stays. */
  refresh(fresh: Val): void {
    const isElse = this.isDirty.peek() && this.code.peek() !== fresh.code
    if (isElse) this.val.value = fresh
    else this.takeSaved(fresh)
  }

  /** Forgets every text that was not saved: the val is gone. */
  async forgetAll(): Promise<void> {
    this.code.value = this.val.peek().code
    this.#drafts.clear()
    for (const draft of await this.#drafts.findLeft()) draft.clear()
  }

  stop(): void {
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
      this.#hearSaved(await api.createVersion({ val_id, code: text }, { ifMatch }))
      return true
    } catch (error) {
      const failure = await explainFailure(error, val_id)
      // It was saved, and only the answer was lost.
      const isThere = failure.kind === "conflict" && failure.theirs.code === text
      if (isThere) this.#hearSaved(failure.theirs)
      else this.saving.value = failure
      return isThere
    }
  }

  #hearSaved(saved: Val): void {
    this.val.value = saved
    this.#baseVersion = saved.version
    this.saving.value = { kind: "idle" }
    // Somebody may have gone on typing meanwhile.
    this.type(this.code.peek())
  }

  #putAside(): void {
    if (this.isDirty.peek())
      this.#drafts.putAside({
        code: this.code.peek(),
        baseVersion: this.#baseVersion,
        at: Date.now(),
      })
  }

  async #lookForLeft(): Promise<void> {
    const found = await this.#drafts.findLeft()
    this.left.value = found.find(
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
