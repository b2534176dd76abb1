import { useLayoutEffect } from "preact/hooks"
import { Icon, type IconName } from "../../../ui/icon.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { type NarrowView, narrowView } from "./narrow.ts"

/** In a narrow window, what is shown: the files, the code, the result or the runs. */
export function ViewTabs(props: Pick<ValTabProps, "editing" | "tab"> & { hasRuns: boolean }) {
  const { editing, tab, hasRuns } = props
  // The address of a schedule or of mail is about what is beside the code.
  useLayoutEffect(() => {
    narrowView.value = tab === "" ? "code" : "preview"
  }, [tab, editing])
  return (
    <nav class="view-tabs" aria-label="Parts of the val">
      <ViewTab view="files" icon="file" label="Files" />
      <ViewTab view="code" icon="script" label="Code" />
      <ViewTab view="preview" icon="http" label="Preview" />
      {hasRuns ? <ViewTab view="runs" icon="runs" label="Runs" /> : null}
    </nav>
  )
}

function ViewTab(props: {
  readonly view: NarrowView
  readonly icon: IconName
  readonly label: string
}) {
  const { view, icon, label } = props
  return (
    <button
      type="button"
      class="column tiny view-tab"
      aria-pressed={narrowView.value === view}
      onClick={() => {
        narrowView.value = view
      }}
    >
      <Icon name={icon} />
      {label}
    </button>
  )
}
