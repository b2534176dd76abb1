import { joinPath, toFileName } from "@hamlet/contract/file-paths"
import { findNamedType, guessFileType } from "@hamlet/contract/file-types"
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { bindText, setTo } from "../../../ui/bind.ts"
import type { ContentType } from "../../archive/select-files.ts"
import { withMeaning } from "../../parts/badges.tsx"
import { Field, Select } from "../../parts/forms/field.tsx"
import { FormDialog } from "../../parts/forms/form-dialog.tsx"
import { fileTemplates } from "../../templates/file-templates.ts"
import { narrowView } from "../panes/narrow.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { createFileActions } from "./file-actions.ts"
import { focusWanted, newEntry } from "./files-view.ts"
import { treeTypeChoices } from "./tree/file-badge.tsx"

type Props = Pick<ValTabProps, "editing">

/** Asks for the path of a new file or folder, while the user is about to create one. */
export function NewEntryDialog(props: Props) {
  const entry = newEntry.value
  if (!entry) return null
  const start = joinPath(entry.parent, "")
  return entry.kind === "folder" ? (
    <NewFolder {...props} start={start} />
  ) : (
    <NewFile {...props} start={start} />
  )
}

const close = setTo(newEntry, undefined)

function NewFile({ editing, start }: Props & { start: string }) {
  const actions = useMemo(() => createFileActions(editing), [editing])
  const path = useSignal(start)
  const chosenType = useSignal<ContentType | undefined>(undefined)
  const template = useSignal("")
  const type = chosenType.value ?? guessType(path.value)
  const problem = findProblem(actions, path.value, start)
  const submit = async () => {
    const { content } = fileTemplates.find(({ title }) => title === template.value) ?? {}
    actions.add(path.value.trim(), type, content ?? toStart(type))
    narrowView.value = "code"
    focusWanted.value = { path: path.value.trim() }
    close()
  }
  const pickTemplate = (title: string) => {
    template.value = title
    const given = fileTemplates.find((one) => one.title === title)
    if (!given) return
    chosenType.value = given.type
    if (path.value === start) path.value = `${start}${given.path}`
  }
  return (
    <FormDialog
      title="New file"
      label="Create"
      isReady={isComplete(path.value, start) && problem === undefined}
      onSubmit={submit}
      onClose={close}
    >
      <Field label="Path" hint="Folders that are missing are created." error={problem}>
        <input
          class="input"
          placeholder="lib/format.ts"
          spellcheck={false}
          autocomplete="off"
          {...bindText(path)}
        />
      </Field>
      <Select
        label="Type"
        value={type}
        choices={withMeaning(treeTypeChoices)}
        onChange={(value) => {
          chosenType.value = value
        }}
      />
      <Select
        label="Template"
        value={template.value}
        choices={[
          { value: "", label: "None" },
          ...fileTemplates.map(({ title, summary }) => ({
            value: title,
            label: `${title}: ${summary}`,
          })),
        ]}
        onChange={pickTemplate}
      />
    </FormDialog>
  )
}

function NewFolder({ editing, start }: Props & { start: string }) {
  const actions = useMemo(() => createFileActions(editing), [editing])
  const path = useSignal(start)
  const problem = findProblem(actions, path.value, start)
  return (
    <FormDialog
      title="New folder"
      label="Create"
      isReady={isComplete(path.value, start) && problem === undefined}
      onSubmit={async () => {
        actions.add(path.value.trim(), "directory")
        close()
      }}
      onClose={close}
    >
      <Field label="Path" error={problem}>
        <input
          class="input"
          placeholder="lib"
          spellcheck={false}
          autocomplete="off"
          {...bindText(path)}
        />
      </Field>
    </FormDialog>
  )
}

/** Nothing is wrong before the user has typed. */
function findProblem(
  actions: ReturnType<typeof createFileActions>,
  path: string,
  start: string,
): string | undefined {
  return isComplete(path, start) ? actions.findProblem(path.trim()) : undefined
}

function isComplete(path: string, start: string): boolean {
  return path !== start && !path.trim().endsWith("/")
}

/** The type of a new file by its name; nothing is said by a name that is not complete. */
function guessType(path: string): ContentType {
  const name = toFileName(path.trim())
  return name === "" ? "script" : (findNamedType(name) ?? guessFileType(name))
}

/** What something starts needs a function; a module or a text begins empty. */
function toStart(type: ContentType): string {
  const isStarted = type !== "script" && type !== "file"
  return (isStarted && fileTemplates.find((one) => one.type === type)?.content) || ""
}
