import { useSignalEffect } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { Dialog } from "../../../ui/dialog.tsx"
import { currentLocation } from "../../frame/location.ts"
import { showError } from "../../frame/toast-list.ts"
import { viewer } from "../../session/session.ts"
import { editorFeatures, shownDefinition } from "../editor/editor-features.ts"
import { changeLayout, layout, paneLimits } from "../panes/layout.ts"
import { drawerId, LogDrawer } from "../panes/log-drawer.tsx"
import { SidePane } from "../panes/side-pane.tsx"
import { Splitter } from "../panes/splitter.tsx"
import { DraftNotice, ElsewhereNotice, SaveProblemNotice } from "../saving/notices.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { sidePaneId } from "./code-actions.ts"
import { EditorTools } from "./code-buttons.tsx"
import { ConflictDialog } from "./conflict-dialog.tsx"
import { typeService } from "./type-service.ts"
import { useCodeCommands, useCodeKeys } from "./use-code-keys.ts"

/** The code, beside it the result, and below it the logs. */
export function CodeTab(props: ValTabProps) {
  const { editing, isOwn, base, actions } = props
  const { editor } = actions
  // The text was changed outside the editor: a draft, a reset, or a save in another tab.
  useSignalEffect(() => {
    const text = editing.code.value
    if (editor.current && editor.current.getText() !== text) editor.current.setText(text)
  })
  useCodeKeys(actions)
  useCodeCommands({ ...actions, isOwn, base })
  const { sidePercent, isSideOpen, drawerPercent } = layout.value
  const drawer = editing.val.value.type === "http" ? "isHttpDrawerOpen" : "isDrawerOpen"
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

function CodePane(props: ValTabProps) {
  const { editing, isOwn, actions } = props
  const { name, author } = editing.val.value
  const { editor } = actions
  const goTo = useGoTo()
  return (
    <section class="code-pane" aria-label="Code">
      <SaveProblemNotice editing={editing} onGoTo={(line) => editor.current?.goToLine(line)} />
      <ElsewhereNotice editing={editing} isOwn={isOwn} />
      <DraftNotice editing={editing} />
      <div class="column fill code-host">
        <LazyCodeEditor
          handle={editor}
          value={editing.code.peek()}
          language="typescript"
          path={`${author.username}/${name}.tsx`}
          label={`Code of ${author.username}/${name}`}
          readOnly={!isOwn}
          goTo={goTo}
          typeService={typeService}
          {...editorFeatures(editing)}
          onChange={(text) => editing.type(text)}
          onSave={() => void actions.save()}
          onRun={() => void actions.start()}
          onFormat={(outcome) => {
            if (!outcome.ok) showError(outcome.message)
          }}
        />
      </div>
      <div class="code-tools">
        <EditorTools {...props} />
      </div>
    </section>
  )
}

/** Reads `?line=12`. The object changes only with the address, since each one moves the cursor. */
function useGoTo() {
  const line = Number(currentLocation.value.query.get("line"))
  return useMemo(() => (Number.isInteger(line) && line > 0 ? { line } : undefined), [line])
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
