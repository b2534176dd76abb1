import { editorShortcuts } from "../../editor/shortcuts.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { joined } from "../session/owners.ts"
import { appShortcuts, isMac, ownerKeys, type Shortcut, valShortcuts } from "./shortcuts.ts"

/** All shortcuts. */
export function ShortcutDialog({ onClose }: { onClose: () => void }) {
  const everywhere = appShortcuts.filter(
    ({ keys }) => keys !== ownerKeys || joined.value.length > 0,
  )
  return (
    <Dialog title="Shortcuts" kind="wide" onClose={onClose}>
      <div class="shortcuts">
        <Group title="Everywhere" shortcuts={everywhere} />
        <Group title="On the page of a val" shortcuts={valShortcuts} />
        <Group title="In the editor" shortcuts={editorShortcuts} />
      </div>
    </Dialog>
  )
}

function Group(props: { readonly title: string; readonly shortcuts: readonly Shortcut[] }) {
  return (
    <section aria-label={props.title}>
      <h3>{props.title}</h3>
      <dl>
        {props.shortcuts.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{isMac() && key === "Ctrl" ? "⌘" : key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
