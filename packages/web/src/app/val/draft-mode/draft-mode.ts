import { ApiError, type Input } from "@hamlet/contract/client"
import { effect, type Signal } from "@preact/signals"
import { api } from "../../api.ts"
import { createStoredFlag } from "../../data/stored.ts"
import { showError } from "../../frame/toast-list.ts"
import type { TriedFile, ValEditing } from "../code/val-editing.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { toChanges } from "../files/to-changes.ts"
import { listDraftEdits, type SentFile, toSent } from "./draft-edits.ts"

/** The branch with the unsaved files. */
const draftBranch = "draft"

/** The note of each version of that branch: one with another note has been made by a person. */
const draftNote = "Unsaved files, for a preview"

const limits = { branchesMax: 100, versionsMax: 100 }

/** The branch as this tab has last written it. */
interface DraftCopy {
  readonly id: string
  /** The version that it is a copy of. */
  readonly base: string
  readonly files: ReadonlyMap<EditedFile, SentFile>
}

/**
 * Draft mode: Run previews unsaved files on a branch of their own, and only Save changes the branch
 * that is edited. It is remembered by this browser for each val.
 */
export class DraftMode {
  readonly isOn: Signal<boolean>
  readonly #editing: ValEditing
  readonly #unfollow: () => void
  #copy: DraftCopy | undefined
  /** Changes of the branch, one after the other. */
  #pending: Promise<unknown> = Promise.resolve()

  constructor(editing: ValEditing) {
    this.#editing = editing
    this.isOn = createStoredFlag(`hamlet.draft-mode.${editing.val.peek().id}`)
    let wasDirty = editing.isDirty.peek()
    this.#unfollow = effect(() => {
      const isDirty = editing.isDirty.value
      if (wasDirty && !isDirty && this.isOn.peek()) void this.#clear().catch(showError)
      wasDirty = isDirty
    })
  }

  /** Turns it on or off; off deletes the branch. */
  async turn(isOn: boolean): Promise<void> {
    this.isOn.value = isOn
    if (!isOn) await this.#clear()
  }

  /** Makes the file that Run starts run as it is in the editor, with all others. */
  async prepare(): Promise<void> {
    const { trial, isDirty } = this.#editing
    await this.#inTurn(async () => {
      trial.value = isDirty.peek() ? await this.#write() : undefined
    })
  }

  stop(): void {
    this.#unfollow()
  }

  async #write(): Promise<TriedFile | undefined> {
    const { files, branch } = this.#editing
    const file = files.started.peek()
    if (!file) return undefined
    if (branch.peek().name === draftBranch)
      throw new Error(`Cannot preview unsaved files of branch "${draftBranch}": draft mode uses it`)
    const base = `${branch.peek().id} ${branch.peek().version}`
    const isKnown = this.#copy?.base === base
    try {
      await this.#update(isKnown && this.#copy ? this.#copy : await this.#create(base))
    } catch (error) {
      // The branch may have been deleted or changed elsewhere.
      if (!isKnown || !(error instanceof ApiError) || error.status >= 500) throw error
      await this.#update(await this.#create(base))
    }
    return await this.#find(file)
  }

  /** A new copy of the branch that is edited. */
  async #create(base: string): Promise<DraftCopy> {
    if (!(await this.#delete()))
      throw new Error(
        `Cannot preview unsaved files: draft mode uses a branch called "${draftBranch}", and yours has versions of its own`,
      )
    const { val, branch, files } = this.#editing
    const { id } = await api.createBranch({
      val_id: val.peek().id,
      name: draftBranch,
      branchId: branch.peek().id,
    })
    const saved = files.all.peek().flatMap((file) => {
      const listed = file.saved.peek()
      return listed ? [[file, { ...listed, text: file.savedText.peek() }] as const] : []
    })
    return { id, base, files: new Map(saved) }
  }

  async #update(copy: DraftCopy): Promise<void> {
    this.#copy = undefined
    const all = this.#editing.files.all.peek()
    // A file that was deleted on the branch and is back is written again, with its text.
    await Promise.all(all.filter((file) => !copy.files.has(file)).map((file) => file.load()))
    const changes: Input<"changeFiles">["changes"] = [...toChanges(listDraftEdits(all, copy.files))]
    const files = toSent(all, copy.files)
    if (changes.length > 0)
      await api.changeFiles({
        val_id: this.#editing.val.peek().id,
        branch_id: copy.id,
        changes,
        note: draftNote,
      })
    this.#copy = { ...copy, files }
  }

  /** The file on the branch, with its own address. */
  async #find(file: EditedFile): Promise<TriedFile | undefined> {
    const { data } = await api.listFiles({
      val_id: this.#editing.val.peek().id,
      branch_id: this.#copy?.id,
      path: file.path.peek(),
      recursive: false,
      limit: 1,
    })
    const [listed] = data
    return listed && { file, branch: draftBranch, listed }
  }

  #clear(): Promise<void> {
    return this.#inTurn(async () => {
      this.#editing.trial.value = undefined
      this.#copy = undefined
      await this.#delete()
    })
  }

  /** Deletes the branch, unless a person has saved on it. Returns whether there is none now. */
  async #delete(): Promise<boolean> {
    const val_id = this.#editing.val.peek().id
    const { data } = await api.listBranches({ val_id, limit: limits.branchesMax })
    const found = data.find(({ name }) => name === draftBranch)
    if (!found) return true
    const history = await api.listHistory({
      val_id,
      branch_id: found.id,
      limit: limits.versionsMax,
    })
    const isOurs =
      history.links.next === undefined &&
      history.data.every(({ version, note }) => version === 0 || note === draftNote)
    if (isOurs) await api.deleteBranch({ val_id, branch_id: found.id })
    return isOurs
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#pending.then(work)
    this.#pending = done.catch(() => {})
    return done
  }
}
