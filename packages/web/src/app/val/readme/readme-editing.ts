import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { api } from "../../api.ts"
import { type Draft, type DraftPlace, noDrafts, openDraftPlace } from "../code/draft.ts"
import type { ValEditing } from "../code/val-editing.ts"

/**
 * How saving went. `changed`: the readme is another one than the text was begun from, and nothing
 * was overwritten.
 */
type ReadmeSaved =
  | { readonly kind: "saved" }
  | { readonly kind: "changed"; readonly theirs: string }

/**
 * A readme that somebody may be writing. It has no versions: what is overwritten is gone, so it is
 * looked at first.
 */
export class ReadmeEditing {
  /** The text in the editor; undefined while nobody writes. */
  readonly text: Signal<string | undefined>
  readonly isDirty: ReadonlySignal<boolean>
  readonly #editing: ValEditing
  readonly #drafts: DraftPlace
  #base: string

  constructor(editing: ValEditing, isOwn: boolean) {
    const { id, readme } = editing.val.peek()
    this.#editing = editing
    // Not below the drafts of the code.
    this.#drafts = isOwn ? openDraftPlace(`${id}:readme`) : noDrafts
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

  /** Remembers what was typed. */
  type(text: string): void {
    this.text.value = text
    if (this.isDirty.peek())
      this.#drafts.write({ code: text, base: this.#base, baseVersion: 0, at: Date.now() })
    else this.#drafts.clear()
  }

  /** Ends the writing without saving. */
  cancel(): void {
    this.text.value = undefined
    this.#drafts.clear()
  }

  /** Saves the text, but not over one that nobody here has seen. */
  async save(): Promise<ReadmeSaved> {
    const { id } = this.#editing.val.peek()
    const text = this.text.peek() ?? ""
    const theirs = (await api.getVal({ val_id: id })).readme ?? ""
    if (theirs !== this.#base && theirs !== text) return { kind: "changed", theirs }
    const readme = text === "" ? null : text
    await api.updateVal({ val_id: id, readme })
    this.#editing.val.value = { ...this.#editing.val.peek(), readme }
    this.#base = text
    // Somebody may have gone on typing meanwhile.
    if (this.text.peek() === text) this.cancel()
    return { kind: "saved" }
  }

  /** After a change elsewhere: it has been seen now, and may be overwritten. */
  hasSeen(theirs: string): void {
    this.#base = theirs
    this.#editing.val.value = { ...this.#editing.val.peek(), readme: theirs === "" ? null : theirs }
    this.type(this.text.peek() ?? "")
  }

  stop(): void {
    this.#drafts.stop()
  }
}
