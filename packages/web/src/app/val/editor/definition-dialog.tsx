import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { Dialog } from "../../../ui/dialog.tsx"
import { shownDefinition } from "./editor-features.ts"

/** A definition in a file of a package or of the standard library, to read. */
export function DefinitionDialog() {
  const shown = shownDefinition.value
  if (!shown) return null
  const close = () => {
    shownDefinition.value = undefined
  }
  return (
    <Dialog title={shown.title} onClose={close} kind="wide">
      <div class="definition-host">
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
