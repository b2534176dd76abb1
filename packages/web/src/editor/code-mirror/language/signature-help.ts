import { type Extension, Prec, StateEffect, StateField } from "@codemirror/state"
import { EditorView, keymap, showTooltip, type Tooltip, ViewPlugin } from "@codemirror/view"
import type { SignatureHelp } from "../../type-service/protocol.ts"
import { ask, type LanguageContext } from "./language-context.ts"

interface Shown {
  readonly help: SignatureHelp
  readonly position: number
}

const setShown = StateEffect.define<Shown | null>()

const shownField = StateField.define<Shown | null>({
  create: () => null,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setShown)) return effect.value
    return shown && { ...shown, position: transaction.changes.mapPos(shown.position) }
  },
  provide: (field) => showTooltip.from(field, (shown) => shown && toTooltip(shown)),
})

/** Shows the signature of a call while its arguments are written, or on Control-Shift-Space. */
export function signatureHelp(context: LanguageContext): Extension {
  let lastRequest = 0

  async function show(view: EditorView): Promise<void> {
    lastRequest += 1
    const request = lastRequest
    const position = view.state.selection.main.head
    const help = await ask(context, view, "signature", { position })
    if (request !== lastRequest || help === undefined) return
    const isOpen = view.state.field(shownField) !== null
    if (help || isOpen) view.dispatch({ effects: setShown.of(help && { help, position }) })
  }

  function close(view: EditorView): void {
    // A response on its way would open it again.
    lastRequest += 1
    if (view.state.field(shownField) !== null) view.dispatch({ effects: setShown.of(null) })
  }

  const plugin = ViewPlugin.define(() => ({
    update({ view, docChanged, selectionSet, transactions, state }) {
      if (!docChanged && !selectionSet) return
      const isOpen = state.field(shownField) !== null
      const isTyped = transactions.some((one) => one.isUserEvent("input.type"))
      const { head } = state.selection.main
      const isArgument = isTyped && /[(,<]/.test(state.sliceDoc(head - 1, head))
      if (isOpen || isArgument) void show(view)
    },
  }))
  const keys = keymap.of([
    { key: "Mod-Shift-Space", run: (view) => Boolean(void show(view)) || true },
  ])
  // Not in the keymap: completions that are open or on their way would keep the key for themselves.
  const closeOnEscape = EditorView.domEventHandlers({
    keydown(event, view) {
      if (event.key === "Escape") close(view)
      return false
    },
  })
  return [shownField, plugin, Prec.high(keys), Prec.highest(closeOnEscape)]
}

function toTooltip({ help, position }: Shown): Tooltip {
  return { pos: position, above: true, create: () => ({ dom: render(help) }) }
}

/** Renders text nodes only: names come from packages. */
function render(help: SignatureHelp): HTMLElement {
  const element = document.createElement("div")
  element.className = "cm-types cm-signature"
  element.setAttribute("role", "status")
  const code = element.appendChild(document.createElement("pre"))
  code.append(help.prefix)
  for (const [index, parameter] of help.parameters.entries()) {
    if (index > 0) code.append(help.separator)
    const part = code.appendChild(document.createElement(index === help.active ? "strong" : "span"))
    part.textContent = parameter
  }
  code.append(help.suffix)
  if (help.count > 1) code.append(`  (${help.index + 1} of ${help.count})`)
  if (help.documentation !== "")
    element.appendChild(document.createElement("p")).textContent = help.documentation
  return element
}
