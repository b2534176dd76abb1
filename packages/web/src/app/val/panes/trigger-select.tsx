import { toShortTime } from "../../schedules/to-short-time.ts"
import type { EditedFile } from "../files/edited-file.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import type { FileSchedules } from "./file-schedules.ts"

/** Which file the pane is about, and Run starts. A val with one file of code has no choice. */
export function TriggerSelect(
  props: Pick<ValTabProps, "editing" | "isOwn"> & {
    readonly schedules: FileSchedules
    readonly onPick: (file: EditedFile) => void
  },
) {
  const { editing, onPick } = props
  const code = editing.files.present.value.filter((file) => file.isCode)
  if (code.length < 2) return null
  const triggered = code.filter((file) => file.isTriggered)
  const scripts = code.filter((file) => !file.isTriggered)
  const toOption = (file: EditedFile) => (
    <option key={file.key} value={file.key}>
      {toLabel(file, props)}
    </option>
  )
  return (
    <div class="row trigger-line">
      <select
        class="input trigger-select"
        aria-label="File that runs"
        value={editing.files.started.value?.key}
        onChange={(event) => {
          const file = code.find(({ key }) => key === event.currentTarget.value)
          if (file) onPick(file)
        }}
      >
        {triggered.map(toOption)}
        {triggered.length > 0 && scripts.length > 0 ? (
          <optgroup label="Scripts and modules">{scripts.map(toOption)}</optgroup>
        ) : (
          scripts.map(toOption)
        )}
      </select>
    </div>
  )
}

function toLabel(
  file: EditedFile,
  { isOwn, schedules }: { readonly isOwn: boolean; readonly schedules: FileSchedules },
): string {
  const path = file.path.value
  const type = file.type.value
  if (type === "http") return `${path} · HTTP`
  if (type === "email") return `${path} · mail`
  if (type !== "interval") return path
  const { id } = file.saved.value ?? {}
  const found = id === undefined ? undefined : schedules.value.get(id)
  return `${path} · ${found && isOwn ? toShortTime(found) : "interval"}`
}
