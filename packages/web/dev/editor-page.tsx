import { noPageKey } from "@hamlet/contract/client"
// The page of the editor server: shows an editor with given properties, for tests and benchmarks.
import { render } from "preact"
import type { CodeEditorHandle, CodeEditorProps } from "../src/editor/code-editor-props.ts"
import type { DiffViewProps } from "../src/editor/diff-view-props.ts"
import { LazyCodeEditor, LazyDiffView } from "../src/editor/lazy.tsx"
import { createTypeService } from "../src/editor/type-service/type-service.ts"

/** The functions for tests at `globalThis.harness`. */
export interface Harness {
  readonly handle: { current: CodeEditorHandle | null }
  /** The calls of the listeners, in order. */
  readonly calls: unknown[][]
  show(props: Partial<CodeEditorProps> & { readonly hasTypes?: boolean }): void
  /** Gives the type service further documents. */
  addFiles(texts: Readonly<Record<string, string>>): void
  /** Asks for completions at the end of the text of a document; returns how many there are. */
  complete(path: string, text: string): Promise<number | undefined>
  showDiff(props: DiffViewProps): void
  hide(): void
}

const settings = document.querySelector<HTMLElement>("#app")?.dataset ?? {}
const typeService = createTypeService({
  workerUrl: settings.worker ?? "",
  libsUrl: settings.libs ?? "",
  nodeTypesUrl: settings.nodeTypes ?? "",
  domTypesUrl: settings.domTypes ?? "",
  baseUrl: location.origin,
  readPageKey: () => noPageKey,
  // A busy machine must not count as a type that never ends.
  queryMsMax: 600_000,
})
const root = document.querySelector("#app") ?? document.body
const handle: Harness["handle"] = { current: null }
const calls: unknown[][] = []

const harness: Harness = {
  handle,
  calls,
  show({ hasTypes = true, ...props }) {
    const shown: CodeEditorProps = {
      value: "",
      language: "typescript",
      path: "ada/hello.tsx",
      label: "Code of ada/hello",
      handle,
      onChange: (text) => calls.push(["change", text]),
      onSave: () => calls.push(["save"]),
      onRun: () => calls.push(["run"]),
      onFormat: (outcome) => calls.push(["format", outcome]),
      onDefinition: (definition) => calls.push(["definition", definition]),
      onProblem: (message) => calls.push(["problem", message]),
      ...(hasTypes ? { typeService } : {}),
      ...props,
    }
    render(
      <main>
        <button type="button">Before</button>
        <div class="frame">
          <LazyCodeEditor key={shown.path} {...shown} />
        </div>
        <button type="button">After</button>
      </main>,
      root,
    )
  },
  addFiles(texts) {
    for (const [path, text] of Object.entries(texts)) {
      typeService.open(path)
      typeService.setText(path, text)
    }
  },
  async complete(path, text) {
    const query = { position: text.length, isExplicit: false }
    const found = await typeService.query(path, new String(text), "complete", query)
    return found?.options.length
  },
  showDiff: (props) =>
    render(
      <main>
        <LazyDiffView {...props} />
      </main>,
      root,
    ),
  hide: () => render(null, root),
}

Object.assign(globalThis, { harness })
