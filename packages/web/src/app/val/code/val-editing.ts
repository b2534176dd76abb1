import type { Output } from "@hamlet/contract/client"
import { readmePath } from "@hamlet/contract/entry-file"
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { api } from "../../api.ts"
import { isConnectionError } from "../../data/explain.ts"
import type { RecoverableDraft } from "../drafts/draft.ts"
import { ValDrafts } from "../drafts/val-drafts.ts"
import {
  type FileConflict,
  findConflicts,
  matchFiles,
  type Resolution,
} from "../files/conflicts.ts"
import type { EditedFile } from "../files/edited-file.ts"
import {
  type Branch,
  type ListedFile,
  type LoadedVal,
  loadNewest,
  readLastText,
  type Val,
} from "../files/load-files.ts"
import { ValFiles } from "../files/val-files.ts"
import { createVersionLook } from "../files/version-look.ts"
import { addProblems } from "../saving/add-problems.ts"
import { findSaveProblems } from "../saving/find-save-problem.ts"
import type { SaveState } from "../saving/save-state.ts"
import {
  isConflict,
  isUnchangedSince,
  type SentEdit,
  type SentSave,
  sendSave,
  toSave,
} from "../saving/sent-save.ts"
import type { SaveProblem } from "../saving/syntax-error.ts"

/** A file on a branch that has the unsaved files. */
export interface TriedFile {
  /** The file in the editor. */
  readonly file: EditedFile
  readonly branch: string
  readonly listed: ListedFile
}

const limits = {
  /** How often a save follows versions that others save at the same time. */
  attemptsMax: 5,
}

/** The files of a branch in the editor. Unsaved changes are in the browser's storage. */
export class ValEditing {
  /** The val as last loaded or saved. */
  readonly val: Signal<Val>
  /** The branch with the version that the files are based on. */
  readonly branch: Signal<Branch>
  readonly files: ValFiles
  readonly isDirty: ReadonlySignal<boolean>
  readonly saving: Signal<SaveState> = signal<SaveState>({ kind: "idle" })
  /** A newer version than the one that the files are based on, which this tab has not saved. */
  readonly elsewhere: Signal<LoadedVal | undefined> = signal(undefined)
  /** Why the version that was just saved cannot run. */
  readonly problems: Signal<readonly SaveProblem[]> = signal([])
  readonly drafts: ValDrafts
  /** In draft mode: where the unsaved state of a file can run. */
  readonly trial: Signal<TriedFile | undefined> = signal(undefined)
  /** Asks the editor, which may not be loaded, about the file that it shows. */
  findSyntaxErrorHere: () => ReturnType<CodeEditorHandle["findSyntaxError"]> | undefined = () =>
    undefined
  #pending: Promise<boolean> | undefined
  /** The save that got no response; the server may have it. */
  #lost: SentSave | undefined
  #checking = new AbortController()
  readonly #look: ReturnType<typeof createVersionLook>
  /** The saved version, and whether it parses. */
  #parsed: { readonly version: number; readonly isParsed: Promise<boolean> } | undefined

  constructor({ val, branch, files }: LoadedVal, isOwn: boolean, path?: string) {
    this.val = signal(val)
    this.branch = signal(branch)
    this.#look = createVersionLook(this.val, this.branch)
    this.files = new ValFiles(
      files,
      branch.id,
      (file) => this.#readText(file),
      () => this.drafts.write(),
    )
    this.isDirty = computed(() => this.files.changed.value.length > 0)
    this.files.takeTextsOf(val, branch)
    this.drafts = new ValDrafts(this.files, this.branch, isOwn)
    this.files.openFirst(path)
  }

