import { useEffect, useRef } from "preact/hooks"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { Dialog } from "../../../ui/dialog.tsx"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { viewer } from "../../session/session.ts"
import { shownDefinition } from "../editor/editor-features.ts"
import { changeLayout, layout, paneLimits } from "../panes/layout.ts"
import { drawerId, LogDrawer } from "../panes/log-drawer.tsx"
import { SidePane } from "../panes/side-pane.tsx"
import { Splitter } from "../panes/splitter.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { sidePaneId } from "./code-actions.ts"
import { CodePane } from "./code-pane.tsx"
import { ConflictDialog } from "./conflict-dialog.tsx"
import { useCodeCommands, useCodeKeys } from "./use-code-keys.ts"

/** The code, beside it the result, and below it the logs. */
export function CodeTab(props: ValTabProps) {
  const { editing, isOwn, actions, draftMode } = props
  useFileInAddress(editing)
  useCodeKeys(actions)
  useCodeCommands({ ...actions, editing, draftMode, isOwn })
  const { sidePercent, isSideOpen, drawerPercent } = layout.value
  const drawer =
    editing.files.started.value?.type.value === "http" ? "isHttpDrawerOpen" : "isDrawerOpen"
  const isDrawerOpen = layout.value[drawer]
  const hasDrawer = viewer() !== undefined
  const toggleDrawer = (isOpen: boolean) => changeLayout({ [drawer]: isOpen })
  return (
    <>
      <div
        class={`fill panes ${isSideOpen ? "" : "panes-no-side"} ${isDrawerOpen ? "" : "panes-no-drawer"}`}
        style={{ "--side-size": `${sidePercent}%`, "--drawer-share": drawerPercent / 100 }}
      >
        <CodePane {...props} />
        <Splitter
          label="Size of the result"
          orientation="vertical"
          controls={sidePaneId}
          percent={sidePercent}
          limits={paneLimits.side}
          isOpen={isSideOpen}
          onResize={(percent) => changeLayout({ sidePercent: percent })}
          onToggle={(isOpen) => changeLayout({ isSideOpen: isOpen })}
        />
        <SidePane {...props} />
        {hasDrawer ? (
          <>
            <Splitter
              label="Size of the logs"
              orientation="horizontal"
              controls={drawerId}
              percent={drawerPercent}
              limits={paneLimits.drawer}
              isOpen={isDrawerOpen}
              onResize={(percent) => changeLayout({ drawerPercent: percent })}
              onToggle={toggleDrawer}
            />
            <LogDrawer {...props} isOpen={isDrawerOpen} onToggle={toggleDrawer} />
          </>
        ) : null}
      </div>
      <ConflictDialog editing={editing} />
      <DefinitionDialog />
    </>
  )
}

/** Keeps the shown file and `?file=` of the address the same. */
function useFileInAddress({ files }: ValTabProps["editing"]): void {
  const asked = currentLocation.value.query.get("file") ?? undefined
  const current = files.current.value
  const shown = current === files.entry.value ? undefined : current?.path.value
  const isFirst = useRef(true)
  useEffect(() => {
    // Back from another tab of the val, the file is the one that was shown.
    const file =
      asked === undefined ? (isFirst.current ? undefined : files.entry.peek()) : files.find(asked)
    isFirst.current = false
    if (file && file !== files.current.peek()) files.open(file)
  }, [files, asked])
  useEffect(() => setQuery({ file: shown }), [shown])
}

/** A definition in a file of a package or of the standard library, to read. */
function DefinitionDialog() {
  const shown = shownDefinition.value
  if (!shown) return null
  const close = () => {
    shownDefinition.value = undefined
  }
  return (
    <Dialog title={shown.title} onClose={close} kind="wide">
      <div class="boxed definition-host">
        <LazyCodeEditor
          key={shown.title}
          value={shown.text}
          language="typescript"
          path={`definitions/${shown.title}`}
          label={`Definition in ${shown.title}`}
          readOnly
          goTo={shown}
        />
      </div>
    </Dialog>
  )
}
