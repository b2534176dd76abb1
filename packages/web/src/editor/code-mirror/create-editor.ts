import { openSearchPanel } from "@codemirror/search"
import { Annotation, Compartment, EditorState } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import type {
  CodeEditorHandle,
  EditorLanguage,
  FormatCode,
  FormatOutcome,
} from "../code-editor-props.ts"
import type { TypeService } from "../type-service/type-service.ts"
import { basics } from "./basics.ts"
import { findChanges } from "./find-changes.ts"
import { formatDocument } from "./format-document.ts"
import { keys } from "./keys.ts"
import type { LanguageContext } from "./language/language-context.ts"
import { typesOf } from "./language/types.ts"
import { loadLanguage } from "./languages.ts"
import { themeOf } from "./theme.ts"

export interface EditorOptions {
  readonly text: string
  readonly language: EditorLanguage
  readonly path: string
  readonly label: string
  /** The id of the element that explains how to leave the editor. */
  readonly hintId: string
  readonly isReadOnly: boolean
  readonly onChange: (text: string) => void
  /** These return whether the key was handled. */
  readonly onSave: () => boolean
  readonly onRun: () => boolean
  readonly onFormat: (outcome: FormatOutcome) => void
  readonly formatCode: FormatCode | undefined
  readonly onDefinition: LanguageContext["onDefinition"]
  readonly onProblem: LanguageContext["onProblem"]
}

/** An editor on the page. */
export interface Editor extends CodeEditorHandle {
  setReadOnly(isReadOnly: boolean): void
  setLabel(label: string): void
  setTypeService(service: TypeService | undefined): void
  stop(): void
}

/** Marks changes by the page, not by the user. */
const byPage = Annotation.define<boolean>()

export function createEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const { language, path } = options
  const [languagePart, readOnlyPart, labelPart, typesPart] = [
    new Compartment(),
    new Compartment(),
    new Compartment(),
    new Compartment(),
  ]
  let service: TypeService | undefined

  const attributesOf = (label: string) =>
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-describedby": options.hintId,
      // Explicit, because a read-only editor needs keyboard access for scrolling too.
      tabindex: "0",
      spellcheck: String(language === "markdown"),
    })
  const loaded = loadLanguage(language)
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        themeOf(parent.ownerDocument),
        keys({ onSave: options.onSave, onRun: options.onRun, onFormat }),
        basics(language),
        typesPart.of([]),
        languagePart.of(loaded instanceof Promise ? [] : loaded),
        readOnlyPart.of(readOnlyOf(options.isReadOnly)),
        labelPart.of(attributesOf(options.label)),
        EditorView.updateListener.of((update) => {
          const isTyped =
            update.docChanged &&
            !update.transactions.some((transaction) => transaction.annotation(byPage))
          if (isTyped) options.onChange(update.state.doc.toString())
        }),
      ],
    }),
  })
  if (loaded instanceof Promise)
    void loaded.then((extension) => view.dispatch({ effects: languagePart.reconfigure(extension) }))

  async function format(): Promise<FormatOutcome> {
    const outcome = await formatDocument(view, { ...options, service })
    options.onFormat(outcome)
    return outcome
  }

  function onFormat(): boolean {
    void format()
    return true
  }

  return {
    getText: () => view.state.doc.toString(),
    setText(text) {
      const changes = findChanges(view.state.doc.toString(), text)
      if (changes.length > 0) view.dispatch({ changes, annotations: byPage.of(true) })
    },
    goToLine: (line, column) => goTo(view, line, column),
    focus: () => view.focus(),
    openSearch: () => void openSearchPanel(view),
    format,
    findParameters: async () => service?.query(path, view.state.doc, "parameters", {}),
    setReadOnly: (isReadOnly) =>
      view.dispatch({ effects: readOnlyPart.reconfigure(readOnlyOf(isReadOnly)) }),
    setLabel: (label) => view.dispatch({ effects: labelPart.reconfigure(attributesOf(label)) }),
    setTypeService(newService) {
      service = newService
      view.dispatch({
        effects: typesPart.reconfigure(
          newService && language === "typescript"
            ? typesOf({ ...options, service: newService, path })
            : [],
        ),
      })
    },
    stop: () => view.destroy(),
  }
}

/** A read-only editor can still be focused, selected and searched. */
function readOnlyOf(isReadOnly: boolean) {
  return isReadOnly
    ? [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ "aria-readonly": "true" })]
    : []
}

function goTo(view: EditorView, line: number, column = 1): void {
  const { doc } = view.state
  const { from, length } = doc.line(Math.min(Math.max(1, Math.trunc(line) || 1), doc.lines))
  const anchor = from + Math.min(Math.max(0, Math.trunc(column) - 1 || 0), length)
  view.dispatch({
    selection: { anchor },
    effects: EditorView.scrollIntoView(anchor, { y: "center" }),
  })
}
