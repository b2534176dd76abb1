import { acceptCompletion, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, historyKeymap, indentWithTab } from "@codemirror/commands"
import { foldKeymap } from "@codemirror/language"
import { lintKeymap } from "@codemirror/lint"
import { openSearchPanel, searchKeymap } from "@codemirror/search"
import { Annotation, Compartment, EditorState, type Extension, Prec } from "@codemirror/state"
import { EditorView, keymap, type ViewUpdate } from "@codemirror/view"
import type {
  CodeEditorHandle,
  EditorLanguage,
  FormatCode,
  FormatOutcome,
} from "../code-editor-props.ts"
import { toPlainLines, withLineEndsOf } from "../line-ends.ts"
import { textOf } from "../text-of.ts"
import type { TypeService } from "../type-service/type-service.ts"
import { basics } from "./basics.ts"
import { type Change, findChanges } from "./find-changes.ts"
import type { LanguageContext } from "./language/language-context.ts"
import { checkAgain, typesOf } from "./language/types.ts"
import { loadLanguage } from "./languages.ts"
import { themeOf } from "./theme.ts"

export interface EditorOptions {
  readonly text: string
  readonly language: EditorLanguage
  readonly label: string
  /** The id of the element that explains how to leave the editor. */
  readonly hintId: string
  readonly isReadOnly: boolean
  readonly onChange: (text: string) => void
  /** Listeners of keys return whether the key was handled. */
  readonly onSave: () => boolean
  readonly onRun: () => boolean
  readonly onFormat: (outcome: FormatOutcome) => void
  readonly formatCode: FormatCode | undefined
  readonly onDefinition: LanguageContext["onDefinition"]
  readonly onEdits: LanguageContext["onEdits"]
  readonly onProblem: LanguageContext["onProblem"]
}

/** An editor on the page. */
export interface Editor extends CodeEditorHandle {
  setReadOnly(isReadOnly: boolean): void
  setWrapped(isWrapped: boolean): void
  setLabel(label: string): void
  /** Connects the type service, for which the document has this path. */
  setTypes(service: TypeService | undefined, path: string): void
  stop(): void
}

/** Marks changes by the page, not by the user. */
const byPage = Annotation.define<boolean>()

