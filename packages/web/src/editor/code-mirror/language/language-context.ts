import type { Text } from "@codemirror/state"
import type { EditorView } from "@codemirror/view"
import type {
  Definition,
  TextEdit,
  TypeQueries,
  TypeQueryName,
} from "../../type-service/protocol.ts"
import type { TypeService } from "../../type-service/type-service.ts"

/** What the features of a language need: the type service, the document, and the page. */
export interface LanguageContext {
  readonly service: TypeService
  /** The name of the document. */
  readonly path: string
  /** Opens a definition in another file. */
  readonly onDefinition: (definition: Exclude<Definition, { kind: "here" }>) => void
  /** Changes another document, whose text is that of the latest result. */
  readonly onEdits: (path: string, edits: readonly TextEdit[]) => void
  /** Tells the user why a command did nothing. */
  readonly onProblem: (message: string) => void
}

/** Undefined while the service is not ready, and when the text has changed meanwhile. */
export async function ask<Name extends TypeQueryName>(
  { service, path }: LanguageContext,
  view: EditorView,
  name: Name,
  input: TypeQueries[Name]["input"],
): Promise<TypeQueries[Name]["result"] | undefined> {
  const { doc }: { doc: Text } = view.state
  const result = await service.query(path, doc, name, input)
  return view.state.doc === doc ? result : undefined
}

/** What a command says while the worker is being loaded. */
export const notReady = "The types are still being loaded: try again in a moment"
