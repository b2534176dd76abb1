import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { api } from "../../api.ts"
import { type Draft, type DraftStore, noDrafts, openDraftStore } from "../code/draft.ts"
import type { ValEditing } from "../code/val-editing.ts"

/** The result of saving. `changed`: the readme was changed elsewhere, and nothing was overwritten. */
type ReadmeSaved =
  | { readonly kind: "saved" }
  | { readonly kind: "changed"; readonly theirs: string }

/** A readme in the editor. A save first checks for other changes. */
export class ReadmeEditing {
  /** The text in the editor; undefined while it is not edited. */
  readonly text: Signal<string | undefined>
  readonly isDirty: ReadonlySignal<boolean>
  readonly #editing: ValEditing
  readonly #drafts: DraftStore
  #base: string

  constructor(editing: ValEditing, isOwn: boolean) {
    const { id, readme } = editing.val.peek()
    this.#editing = editing
    // The prefix differs from that of the code drafts.
    this.#drafts = isOwn ? openDraftStore(`${id}:readme`) : noDrafts
    const draft: Draft | undefined = this.#drafts.read()
    this.#base = draft?.base ?? readme ?? ""
    this.text = signal(draft?.code)
    this.isDirty = computed(
      () => this.text.value !== undefined && this.text.value !== (editing.val.value.readme ?? ""),
    )
  }

  begin(): void {
    this.#base = this.#editing.val.peek().readme ?? ""
    this.text.value = this.#base
  }

  /** Stores the typed text as a draft. */
  type(text: string): void {
    this.text.value = text
    if (this.isDirty.peek())
      this.#drafts.write({ code: text, base: this.#base, baseVersion: 0, at: Date.now() })
    else this.#drafts.clear()
  }

  /** Ends editing without saving. */
  cancel(): void {
    this.text.value = undefined
    this.#drafts.clear()
  }

  /** Saves the text, but not over a change that the user has not seen. */
  async save(): Promise<ReadmeSaved> {
    const { id } = this.#editing.val.peek()
    const text = this.text.peek() ?? ""
    const theirs = (await api.getVal({ val_id: id })).readme ?? ""
    if (theirs !== this.#base && theirs !== text) return { kind: "changed", theirs }
    const readme = text === "" ? null : text
    await api.updateVal({ val_id: id, readme })
    // The readme is a file of the val, so that it has a new version.
    this.#editing.refresh(await api.getVal({ val_id: id }))
    this.#base = text
    // The user may have typed more in the meantime.
    if (this.text.peek() === text) this.cancel()
    return { kind: "saved" }
  }

  /** After a change elsewhere: the user has seen it, and it may be overwritten. */
  acceptTheirs(theirs: string): void {
    this.#base = theirs
    this.#editing.val.value = { ...this.#editing.val.peek(), readme: theirs === "" ? null : theirs }
    this.type(this.text.peek() ?? "")
  }

  /** Whether leaving the page would lose text. */
  mayLose(): boolean {
    return this.isDirty.peek() && !this.#drafts.isKept()
  }

  stop(): void {
    this.#drafts.stop()
  }
}
