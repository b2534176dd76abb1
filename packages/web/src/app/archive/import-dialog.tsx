import { guessFileType } from "@hamlet/contract/file-types"
import { limits as wireLimits } from "@hamlet/contract/limits"
import { useSignal } from "@preact/signals"
import { bindChoice, bindText } from "../../ui/bind.ts"
import { Icon } from "../../ui/icon.tsx"
import { navigate } from "../frame/location.ts"
import { privacyChoices, typeChoices, withMeaning } from "../parts/badges.tsx"
import { Field, Select, valNameInput } from "../parts/forms/field.tsx"
import { FormDialog } from "../parts/forms/form-dialog.tsx"
import { DataTable } from "../parts/lists/data-table.tsx"
import { createValOf } from "./create-val.ts"
import type { ContentType, SelectedFiles, SkippedFile, ValFile } from "./select-files.ts"

const limits = { skippedShownMax: 100 }
const fileTypeChoices = [...typeChoices, { value: "file", label: "File" }] as const

/** A val from the files of a folder or archive: its name, its privacy, and what starts each file. */
export function ImportDialog(props: {
  readonly name: string
  readonly selected: SelectedFiles
  readonly onClose: () => void
}) {
  const { selected, onClose } = props
  const name = useSignal(toValName(props.name || selected.folder || ""))
  const privacy = useSignal<"public" | "unlisted" | "private">("private")
  const files = useSignal(selected.files)
  const count = files.value.length
  const create = async () => {
    const val = await createValOf({
      name: name.value.trim(),
      privacy: privacy.value,
      files: files.value,
    })
    onClose()
    navigate(new URL(val.url).pathname)
  }
  return (
    <FormDialog
      title={`New val with ${toCount(count)}`}
      size="wide"
      onClose={onClose}
      onSubmit={create}
      label="Create"
      busyLabel="Creating…"
      isReady={count > 0 && name.value.trim() !== ""}
    >
      <Field label="Name">
        <input name="name" required {...valNameInput} {...bindText(name)} />
      </Field>
      <Select label="Privacy" choices={withMeaning(privacyChoices)} {...bindChoice(privacy)} />
      {count > 0 ? (
        <ImportedFiles
          files={files.value}
          onChange={(path, type) => {
            files.value = files.value.map((file) => (file.path === path ? { ...file, type } : file))
          }}
        />
      ) : (
        <p>None of them can be a file of a val.</p>
      )}
      <Skipped files={selected.skipped} />
    </FormDialog>
  )
}

function ImportedFiles(props: {
  readonly files: readonly ValFile[]
  readonly onChange: (path: string, type: ContentType) => void
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard
    <section class="import-files" tabIndex={0} aria-label="Files">
      <DataTable
        rows={props.files}
        toKey={({ path }) => path}
        columns={[
          ["File", "table-wide", ({ path }) => <span class="mono breaks">{path}</span>],
          [
            "Type",
            "",
            ({ path, type }) =>
              guessFileType(path) === "file" ? (
                <span class="quiet">File</span>
              ) : (
                <Select
                  label={`Type of ${path}`}
                  isLabelHidden
                  value={type}
                  choices={fileTypeChoices}
                  onChange={(chosen) => props.onChange(path, chosen)}
                />
              ),
          ],
        ]}
      />
    </section>
  )
}

function Skipped({ files }: { files: readonly SkippedFile[] }) {
  if (files.length === 0) return null
  const more = files.length - limits.skippedShownMax
  return (
    <details class="fold">
      <summary>
        <Icon name="chevron" /> {toCount(files.length)} left out
      </summary>
      <ul>
        {files.slice(0, limits.skippedShownMax).map(({ path, problem }) => (
          <li key={path}>
            <code>{path}</code>: {problem}
          </li>
        ))}
        {more > 0 ? <li>and {more.toLocaleString("en")} more</li> : null}
      </ul>
    </details>
  )
}

function toCount(count: number): string {
  return count === 1 ? "1 file" : `${count.toLocaleString("en")} files`
}

/** The name of a folder as that of a val; empty if nothing of it can be one. */
function toValName(text: string): string {
  return text
    .replace(/[^a-zA-Z0-9_-]+/g, "_")
    .replace(/^[^a-zA-Z]+/, "")
    .slice(0, wireLimits.nameCharsMax)
    .replace(/[_-]+$/, "")
}
