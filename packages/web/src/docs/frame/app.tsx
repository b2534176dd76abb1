import { useLayoutEffect } from "preact/hooks"
import { setTo } from "../../ui/bind.ts"
import { Brand } from "../../ui/brand.tsx"
import { CloseButton, useModal } from "../../ui/dialog.tsx"
import { Icon } from "../../ui/icon.tsx"
import { EmptyState, FailureState, PageSkeleton, useTitle } from "../../ui/page-states.tsx"
import { type Api, findOperation } from "../operations/api.ts"
import {
  type DocumentState,
  documentPath,
  documentState,
  loadDocument,
} from "../operations/document.ts"
import { OperationPage } from "../operations/operation-page.tsx"
import { Overview } from "../operations/overview.tsx"
import { Sidebar, ThemeButton } from "./sidebar.tsx"
import { currentId, isSidebarOpen, moveCount } from "./view.ts"

/** The whole page. Its frame is the same in every state, so that nothing jumps. */
export function DocsApp() {
  const state = documentState.value
  const api = state.kind === "ready" ? state.api : undefined
  useFocusAfterMove(state)
  return (
    <>
      <SkipButton />
      <header class="row top-bar">
        <button
          type="button"
          class="icon-button"
          aria-label="Operations"
          aria-haspopup="dialog"
          aria-expanded={isSidebarOpen.value}
          onClick={setTo(isSidebarOpen, true)}
        >
          <Icon name="menu" />
        </button>
        <Brand href="#overview" />
        <ThemeButton />
      </header>
      {isSidebarOpen.value ? <SidebarDialog api={api} /> : null}
      <div class="frame">
        <div class="side">
          <Sidebar api={api} />
        </div>
        <main id="main" class="main" tabIndex={-1}>
          <CurrentPage state={state} />
        </main>
      </div>
    </>
  )
}

/** After a move the heading takes the focus: the keyboard and screen readers continue there. */
function useFocusAfterMove(state: DocumentState): void {
  const moves = moveCount.value
  useLayoutEffect(() => {
    if (moves === 0) return
    scrollTo(0, 0)
    document.querySelector("h1")?.focus({ preventScroll: true })
  }, [moves, state])
}

/** Skips the side bar. Not a link: the part of the address after # names an operation. */
function SkipButton() {
  return (
    <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
      Skip to the content
    </button>
  )
}

/** The side bar on narrow screens. */
function SidebarDialog({ api }: { api: Api | undefined }) {
  const dialog = useModal()
  const close = setTo(isSidebarOpen, false)
  const closeOnPick = ({ target }: MouseEvent) => {
    const isBackdrop = target === dialog.current
    if (isBackdrop || (target instanceof Element && target.closest("a"))) close()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click too, and Escape closes a dialog by itself
    <dialog
      ref={dialog}
      class="dialog side-dialog"
      aria-label="Operations"
      onClose={close}
      onClick={closeOnPick}
    >
      <CloseButton onClose={close} />
      <Sidebar api={api} />
    </dialog>
  )
}

function CurrentPage({ state }: { state: DocumentState }) {
  if (state.kind === "loading") return <PageSkeleton label="Loading the API description" />
  if (state.kind === "failed") return <MissingDocument message={state.message} />
  const { api } = state
  const id = currentId.value
  if (id === "" || id === "overview") return <Overview api={api} />
  const operation = findOperation(api, id)
  return operation ? (
    <OperationPage key={id} api={api} operation={operation} />
  ) : (
    <UnknownOperation id={id} />
  )
}

function MissingDocument({ message }: { message: string }) {
  useTitle("No description", "Hamlet API")
  return (
    <FailureState
      title="The API description is missing"
      message={message}
      onRetry={() => void loadDocument()}
      isWholePage
    >
      <p>
        This page shows <code>{documentPath}</code>, which the server generates. If the server runs,
        try again.
      </p>
    </FailureState>
  )
}

function UnknownOperation({ id }: { id: string }) {
  useTitle("No such operation", "Hamlet API")
  return (
    <EmptyState icon="search" title="No such operation" isWholePage>
      <p>
        This server has no operation named <code>{id}</code>.
      </p>
      <a href="#overview">All operations</a>
    </EmptyState>
  )
}
