import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { CopyButton } from "../../../ui/copy-button.tsx"
import { Icon } from "../../../ui/icon.tsx"
import { changeLayout, layout } from "../panes/layout.ts"
import { SaveStatus } from "../saving/save-status.tsx"
import type { ValTabProps } from "../val-tab-props.ts"

type Props = Pick<ValTabProps, "editing" | "actions" | "isOwn">

/** Save and Run, and the tools of the editor, at the end of the bar. */
export function CodeButtons(props: Props) {
  const { editing, actions, isOwn } = props
  const { type } = editing.val.value
  const isBusy = useLasting(actions.isBusy)
  return (
    <div class="val-buttons">
      <span class="val-tools">
        <EditorTools {...props} />
        <PaneToggles editing={editing} />
      </span>
      {isOwn ? <SaveStatus editing={editing} /> : <span class="quiet">Read only</span>}
      {isOwn ? (
        <button
          type="button"
          class="button button-quiet button-small val-save"
          title="Save (Ctrl S)"
          disabled={!editing.isDirty.value}
          onClick={() => void actions.save()}
        >
          <Icon name="save" /> Save
        </button>
      ) : null}
      {isBusy ? (
        <button
          type="button"
          class="button button-quiet button-small val-run"
          onClick={() => actions.cancel()}
        >
          <Icon name="stop" /> Cancel
        </button>
      ) : (
        <button
          type="button"
          class="button button-small val-run"
          title={`${isOwn ? "Save and " : ""}${type === "http" ? "send the request" : "run"} (Ctrl Enter)`}
          onClick={() => void actions.start()}
        >
          <Icon name="play" /> Run
        </button>
      )}
    </div>
  )
}

const busyMs = 300

/** Whether something has lasted for a while, so that a button does not flicker. */
function useLasting(isNow: boolean): boolean {
  const isLasting = useSignal(false)
  useEffect(() => {
    isLasting.value = false
    if (!isNow) return
    const timer = setTimeout(() => {
      isLasting.value = true
    }, busyMs)
    return () => clearTimeout(timer)
  }, [isNow])
  return isNow && isLasting.value
}

/** Find, Format and the import line; in the bar, on a phone below the code. */
export function EditorTools({ editing, actions, isOwn }: Props) {
  const { name, links } = editing.val.value
  return (
    <>
      <button
        type="button"
        class="icon-button"
        title="Find (Ctrl F)"
        aria-label="Find"
        onClick={() => actions.editor.current?.openSearch()}
      >
        <Icon name="search" />
      </button>
      {isOwn ? (
        <button
          type="button"
          class="icon-button"
          title="Format (Shift Alt F)"
          aria-label="Format"
          onClick={() => void actions.editor.current?.format()}
        >
          <Icon name="format" />
        </button>
      ) : null}
      <CopyButton text={`import ${name} from "${links.module}"`} label="Copy the import line" />
    </>
  )
}

function PaneToggles({ editing }: Pick<Props, "editing">) {
  const { isSideOpen } = layout.value
  const drawer = editing.val.value.type === "http" ? "isHttpDrawerOpen" : "isDrawerOpen"
  return (
    <>
      <PaneToggle
        icon="panelBottom"
        label="Logs below the code"
        isOpen={layout.value[drawer]}
        onToggle={(isOpen) => changeLayout({ [drawer]: isOpen })}
      />
      <PaneToggle
        icon="panelRight"
        label="Pane beside the code"
        isOpen={isSideOpen}
        onToggle={(isOpen) => changeLayout({ isSideOpen: isOpen })}
      />
    </>
  )
}

function PaneToggle(props: {
  readonly icon: "panelBottom" | "panelRight"
  readonly label: string
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}) {
  const { icon, label, isOpen, onToggle } = props
  return (
    <button
      type="button"
      class="icon-button pane-toggle"
      aria-label={label}
      aria-pressed={isOpen}
      title={label}
      onClick={() => onToggle(!isOpen)}
    >
      <Icon name={icon} />
    </button>
  )
}
