import { useSignalEffect } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { currentLocation } from "../../frame/location.ts"
import { showError } from "../../frame/toast-list.ts"
import { session } from "../../session/session.ts"
import { DefinitionDialog } from "../editor/definition-dialog.tsx"
import { editorFeatures } from "../editor/editor-features.ts"
import { changeLayout, layout, paneLimits } from "../panes/layout.ts"
import { drawerId, LogDrawer } from "../panes/log-drawer.tsx"
import { SidePane } from "../panes/side-pane.tsx"
import { Splitter } from "../panes/splitter.tsx"
import { SaveProblemNotice } from "../saving/save-problem-notice.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { sidePaneId } from "./code-actions.ts"
import { EditorTools } from "./code-buttons.tsx"
import { ConflictDialog } from "./conflict-dialog.tsx"
import { DraftNotice } from "./draft-notice.tsx"
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
  useCodeCommands({ ...actions, format: () => void editor.current?.format(), isOwn, base })
  const { sidePercent, isSideOpen, drawerPercent } = layout.value
  const drawer = editing.val.value.type === "http" ? "isHttpDrawerOpen" : "isDrawerOpen"
  const isDrawerOpen = layout.value[drawer]
  const hasDrawer = session.value.kind === "signed-in" || session.value.kind === "ended"
  const toggleDrawer = (isOpen: boolean) => changeLayout({ [drawer]: isOpen })
  return (
    <>
      <div
        class={`panes ${isSideOpen ? "" : "panes-no-side"} ${isDrawerOpen ? "" : "panes-no-drawer"}`}
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
      <DraftNotice editing={editing} />
      <div class="code-host">
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
            if (outcome.ok) editing.type(editor.current?.getText() ?? editing.code.peek())
            else showError(outcome.message)
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