  /** Saves all changes as the next version, if there are any. Returns whether the server has it. */
  async save(note?: string): Promise<boolean> {
    // Saving and running at the same time does both; text typed in between is saved too.
    if (this.#pending && !(await this.#pending)) return false
    if (!this.isDirty.peek()) return true
    return this.#send(note)
  }

  /**
   * Repeats the save that got no response, as it was sent: what was typed since is not saved with it.
   * Returns undefined when there is none, or when the user has taken the changes back.
   */
  async repeatLost(): Promise<boolean | undefined> {
    const lost = this.#lost
    if (!lost || this.#pending || this.saving.peek().kind !== "failed") return undefined
    if (!this.isDirty.peek()) return undefined
    if (lost.options.ifMatch === this.branch.peek().version) return this.#send(lost.note, lost)
    // The files are based on a newer version since.
    return isUnchangedSince(lost, this.files) ? this.#send(lost.note) : undefined
  }

  /** Decides about a file that is in conflict. After the last one, what is unsaved is saved. */
  async resolve(conflict: FileConflict, resolution: Resolution): Promise<boolean> {
    const saving = this.saving.peek()
    if (saving.kind !== "conflict") return false
    const { file, theirs, merged } = conflict
    if (resolution === "theirs") this.#takeTheirs([conflict])
    else
      batch(() => {
        file.setSaved(theirs?.listed, theirs?.text)
        if (resolution === "merged" && merged !== undefined) file.text.value = merged
      })
    const rest = saving.files.filter((one) => one !== conflict)
    if (rest.length > 0) {
      this.saving.value = { ...saving, files: rest }
      return false
    }
    await this.#rebase(saving.theirs)
    this.saving.value = { kind: "idle" }
    return this.save()
  }

  /** Replaces unsaved changes, of all files or of some, by what is saved. They are set aside. */
  async takeSaved(changed = this.files.changed.peek()): Promise<void> {
    this.drafts.setAside(changed)
    batch(() => {
      for (const file of changed) {
        const saved = file.saved.peek()
        if (saved) file.take(saved, file.savedText.peek())
        else this.files.drop(file)
      }
      this.saving.value = { kind: "idle" }
    })
    this.drafts.write()
    await this.files.current.peek()?.load()
    await this.drafts.findRecoverable()
  }

  /** Restores a draft. Unsaved changes are set aside. */
  async recover(draft: RecoverableDraft): Promise<void> {
    await this.takeSaved()
    this.drafts.restore(draft)
    this.drafts.write()
    const [first] = this.files.changed.peek()
    if (first && !this.files.current.peek()?.isDirty.peek()) this.files.open(first)
    this.drafts.discard(draft)
  }

  /**
   * The val was changed by another part of the page. Unsaved changes stay; those of files that have
   * changed are set aside.
   */
  async refresh(): Promise<void> {
    const newest = await this.#loadNewest()
    do this.#takeTheirs(await this.#findConflicts(newest))
    while (!(await this.#rebase(newest)))
  }

  /** Discards all drafts: the val was deleted. */
  async discardAll(): Promise<void> {
    this.files.all.value = []
    await this.drafts.discardAll()
  }

  /** Looks whether the branch was saved elsewhere: the user should know before they type much more. */
  async look(): Promise<void> {
    if (!(await this.#look.mayBeNewer())) return
    const newest = await this.#loadNewest()
    const conflicts = await this.#findConflicts(newest)
    // A save that is under way may be the reason. Its response may get lost, so it looks again.
    if (this.saving.peek().kind === "saving" || !this.#isNewer(newest)) {
      this.#look.forget()
      return
    }
    const listed = matchFiles(this.files.all.peek(), newest.files)
    const isShownChanged = this.files.tabs.peek().some((file) => {
      const isSame = listed.get(file)?.version === file.saved.peek()?.version
      return !file.isDirty.peek() && !isSame
    })
    if (conflicts.length > 0 || isShownChanged) this.elsewhere.value = newest
    else await this.#rebase(newest)
  }

  /** Shows what was saved elsewhere: in place of unsaved text only after a question. */
  async showElsewhere(theirs: LoadedVal): Promise<void> {
    do {
      const files = await this.#findConflicts(theirs)
      if (files.length > 0) {
        this.saving.value = { kind: "conflict", theirs, files }
        return
      }
    } while (!(await this.#rebase(theirs)))
  }

  /** The file that Run starts, where it can run; undefined for one that was never saved. */
  findStarted(): ListedFile | undefined {
    return this.#findTrial()?.listed ?? this.files.started.value?.saved.value
  }

  /** The file that Run starts, as the API names it. */
  place(): { readonly file?: string; readonly branch: string } {
    const path = this.findStarted()?.path
    const branch = this.#findTrial()?.branch ?? this.branch.value.name
    return { ...(path === undefined ? {} : { file: path }), branch }
  }

  /** Whether the saved version parses; if not, `problems` says why. */
  async parses(): Promise<boolean> {
    if (this.#parsed?.version !== this.branch.peek().version) {
      const file = this.files.current.peek()
      this.#check(file ? [file] : [])
    }
    return (await this.#parsed?.isParsed) ?? true
  }

  /** Whether leaving the page would lose text: unsaved changes are restored when the user is back. */
  mayLose(): boolean {
    return this.isDirty.peek() && !this.drafts.isKept()
  }

  stop(): void {
    this.#checking.abort()
    this.drafts.stop()
  }

  #findTrial(): TriedFile | undefined {
    const trial = this.trial.value
    return trial && trial.file === this.files.started.value ? trial : undefined
  }

  #readText(file: ListedFile): Promise<string> {
    return readLastText(this.val.peek().id, this.branch.peek().id, file)
  }

  #loadNewest(): Promise<LoadedVal> {
    return loadNewest(this.val.peek(), this.branch.peek())
  }

  #isNewer({ branch }: LoadedVal): boolean {
    return branch.version > this.branch.peek().version
  }

  #findConflicts({ files }: LoadedVal): Promise<readonly FileConflict[]> {
    return findConflicts(this.files.all.peek(), files, (file) => this.#readText(file))
  }

  #takeTheirs(conflicts: readonly FileConflict[]): void {
    this.drafts.setAside(conflicts.map(({ file }) => file))
    batch(() => {
      for (const { file, theirs } of conflicts)
        if (theirs) file.take(theirs.listed, theirs.text)
        else this.files.drop(file)
    })
  }

  #send(note: string | undefined, lost?: SentSave): Promise<boolean> {
    this.#pending ??= this.#sendAll(note, lost).finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #sendAll(note: string | undefined, lost: SentSave | undefined): Promise<boolean> {
    this.saving.value = { kind: "saving" }
    try {
      for (let attempt = 1; this.isDirty.peek(); attempt += 1) {
        const isRepeat = lost !== undefined && attempt === 1
        const error = await this.#attempt(isRepeat ? lost : this.#toSave(note))
        if (!error) return true
        if (!isConflict(error) || attempt >= limits.attemptsMax) throw error
        const theirs = await this.#loadNewest()
        const files = await this.#findConflicts(theirs)
        if (files.length > 0) {
          this.saving.value = { kind: "conflict", theirs, files }
          return false
        }
        // Only other files were saved elsewhere, or it was saved and only the response was lost.
        await this.#rebase(theirs)
        // What was typed since is not what the user wanted to save.
        if (isRepeat && !isUnchangedSince(lost, this.files)) throw error
      }
      this.saving.value = { kind: "idle" }
      return true
    } catch (error) {
      this.saving.value = { kind: "failed", error, isRepeated: this.#lost !== undefined }
      return false
    }
  }

  #toSave(note: string | undefined): SentSave {
    const { id: branch_id, version } = this.branch.peek()
    return toSave(this.files, { val_id: this.val.peek().id, branch_id, version }, note)
  }

  /** Sends the changes once. Returns why it has failed. */
  async #attempt(save: SentSave): Promise<unknown> {
    this.#lost = undefined
    try {
      this.#applySaved(save.edits, await sendSave(save))
      return undefined
    } catch (error) {
      if (isConnectionError(error)) this.#lost = save
      return error
    }
  }

  #applySaved(
    sent: readonly SentEdit[],
    { version, files: written, warnings }: Output<"changeFiles">,
  ): void {
    const byPath = new Map(written.map((file) => [file.path, file]))
    batch(() => {
      for (const { file, edit } of sent) {
        if (edit.isDeleted) {
          this.files.forget(file)
          continue
        }
        const before = file.saved.peek()
        const listed = byPath.get(edit.path) ?? (before && { ...before, path: edit.path, version })
        file.setSaved(listed, edit.content ?? file.savedText.peek())
      }
      this.files.addListed(written)
      this.#setVersion(version)
      this.saving.value = { kind: "idle" }
    })
    // The user may have typed more in the meantime.
    this.drafts.write()
    this.#check(
      sent.filter(({ edit }) => !edit.isDeleted).map(({ file }) => file),
      warnings,
    )
    const isPlain = sent.every(({ edit }) => edit.path === edit.savedPath && !edit.isRetyped)
    if (!isPlain) void this.#refreshVal()
  }

