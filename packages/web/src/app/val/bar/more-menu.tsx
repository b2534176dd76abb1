import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { Menu, MenuItem } from "../../parts/buttons/menu.tsx"
import type { LinkTab } from "../../parts/link-tabs.tsx"
import { DraftModeDialog } from "../branches/branch-dialogs.tsx"
import { isWordWrapped } from "../editor/editor-settings.ts"
import { toDataHref } from "../to-href.ts"
import type { ValTabProps } from "../val-tab-props.ts"

/** The tabs that the bar has no room for, and the tools of the editor. */
export function MoreMenu(
  props: Pick<ValTabProps, "actions" | "draftMode" | "editing" | "isOwn" | "tab"> & {
    readonly tabs: readonly LinkTab[]
  },
) {
  const { actions, draftMode, editing, isOwn, tab, tabs } = props
  const isAsking = useSignal(false)
  const isCode = tab === ""
  const turn = () => {
    const isOn = !draftMode.isOn.peek()
    if (!isOn || editing.val.peek().privacy === "private") return draftMode.turn(isOn)
    isAsking.value = true
    return undefined
  }
  if (!isCode && tabs.length === 0) return null
  return (
    <>
      <Menu label="More" title="More" button={<Icon name="more" />}>
        {tabs.map(({ href, label, icon = "file" }) => (
          <MenuItem key={href} icon={icon} label={label} href={href} />
        ))}
        {isCode && tabs.length > 0 ? <hr /> : null}
        {isCode ? (
          <>
            <MenuItem
              icon="search"
              label="Find"
              onClick={() => actions.editor.current?.openSearch()}
            />
            <MenuItem
              icon="wrap"
              label={isWordWrapped.value ? "Stop wrapping lines" : "Wrap long lines"}
              onClick={setTo(isWordWrapped, !isWordWrapped.value)}
            />
          </>
        ) : null}
        {isCode && isOwn ? (
          <>
            <MenuItem icon="format" label="Format" onClick={() => actions.format()} />
            <MenuItem icon="data" label="Data" href={toDataHref(editing)} />
            <MenuItem
              icon="edit"
              label={draftMode.isOn.value ? "Turn draft mode off" : "Turn draft mode on"}
              onClick={turn}
            />
          </>
        ) : null}
      </Menu>
      {isAsking.value ? (
        <DraftModeDialog onTurn={() => draftMode.turn(true)} onClose={setTo(isAsking, false)} />
      ) : null}
    </>
  )
}
