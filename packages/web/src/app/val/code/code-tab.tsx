import { useEffect, useRef } from "preact/hooks"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { Dialog } from "../../../ui/dialog.tsx"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { viewer } from "../../session/session.ts"
import { shownDefinition } from "../editor/editor-features.ts"
import { ChangesDialog } from "../files/changes-dialog.tsx"
import { NewEntryDialog } from "../files/new-entry-dialog.tsx"
import { FileRail } from "../files/tree/file-rail.tsx"
import { hasTree } from "../files/tree/tree-rows.ts"
import { useFileCommands } from "../files/use-file-commands.ts"
import type { ValFiles } from "../files/val-files.ts"
import { changeLayout, layout, paneLimits } from "../panes/layout.ts"
import { drawerId, LogDrawer } from "../panes/log-drawer.tsx"
import { isNarrow, narrowView } from "../panes/narrow.ts"
import { SidePane } from "../panes/side-pane.tsx"
import { Splitter } from "../panes/splitter.tsx"
import { ViewTabs } from "../panes/view-tabs.tsx"
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
  useFileCommands(editing)
  const { sidePercent, isSideOpen, drawerPercent } = layout.value
  const drawer =
    editing.files.started.value?.type.value === "http" ? "isHttpDrawerOpen" : "isDrawerOpen"
  const view = narrowView.value
  const isDrawerOpen = layout.value[drawer] || (isNarrow.value && view === "runs")
  const hasRail = isNarrow.value || (layout.value.isTreeOpen && hasTree(editing.files.all.value))
  const hasDrawer = viewer() !== undefined
  const toggleDrawer = (isOpen: boolean) => changeLayout({ [drawer]: isOpen })
  return (
    <>
      <div
        class={`fill panes ${hasRail ? "panes-rail" : ""} ${isSideOpen ? "" : "panes-no-side"} ${isDrawerOpen ? "" : "panes-no-drawer"}`}
        data-view={view}
        style={{ "--side-size": `${sidePercent}%`, "--drawer-share": drawerPercent / 100 }}
      >
        {hasRail ? <FileRail {...props} /> : null}
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
      <ViewTabs {...props} hasRuns={hasDrawer} />
      <NewEntryDialog editing={editing} />
      <ChangesDialog editing={editing} actions={actions} />
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
  /** The path that is in the address because the file was shown, and not because of a link. */
  const written = useRef<{ readonly in: ValFiles; readonly path?: string | undefined }>({
    in: files,
  })
  useEffect(() => {
    // Meanwhile another file may be shown, which the next effect writes into the address.
    if (written.current.in === files && written.current.path === asked) return
    const file = asked === undefined ? files.entry.peek() : files.find(asked)
    if (file && file !== files.current.peek()) files.open(file)
  }, [files, asked])
  useEffect(() => {
    // A link that was clicked after the rendering asks for another file: the next one opens it.
    if (currentLocation.peek().query.get("file") !== (asked ?? null)) return
    written.current = { in: files, path: shown }
    // A line belongs to the file that was asked for.
    setQuery({ file: shown, ...(shown === asked ? {} : { line: undefined }) })
  }, [shown])
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
