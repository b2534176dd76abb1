import { findEntryFile, readmePath } from "@hamlet/contract/entry-file"
import { isInside } from "@hamlet/contract/file-paths"
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { matchFiles } from "./conflicts.ts"
import { EditedFile, type ReadText } from "./edited-file.ts"
import type { Branch, FileType, ListedFile, Val } from "./load-files.ts"

/** The files of a branch as the user has arranged them, and those in tabs. Nothing is saved here. */
export class ValFiles {
  /** All files and directories, also new and deleted ones that are not saved yet. */
  readonly all: Signal<readonly EditedFile[]>
  /** The files in tabs. */
  readonly tabs: Signal<readonly EditedFile[]> = signal([])
  /** The file in the editor; undefined for a val without files. */
  readonly current: Signal<EditedFile | undefined> = signal(undefined)
  /** The file that is started by default. */
  readonly entry: ReadonlySignal<EditedFile | undefined>
  /** The file that Run starts: the one that was last shown of those that something starts. */
  readonly started: ReadonlySignal<EditedFile | undefined>
  /** The files with unsaved changes. */
  readonly changed: ReadonlySignal<readonly EditedFile[]>
  /** All files and directories that are not deleted. */
  readonly present: ReadonlySignal<readonly EditedFile[]>
  readonly #picked: Signal<EditedFile | undefined> = signal(undefined)
  readonly #readText: ReadText
  readonly #onChange: () => void

  /** `onChange` is called after each change by the user. */
  constructor(
    listing: readonly ListedFile[],
    branchId: string,
    readText: ReadText,
    onChange: () => void,
  ) {
    this.#readText = readText
    this.#onChange = onChange
    this.all = signal(listing.map((file) => this.toEdited(file)))
    this.present = computed(() => this.all.value.filter((file) => !file.isDeleted.value))
    this.entry = computed(() => {
      const files = this.present.value.map((file) => ({
        file,
        path: file.path.value,
        type: file.type.value,
      }))
      // A val that was not made with its code begins at the file that has its readable address.
      const own =
        files.find(({ file }) => file.saved.value?.id === branchId) ??
        files.find(({ file }) => file.saved.value?.links.alias !== undefined)
      return findEntryFile(files, own)?.file
    })
    this.started = computed(() => {
      const picked = this.#picked.value
      return picked && this.present.value.includes(picked) && picked.isCode
        ? picked
        : this.entry.value
    })
    this.changed = computed(() => this.all.value.filter((file) => file.isDirty.value))
  }

  /** The val itself has the texts of two files of `main`. */
  takeTextsOf({ id, code, readme, version }: Val, branch: Branch): void {
    if (branch.id !== id || branch.version !== version) return
    for (const file of this.all.peek()) {
      const saved = file.saved.peek()
      const text = saved?.id === id ? code : saved?.path === readmePath ? readme : null
      if (saved && text !== null && saved.type !== "directory") file.take(saved, text)
    }
  }

  /** The file at a path. */
  find(path: string): EditedFile | undefined {
    return this.present
      .peek()
      .find((file) => file.path.peek() === path && file.type.peek() !== "directory")
  }

  /** Shows a file in the editor. */
  open(file: EditedFile): void {
    batch(() => {
      if (!this.tabs.peek().includes(file)) this.tabs.value = [...this.tabs.peek(), file]
      this.current.value = file
      // A module that others import is edited while they run.
      const hasTrigger = this.present.peek().some((one) => one.isTriggered)
      if (file.isTriggered || (file.isCode && !hasTrigger)) this.#picked.value = file
    })
    void file.load()
  }

  /** Decides which file Run starts. */
  pick(file: EditedFile): void {
    this.#picked.value = file
  }

  /** Shows the file at the path, or the first one. */
  openFirst(path?: string): void {
    const file =
      (path === undefined ? undefined : this.find(path)) ??
      this.entry.peek() ??
      this.present.peek().find((one) => one.type.peek() !== "directory")
    if (file) this.open(file)
    else this.current.value = undefined
  }

  /** Closes the tab of a file. Its changes stay. */
  close(file: EditedFile): void {
    const index = this.tabs.peek().indexOf(file)
    const rest = this.tabs.peek().filter((one) => one !== file)
    batch(() => {
      this.tabs.value = rest
      if (this.current.peek() !== file) return
      const next = rest[Math.min(index, rest.length - 1)]
      if (next) this.open(next)
      else this.openFirst()
    })
  }

  /** Adds a file or directory, which is saved with the next version. */
  add(path: string, type: FileType, text = ""): EditedFile {
    const file = this.toEdited({ path, type, text })
    this.all.value = [...this.all.peek(), file]
    this.#onChange()
    return file
  }

  /** Moves what is at a path: a file, or a directory with all that is in it. */
  move(from: string, to: string): void {
    batch(() => {
      for (const file of this.present.peek()) {
        const path = file.path.peek()
        if (path === from || isInside(path, from)) file.path.value = to + path.slice(from.length)
      }
    })
    this.#onChange()
  }