export function createEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const { language } = options
  const [languagePart, readOnlyPart] = [new Compartment(), new Compartment()]
  const [wrapPart, labelPart, typesPart] = [new Compartment(), new Compartment(), new Compartment()]
  let service: TypeService | undefined
  let path = ""
  // The lines of the document end in "\n"; the text keeps the line ends that it came with.
  let given = options.text
  const toText = (doc: { toString(): string }) => withLineEndsOf(given, textOf(doc))

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
      doc: toPlainLines(given),
      extensions: [
        themeOf(parent.ownerDocument),
        keys({ onSave: options.onSave, onRun: options.onRun, onFormat }),
        basics(language),
        typesPart.of([]),
        languagePart.of(loaded instanceof Promise ? [] : loaded),
        readOnlyPart.of(readOnlyOf(options.isReadOnly)),
        wrapPart.of([]),
        labelPart.of(attributesOf(options.label)),
        EditorView.updateListener.of((update) => {
          if (isTyped(update)) options.onChange(toText(update.state.doc))
        }),
      ],
    }),
  })
  if (loaded instanceof Promise)
    void loaded.then((extension) => view.dispatch({ effects: languagePart.reconfigure(extension) }))

  const format = () => formatDocument(view, { ...options, service, path })

  function onFormat(): boolean {
    void format().then(options.onFormat)
    return true
  }

  return {
    getText: () => toText(view.state.doc),
    setText(text) {
      given = text
      const changes = findChanges(textOf(view.state.doc), toPlainLines(text))
      if (changes.length > 0) view.dispatch({ changes, annotations: byPage.of(true) })
    },
    goToLine: (line, column) => goTo(view, line, column),
    focus: () => view.focus(),
    openSearch: () => void openSearchPanel(view),
    checkAgain: () => checkAgain(view),
    format,
    findSyntaxError: async () => findSyntaxError(view, service, path),
    setReadOnly: (isReadOnly) =>
      view.dispatch({ effects: readOnlyPart.reconfigure(readOnlyOf(isReadOnly)) }),
    setWrapped: (isWrapped) =>
      view.dispatch({ effects: wrapPart.reconfigure(isWrapped ? EditorView.lineWrapping : []) }),
    setLabel: (label) => view.dispatch({ effects: labelPart.reconfigure(attributesOf(label)) }),
    setTypes(newService, newPath) {
      ;[service, path] = [newService, newPath]
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

/** Whether the user has changed the text, and not the page. */
function isTyped({ docChanged, transactions }: ViewUpdate): boolean {
  return docChanged && !transactions.some((transaction) => transaction.annotation(byPage))
}

async function findSyntaxError(
  { state: { doc } }: EditorView,
  service: TypeService | undefined,
  path: string,
): ReturnType<CodeEditorHandle["findSyntaxError"]> {
  const found = await service?.query(path, doc, "diagnose", {})
  const first = found?.find(({ isSyntax }) => isSyntax)
  if (!first) return found && null
  return { message: first.message, line: doc.lineAt(Math.min(first.from, doc.length)).number }
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

/** Listeners of keys, which return whether the key was handled. */
interface KeyListeners {
  readonly onSave: () => boolean
  readonly onRun: () => boolean
  readonly onFormat: () => boolean
}

/**
 * The key bindings. Tab indents, which would trap keyboard users: after Escape, Tab leaves the
 * editor, and Control-M turns indenting off, both built into CodeMirror.
 */
function keys({ onSave, onRun, onFormat }: KeyListeners): Extension {
  const own = keymap.of([
    { key: "Mod-s", run: onSave },
    { key: "Mod-Enter", run: onRun },
    { key: "Shift-Alt-f", run: onFormat },
    { key: "Tab", run: acceptCompletion },
  ])
  const usual = [
    closeBracketsKeymap,
    defaultKeymap,
    searchKeymap,
    historyKeymap,
    foldKeymap,
    completionKeymap,
    lintKeymap,
    [indentWithTab],
  ]
  return [Prec.high(own), keymap.of(usual.flat())]
}

interface Formatting {
  readonly language: EditorLanguage
  readonly path: string
  readonly service: TypeService | undefined
  readonly formatCode: FormatCode | undefined
}

/** Formats the text as one change. On failure nothing changes. */
async function formatDocument(
  view: EditorView,
  { language, path, service, formatCode }: Formatting,
): Promise<FormatOutcome> {
  if (view.state.readOnly) return refuse("it is read only")
  if (language === "json") return formatJson(view)
  if (language !== "typescript") return { ok: true, isChanged: false }
  const { doc } = view.state
  const text = doc.toString()
  const result = await formatCode?.(text)
  if (result && !result.ok) return result
  if (result && view.state.doc === doc) return apply(view, findChanges(text, result.text))
  const formatted = await service?.query(path, doc, "format", {})
  if (!formatted) return refuse("the formatter is not loaded")
  if (!formatted.ok) return formatted
  if (view.state.doc !== doc) return refuse("it has changed in the meantime")
  return apply(
    view,
    formatted.edits.map(({ from, to, text }) => ({ from, to, insert: text })),
  )
}

function formatJson(view: EditorView): FormatOutcome {
  const text = view.state.doc.toString()
  try {
    return apply(view, findChanges(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`))
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

function apply(view: EditorView, changes: readonly Change[]): FormatOutcome {
  if (changes.length > 0) view.dispatch({ changes, userEvent: "format", scrollIntoView: true })
  return { ok: true, isChanged: changes.length > 0 }
}

function refuse(reason: string): FormatOutcome {
  return { ok: false, message: `Cannot format the code: ${reason}` }
}
