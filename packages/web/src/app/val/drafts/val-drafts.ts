import { batch, type Signal, signal } from "@preact/signals"
import type { EditedFile } from "../files/edited-file.ts"
import type { Branch } from "../files/load-files.ts"
import type { ValFiles } from "../files/val-files.ts"
import {
  type Draft,
  type DraftStore,
  type FileDraft,
  noDrafts,
  openDraftStore,
  type RecoverableDraft,
} from "./draft.ts"

/** The unsaved changes of a branch in the browser's storage. */
export class ValDrafts {
  /** The draft that was restored when the page was opened. */
  readonly restored: Draft | undefined
  /** The newest draft that was set aside, or that belongs to a closed tab. */
  readonly recoverable: Signal<RecoverableDraft | undefined> = signal(undefined)
  readonly #files: ValFiles
  readonly #branch: Signal<Branch>
  readonly #store: DraftStore

  constructor(files: ValFiles, branch: Signal<Branch>, isOwn: boolean) {
    this.#files = files
    this.#branch = branch
    this.#store = isOwn ? openDraftStore(branch.peek().id) : noDrafts
    const draft = this.#store.read()
    if (draft) this.restore(draft)
    this.restored = files.changed.peek().length > 0 ? draft : undefined
    void this.findRecoverable()
  }

  /** Stores what is unsaved now. */
  write(): void {
    const files = this.#files.changed.peek()
    if (files.length === 0) this.#store.clear()
    else this.#store.write(this.#toDraft(files))
  }

  /** Stores unsaved changes that are about to be replaced, so that they can be restored. */
  setAside(files: readonly EditedFile[]): void {
    const unsaved = files.filter((file) => file.isDirty.peek())
    if (unsaved.length > 0) this.#store.setAside(this.#toDraft(unsaved))
  }

  /** Applies a draft to the files. They are then based on the version that it was based on. */
  restore({ files, baseVersion }: Draft): void {
    batch(() => {
      for (const draft of files) {
        const file = this.#findFile(draft)
        file?.restore(draft)
        // Until then it is not known whether the text differs.
        void file?.load()
      }
      const branch = this.#branch.peek()
      if (this.#files.changed.peek().length > 0 && baseVersion < branch.version)
        this.#branch.value = { ...branch, version: baseVersion }
    })
  }

  discard(draft: RecoverableDraft): void {
    draft.clear()
    void this.findRecoverable()
  }

  async discardAll(): Promise<void> {
    this.#store.clear()
    for (const draft of await this.#store.findRecoverable()) draft.clear()
  }

  async findRecoverable(): Promise<void> {
    const found = await this.#store.findRecoverable()
    this.recoverable.value = found.find(({ files }) => files.some((file) => this.#isOther(file)))
  }

  /** Whether the storage has what is unsaved. */
  isKept(): boolean {
    return this.#store.isKept()
  }

  stop(): void {
    this.#store.stop()
  }

  #toDraft(files: readonly EditedFile[]): Draft {
    const { version } = this.#branch.peek()
    return { files: files.map((file) => file.toDraft()), baseVersion: version, at: Date.now() }
  }

  /** The file that a draft is about. One that no longer exists becomes a new one, with its text. */
  #findFile({ saved, path, type, text, isDeleted }: FileDraft): EditedFile | undefined {
    const { all } = this.#files
    const isSaved = (file: EditedFile) => saved !== undefined && file.saved.peek()?.id === saved.id
    const known =
      all.peek().find(isSaved) ??
      // The saved file was deleted, and another one created at its path.
      (saved && this.#files.find(saved.path))
    if (known) return known
    if (saved && (isDeleted || text === undefined)) return undefined
    const file = this.#files.toEdited({ path, type, text: text ?? "" })
    // What was created there meanwhile is found by the next save.
    all.value = [...all.peek().filter((one) => one !== this.#files.find(path)), file]
    return file
  }

  /** Whether a draft has a change that neither the editor nor the server has. */
  #isOther({ saved, path, text, isDeleted }: FileDraft): boolean {
    const file = this.#files.all
      .peek()
      .find((one) => (saved ? one.saved.peek()?.id === saved.id : one.path.peek() === path))
    if (!file || isDeleted) return file !== undefined || !isDeleted
    if (text === undefined) return path !== file.path.peek()
    return text !== file.text.peek() && text !== file.savedText.peek()
  }
}