  setType(file: EditedFile, type: FileType): void {
    file.type.value = type
    this.#onChange()
  }

  /** Changes the text of a file. */
  type(text: string, file = this.current.peek()): void {
    if (!file) return
    file.text.value = text
    this.#onChange()
  }

  /** Deletes what is at a path with the next save. Returns the files, for `undelete`. */
  delete(path: string): readonly EditedFile[] {
    const deleted = this.present
      .peek()
      .filter((file) => file.path.peek() === path || isInside(file.path.peek(), path))
    batch(() => {
      for (const file of deleted) file.isDeleted.value = true
      this.all.value = this.all.peek().filter((file) => file.saved.peek() || !file.isDeleted.peek())
      for (const file of deleted) if (this.tabs.peek().includes(file)) this.close(file)
    })
    this.#onChange()
    return deleted
  }

  undelete(files: readonly EditedFile[]): void {
    batch(() => {
      for (const file of files) file.isDeleted.value = false
      const all = this.all.peek()
      this.all.value = [...all, ...files.filter((file) => !all.includes(file))]
    })
    this.#onChange()
  }

  /** Removes a file that is not on the server. */
  drop(file: EditedFile): void {
    this.all.value = this.all.peek().filter((one) => one !== file)
    if (this.tabs.peek().includes(file)) this.close(file)
  }

  /** A file was deleted on the server: what the user has restored meanwhile becomes a new file. */
  forget(file: EditedFile): void {
    const text = file.text.peek() ?? file.savedText.peek()
    if (file.isDeleted.peek() || text === undefined) this.drop(file)
    else {
      file.text.value = text
      file.setSaved(undefined, undefined)
    }
  }

  /** A path that two files have: one of them would overwrite the other. */
  findTwice(): string | undefined {
    const paths = new Set<string>()
    for (const file of this.present.peek()) {
      const path = file.path.peek()
      if (file.type.peek() === "directory") continue
      if (paths.has(path)) return path
      paths.add(path)
    }
    return undefined
  }

  /** Adds files that are on the server and not here, such as the directories of new files. */
  addListed(listing: readonly ListedFile[]): void {
    const known = new Set(this.all.peek().map((file) => file.saved.peek()?.id))
    const others = listing.filter(({ id }) => !known.has(id))
    this.all.value = [...this.all.peek(), ...others.map((file) => this.toEdited(file))]
  }

  /**
   * Bases all files on a newer version. Unsaved changes stay; what is not changed here is replaced.
   * `apply` is called together with the change, once all texts are there. Does nothing and returns
   * false if the user has begun to change a file that is not the same there: that is a conflict.
   */
  async rebase(listing: readonly ListedFile[], apply: () => void): Promise<boolean> {
    const before = new Set(this.all.peek().filter((file) => file.hasNewText()))
    const texts = new Map<ListedFile, string>()
    await Promise.all(
      [...matchFiles(this.all.peek(), listing)].map(async ([file, listed]) => {
        const isShown = file.isDirty.peek() || this.tabs.peek().includes(file)
        if (listed.type !== "directory" && isShown && isStale(file, listed))
          texts.set(listed, await this.#readText(listed))
      }),
    )
    const theirs = matchFiles(this.all.peek(), listing)
    const isBegun = (file: EditedFile) => {
      const listed = theirs.get(file)
      const isSame = listed ? !isStale(file, listed) : !file.saved.peek()
      return file.hasNewText() && !before.has(file) && !isSame
    }
    if (this.all.peek().some(isBegun)) return false
    batch(() => {
      for (const file of this.all.peek()) {
        const listed = theirs.get(file)
        if (!listed) this.#detach(file)
        else if (isStale(file, listed)) rebaseFile(file, listed, texts.get(listed))
      }
      this.addListed(listing)
      apply()
      if (!this.current.peek()) this.openFirst()
    })
    return true
  }

  toEdited(file: ConstructorParameters<typeof EditedFile>[0]): EditedFile {
    return new EditedFile(file, this.#readText)
  }

  /** A file that no longer exists on the server: unsaved text becomes a new file. */
  #detach(file: EditedFile): void {
    if (!file.saved.peek()) return
    if (!file.isDeleted.peek() && file.hasNewText()) file.setSaved(undefined, undefined)
    else this.drop(file)
  }
}

function isStale(file: EditedFile, { id, version, path }: ListedFile): boolean {
  const saved = file.saved.peek()
  return saved?.id !== id || saved.version !== version || saved.path !== path
}

function rebaseFile(file: EditedFile, listed: ListedFile, text: string | undefined): void {
  if (!file.isDirty.peek()) {
    file.take(listed, text)
    return
  }
  const before = file.saved.peek()
  if (file.path.peek() === before?.path) file.path.value = listed.path
  if (file.type.peek() === before?.type) file.type.value = listed.type
  if (!file.hasNewText()) file.text.value = text
  file.setSaved(listed, text)
}
