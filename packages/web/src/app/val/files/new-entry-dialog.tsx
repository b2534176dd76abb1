import { joinPath } from "@hamlet/contract/file-paths"
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { bindText, setTo } from "../../../ui/bind.ts"
import { withMeaning } from "../../parts/badges.tsx"
import { Field, Select } from "../../parts/forms/field.tsx"
import { FormDialog } from "../../parts/forms/form-dialog.tsx"
import { starts } from "../../templates/starts.ts"
import { narrowView } from "../panes/narrow.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { createFileActions, type GivenFile } from "./file-actions.ts"
import { newEntry } from "./files-view.ts"
import { fileTypeChoices } from "./tree/file-badge.tsx"

type ContentType = GivenFile["type"]

/** A file to start from. */
export interface FileTemplate extends GivenFile {
  readonly title: string
}

type Props = Pick<ValTabProps, "editing"> & {
  readonly fileTemplates?: readonly FileTemplate[]
}

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

function NewFile({ editing, fileTemplates = [], start }: Props & { start: string }) {
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
        choices={withMeaning(fileTypeChoices)}
        onChange={(value) => {
          chosenType.value = value
        }}
      />
      {fileTemplates.length === 0 ? null : (
        <Select
          label="Start with"
          value={template.value}
          choices={[
            { value: "", label: "An empty file" },
            ...fileTemplates.map(({ title }) => ({ value: title, label: title })),
          ]}
          onChange={pickTemplate}
        />
      )}
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

/** The type of a new file by its name, as the server would choose it. */
function guessType(path: string): ContentType {
  return path === "" || path.endsWith("/") || /\.[tj]sx?$/.test(path) ? "script" : "file"
}

/** What something starts needs a function; a module or a text begins empty. */
function toStart(type: ContentType): string {
  return type === "script" || type === "file" ? "" : starts[type]
}
