import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete"
import { localCompletionSource } from "@codemirror/lang-javascript"
import { type Diagnostic, linter } from "@codemirror/lint"
import { type Extension, StateEffect } from "@codemirror/state"
import { type EditorView, hoverTooltip, type Tooltip, ViewPlugin } from "@codemirror/view"
import type { CompletionOption, Description, TextEdit } from "../../type-service/protocol.ts"
import type { TypeService } from "../../type-service/type-service.ts"
import { goToDefinition } from "./go-to-definition.ts"
import type { LanguageContext } from "./language-context.ts"
import { createLateCompletion, type LateCompletion } from "./late-completion.ts"
import { findFixCompletions, quickFixes } from "./quick-fixes.ts"
import { rename } from "./rename.ts"
import { signatureHelp } from "./signature-help.ts"

const limits = { lintDelayMs: 500, hoverDelayMs: 300 }

/** Earlier results may be out of date. */
const typesChanged = StateEffect.define<null>()

/** What the type service knows of the code. The editor never waits for it. */
export function typesOf(context: LanguageContext): Extension {
  const { service, path } = context
  const late = createLateCompletion()
  return [
    late.extension,
    signatureHelp(context),
    goToDefinition(context),
    rename(context),
    quickFixes(context),
    ViewPlugin.define((view) => follow(service, path, view, late)),
    autocompletion({
      override: [(context) => complete(service, path, context, late)],
      icons: true,
    }),
    hoverTooltip((view, position) => hover(service, path, view, position), {
      hoverTime: limits.hoverDelayMs,
    }),
    linter((view) => lint(service, path, view), {
      delay: limits.lintDelayMs,
      needsRefresh: (update) =>
        update.transactions.some(({ effects }) =>
          effects.some((effect) => effect.is(typesChanged)),
        ),
    }),
  ]
}

/** Checks the text again: what it imports may have changed. */
export function checkAgain(view: EditorView): void {
  view.dispatch({ effects: typesChanged.of(null) })
}

function follow(service: TypeService, path: string, view: EditorView, late: LateCompletion) {
  service.open(path)
  const unfollow = service.onChange(() => {
    // A hidden editor is checked when it is shown.
    if (view.dom.offsetParent === null) return
    checkAgain(view)
    late.askAgain(view)
  })
  return {
    destroy() {
      unfollow()
      service.close(path)
    },
  }
}

/** More than the longest list needs. */
const indexDigits = 6

/** Until the service is ready, the names in the document are offered. */
async function complete(
  service: TypeService,
  path: string,
  context: CompletionContext,
  late: LateCompletion,
): Promise<CompletionResult | null> {
  const { state, pos: position, explicit: isExplicit } = context
  const fixes = isExplicit ? findFixCompletions(state) : undefined
  if (fixes) return fixes
  const found = await service.query(path, state.doc, "complete", { position, isExplicit })
  if (!context.aborted) late.note(context, found != null && found.options.length > 0)
  if (found === undefined) return localCompletionSource(context)
  if (found === null || context.aborted) return null
  return {
    from: found.from,
    options: found.options.map((option, index) => ({
      ...toCompletion(service, path, context, { ...option, end: found.to }),
      sortText: String(index).padStart(indexDigits, "0"),
    })),
    validFor: found.isModule ? /^[^"'\s]*$/ : /^[\w$]*$/,
  }
}

function toCompletion(
  service: TypeService,
  path: string,
  context: CompletionContext,
  option: CompletionOption & { readonly end: number },
): Completion {
  const { name, type, rank, insert, source } = option
  return {
    label: name,
    type,
    ...(source && { detail: source.specifier }),
    boost: Math.max(-99, 11 - rank),
    info: async () => {
      const state = context.view?.state ?? context.state
      const found = await service.query(path, state.doc, "describe", {
        position: state.selection.main.head,
        name,
      })
      return found ? renderDescription(found) : null
    },
    ...(insert && {
      apply: (view: EditorView, _: Completion, __: number, to: number) =>
        view.dispatch({
          changes: { from: insert.from, to, insert: insert.text },
          selection: { anchor: insert.from + insert.text.length },
          userEvent: "input.complete",
        }),
    }),
    ...(source && { apply: toImportingApply(name, source.edit, option.end) }),
  }
}

/** Inserts the name and its import. Since the list was made, only text before `to` was typed. */
function toImportingApply(
  name: string,
  edit: TextEdit,
  end: number,
): NonNullable<Exclude<Completion["apply"], string>> {
  return (view, _, from, to) => {
    const isBefore = edit.from <= from
    const at = isBefore ? edit.from : edit.from + to - end
    view.dispatch({
      changes: [
        { from: at, insert: edit.text },
        { from, to, insert: name },
      ],
      selection: { anchor: from + name.length + (isBefore ? edit.text.length : 0) },
      userEvent: "input.complete",
    })
  }
}

async function hover(
  service: TypeService,
  path: string,
  view: EditorView,
  position: number,
): Promise<Tooltip | null> {
  const { doc } = view.state
  const found = await service.query(path, doc, "hover", { position })
  if (!found || view.state.doc !== doc) return null
  return {
    pos: found.from,
    end: found.to,
    above: true,
    create: () => ({ dom: renderDescription(found) }),
  }
}

/** CodeMirror drops the result when the text has changed. */
async function lint(
  service: TypeService,
  path: string,
  view: EditorView,
): Promise<readonly Diagnostic[]> {
  const { doc } = view.state
  const problems = (await service.query(path, doc, "diagnose", {})) ?? []
  return problems.map(({ from, to, severity, message }) => ({
    from: Math.min(from, doc.length),
    to: Math.min(to, doc.length),
    severity,
    message,
  }))
}

/** A type and its documentation in a tooltip, as text nodes only. */
function renderDescription({ signature, documentation }: Description): HTMLElement {
  const element = document.createElement("div")
  element.className = "cm-types"
  const code = element.appendChild(document.createElement("pre"))
  for (const { text, kind } of signature) {
    const part = code.appendChild(document.createElement("span"))
    part.textContent = text
    if (kind !== "plain") part.className = `cm-types-${kind}`
  }
  if (documentation !== "")
    element.appendChild(document.createElement("p")).textContent = documentation
  return element
}