  /** Its type and addresses follow the entry file. */
  async #refreshVal(): Promise<void> {
    try {
      const val = await api.getVal({ val_id: this.val.peek().id })
      if (val.version >= this.val.peek().version) this.val.value = val
    } catch {
      // The new type and addresses are shown when the page is loaded again.
    }
  }

  #setVersion(version: number): void {
    const val = this.val.peek()
    this.branch.value = { ...this.branch.peek(), version }
    if (this.branch.peek().id === val.id)
      this.val.value = {
        ...val,
        version,
        code: this.files.entry.peek()?.savedText.peek() ?? val.code,
        readme: this.files.find(readmePath)?.savedText.peek() ?? null,
      }
    if ((this.elsewhere.peek()?.branch.version ?? 0) <= version) this.elsewhere.value = undefined
  }

  /** Bases all files on a newer version. Unsaved changes stay; what is not changed here is replaced. */
  async #rebase({ val, branch, files }: LoadedVal): Promise<boolean> {
    const isDone = await this.files.rebase(files, () => {
      this.val.value = val
      this.branch.value = branch
      if ((this.elsewhere.peek()?.branch.version ?? 0) <= branch.version)
        this.elsewhere.value = undefined
    })
    if (!isDone) return false
    this.drafts.write()
    this.#check(this.files.tabs.peek())
    await this.drafts.findRecoverable()
    return true
  }

  /** Looks for problems of saved files. Running them would show them too. */
  #check(files: readonly EditedFile[], warnings: readonly string[] = []): void {
    this.#checking.abort()
    this.#checking = new AbortController()
    const { signal } = this.#checking
    this.problems.value = addProblems(
      [],
      warnings.map((message) => ({ message })),
    )
    const isParsed = findSaveProblems(this, files, signal, (found) => {
      if (!signal.aborted) this.problems.value = addProblems(this.problems.peek(), found)
    })
    this.#parsed = { version: this.branch.peek().version, isParsed }
  }
}
