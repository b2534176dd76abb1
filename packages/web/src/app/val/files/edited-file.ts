import { toFileName } from "@hamlet/contract/file-paths"
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { FileDraft } from "../drafts/draft.ts"
import type { FileType, ListedFile } from "./load-files.ts"
import type { FileEdit } from "./to-changes.ts"

/** Reads the text of a file in the version in which it last changed. */
export type ReadText = (file: ListedFile) => Promise<string>

let lastKey = 0

/** A file or directory of a val in the editor. Nothing is saved before the val is. */
export class EditedFile {
  /** Stays the same as long as the page is open. */
  readonly key: string
  /** The state that the edits are based on; undefined for a new file. */
  readonly saved: Signal<ListedFile | undefined>
  /** The saved text; undefined until it is loaded. */
  readonly savedText: Signal<string | undefined> = signal(undefined)
  readonly path: Signal<string>
  readonly type: Signal<FileType>
  /** The text in the editor; undefined until it is loaded. */
  readonly text: Signal<string | undefined> = signal(undefined)
  readonly isDeleted: Signal<boolean> = signal(false)
  readonly isDirty: ReadonlySignal<boolean>
  /** Why the text could not be loaded. */
  readonly loadError: Signal<unknown> = signal(undefined)
  readonly #readText: ReadText
  #loading: Promise<void> | undefined

  constructor(
    given: ListedFile | { readonly path: string; readonly type: FileType; readonly text: string },
    readText: ReadText,
  ) {
    lastKey += 1
    this.key = `file-${lastKey}`
    this.#readText = readText
    this.path = signal(given.path)
    this.type = signal(given.type)
    this.saved = signal("id" in given ? given : undefined)
    if (!("id" in given)) this.text.value = given.text
    this.isDirty = computed(() => this.#isChanged())
  }

  /** Whether it is code, which can run. */
  get isCode(): boolean {
    return this.type.value !== "directory" && this.type.value !== "file"
  }

  /** Whether a request, a schedule or a mail starts it. */
  get isTriggered(): boolean {
    return this.isCode && this.type.value !== "script"
  }

  /** Loads the text if it is not there yet. A failure is in `loadError`. */
  async load(): Promise<void> {
    if (this.savedText.peek() !== undefined || this.type.peek() === "directory") return
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    await this.#loading
  }

  /** The saved text, which is fetched if it is not there. */
  async findSavedText(): Promise<string> {
    await this.load()
    const text = this.saved.peek() ? this.savedText.peek() : ""
    if (text === undefined) throw this.loadError.peek()
    return text
  }

  /** The file was saved like this, here or elsewhere. Edits stay. */
  setSaved(saved: ListedFile | undefined, text: string | undefined): void {
    this.saved.value = saved
    this.savedText.value = text
    this.loadError.value = undefined
  }

  /** Takes over what was saved, and drops the edits. */
  take(saved: ListedFile, text: string | undefined): void {
    this.setSaved(saved, text)
    this.path.value = saved.path
    this.type.value = saved.type
    this.text.value = text
    this.isDeleted.value = false
  }

  /** Restores a draft of it. */
  restore(draft: FileDraft): void {
    const saved = this.saved.peek()
    const isSame = saved?.id === draft.saved?.id && saved?.version === draft.saved?.version
    if (saved && draft.saved && !isSame) {
      this.setSaved({ ...saved, ...draft.saved, name: toFileName(draft.saved.path) }, undefined)
      this.text.value = undefined
    }
    this.path.value = draft.path
    this.type.value = draft.type
    if (draft.text !== undefined) this.text.value = draft.text
    this.isDeleted.value = draft.isDeleted
  }

  toDraft(): FileDraft {
    const saved = this.saved.peek()
    return {
      ...(saved && {
        saved: { id: saved.id, path: saved.path, type: saved.type, version: saved.version },
      }),
      path: this.path.peek(),
      type: this.type.peek(),
      ...(this.hasNewText() && { text: this.text.peek() }),
      isDeleted: this.isDeleted.peek(),
    }
  }

  toEdit(): FileEdit {
    const saved = this.saved.peek()
    return {
      savedPath: saved?.path,
      path: this.path.peek(),
      type: this.type.peek(),
      isDeleted: this.isDeleted.peek(),
      content: this.hasNewText() ? this.text.peek() : undefined,
      isRetyped: saved !== undefined && saved.type !== this.type.peek(),
    }
  }

  hasNewText(): boolean {
    const text = this.text.peek()
    return text !== undefined && (!this.saved.peek() || text !== this.savedText.peek())
  }

  async #read(): Promise<void> {
    const saved = this.saved.peek()
    if (!saved) return
    this.loadError.value = undefined
    try {
      const text = await this.#readText(saved)
      // The file may have been saved in the meantime.
      if (this.saved.peek() !== saved) return
      this.savedText.value = text
      this.text.value ??= text
    } catch (error) {
      this.loadError.value = error
    }
  }

  #isChanged(): boolean {
    const saved = this.saved.value
    if (this.isDeleted.value || !saved) return this.isDeleted.value === (saved !== undefined)
    const text = this.text.value
    return (
      this.path.value !== saved.path ||
      this.type.value !== saved.type ||
      (text !== undefined && text !== this.savedText.value)
    )
  }
}
