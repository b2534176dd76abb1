import { type Api, findOperation } from "../operations/api.ts"
import { type DocumentState, documentState } from "../operations/document.ts"
import { OperationPage } from "../operations/operation-page.tsx"
import { Overview } from "../operations/overview.tsx"
import { currentId } from "./location.ts"
import { Menu } from "./menu.tsx"
import { FailedPage, LoadingPage, UnknownPage } from "./page-states.tsx"
import { Sidebar } from "./sidebar.tsx"
import { TopBar } from "./top-bar.tsx"

/**
 * The whole page. Its frame is the same in every state, so that nothing jumps when the description
 * arrives.
 */
export function App() {
  const state = documentState.value
  const api = state.kind === "ready" ? state.api : undefined
  return (
    <>
      <SkipButton />
      <TopBar />
      <Menu api={api} />
      <div class="frame">
        <div class="side">
          <Sidebar api={api} />
        </div>
        <main id="main" class="main" tabIndex={-1}>
          <Page state={state} />
        </main>
      </div>
    </>
  )
}

/** Past the side bar. No link, because what stands after # in the address names an operation. */
function SkipButton() {
  return (
    <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
      Skip to the content
    </button>
  )
}

function Page({ state }: { state: DocumentState }) {
  if (state.kind === "loading") return <LoadingPage />
  return state.kind === "failed" ? (
    <FailedPage message={state.message} />
  ) : (
    <ReadyPage api={state.api} />
  )
}

function ReadyPage({ api }: { api: Api }) {
  const id = currentId.value
  if (id === "" || id === "overview") return <Overview api={api} />
  const operation = findOperation(api, id)
  return operation ? (
    <OperationPage key={id} api={api} operation={operation} />
  ) : (
    <UnknownPage id={id} />
  )
}
