import { useSignal } from "@preact/signals"
import { bindText } from "../../../ui/bind.ts"
import { api } from "../../api.ts"
import { isNotFound } from "../../data/explain.ts"
import { showDone } from "../../frame/toast-list.ts"
import { Field } from "../../parts/forms/field.tsx"
import { FormDialog } from "../../parts/forms/form-dialog.tsx"

/** A branch, as its actions need it. */
interface NamedBranch {
  readonly id: string
  readonly name: string
}

/** Asks for a name, and makes a branch with the files of another. */
export function NewBranchDialog(props: {
  readonly valId: string
  readonly source: NamedBranch
  readonly onCreated: (name: string) => void
  readonly onClose: () => void
}) {
  const { valId, source, onCreated, onClose } = props
  const name = useSignal("")
  const create = async () => {
    const input = { val_id: valId, name: name.peek(), branchId: source.id }
    const created = await api.createBranch(input)
    onClose()
    showDone(`Branch ${created.name} has the files of ${source.name}`)
    onCreated(created.name)
  }
  return (
    <FormDialog
      title="New branch"
      label="Create branch"
      busyLabel="Creating…"
      isReady={name.value !== ""}
      onSubmit={create}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint={`It begins with the saved files of ${source.name}. What runs on ${source.name} does not change. Those who can open the val can read the new branch.`}
      >
        <input
          class="input"
          maxLength={48}
          pattern={"[a-zA-Z0-9$\\[\\]\\(\\)\\-_.]+"}
          title="Letters, digits and $ [ ] ( ) - _ ."
          autocomplete="off"
          spellcheck={false}
          required
          {...bindText(name)}
        />
      </Field>
    </FormDialog>
  )
}

/** Asks before draft mode puts unsaved files where others can read them. */
export function DraftModeDialog(props: {
  readonly onTurn: () => Promise<void>
  readonly onClose: () => void
}) {
  const { onTurn, onClose } = props
  const turn = async () => {
    await onTurn()
    onClose()
  }
  return (
    <FormDialog title="Turn draft mode on?" label="Turn on" onSubmit={turn} onClose={onClose}>
      <p>
        Preview puts your unsaved files on a branch called <em>draft</em>. Those who can open this
        val can read it.
      </p>
    </FormDialog>
  )
}

/** Asks, and deletes a branch. */
export function DeleteBranchDialog(props: {
  readonly valId: string
  readonly branch: NamedBranch
  readonly onDeleted: () => void
  readonly onClose: () => void
}) {
  const { valId, branch, onDeleted, onClose } = props
  const remove = async () => {
    try {
      await api.deleteBranch({ val_id: valId, branch_id: branch.id })
    } catch (error) {
      // The branch was deleted elsewhere.
      if (!isNotFound(error)) throw error
    }
    onClose()
    showDone(`Branch ${branch.name} is deleted`)
    onDeleted()
  }
  return (
    <FormDialog
      title={`Delete branch ${branch.name}?`}
      label="Delete branch"
      busyLabel="Deleting…"
      isDanger
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        Its files, versions, addresses and schedules are deleted. What was merged stays where it was
        merged to.
      </p>
    </FormDialog>
  )
}
