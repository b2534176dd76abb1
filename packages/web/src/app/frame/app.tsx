import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect, useLayoutEffect } from "preact/hooks"
import { setTo } from "../../ui/bind.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { Icon, IconButton } from "../../ui/icon.tsx"
import { FailureState, LoadFailure, PageSkeleton } from "../../ui/page-states.tsx"
import { comebacks, isServerLost, noteNoResponse } from "../data/connection.ts"
import { NotFound } from "../data/loaded.tsx"
import type { PageProps } from "../page-props.ts"
import { findPage, type PageRow } from "../pages.ts"
import { acting } from "../session/owners.ts"
import { session, viewer } from "../session/session.ts"
import { loadSession } from "../session/sign-in.ts"
import { SignInFirst, SignInForm, SignInHelp } from "../session/sign-in-form.tsx"
import { isEmbedded } from "../settings.ts"
import { CommandPalette } from "./command-palette.tsx"
import { currentLocation } from "./location.ts"
import { Shell } from "./shell.tsx"
import { ShortcutKeys } from "./shortcut-keys.tsx"
import { dismiss, showDone, toasts } from "./toast-list.ts"

import "./common-parts.ts"

/** The whole app: the frame, and the page at the current address. */
export function App() {
  const found = findPage(currentLocation.value.path)
  const content = found ? <CurrentPage row={found.row} props={found.props} /> : <NotFound />
  if (found?.row.isBare || isEmbedded) {
    return (
      <>
        {content}
        <Toasts />
      </>
    )
  }
  return (
    <>
      <Shell>{content}</Shell>
      <CommandPalette />
      <ShortcutKeys />
      <SessionEnded />
      <Toasts />
    </>
  )
}

/** Pages that are loaded already. */
const loaded = new Map<PageRow["load"], ComponentType<PageProps>>()

function CurrentPage({ row, props }: { row: PageRow; props: PageProps }) {
  const failed = useSignal<PageRow["load"] | undefined>(undefined)
  const count = useSignal(0)
  const Page = loaded.get(row.load)
  // Another page may have been left while it was loading, and fail now.
  const hasFailed = failed.value === row.load
  useEffect(() => {
    failed.value = undefined
    if (Page) return
    row.load().then(
      (module) => {
        loaded.set(row.load, module.Page)
        count.value += 1
      },
      () => {
        void noteNoResponse()
        failed.value = row.load
      },
    )
  }, [row, Page, count.value])
  const { value } = session
  useEffect(() => {
    if (value.kind === "unreachable") void loadSession()
    // Browsers do not fetch a script again that failed.
    if (hasFailed) location.reload()
  }, [comebacks.value])
  if (row.isPersonal && value.kind === "signed-out") return <SignInFirst />
  if (hasFailed && !isServerLost.value) return <LoadFailure part="this page" isWholePage />
  if (value.kind === "unreachable" && !row.isBare && !isServerLost.value)
    return <FailureState message={value.message} onRetry={() => void loadSession()} isWholePage />
  // The content depends on the viewer: it is not loaded before the session is known.
  const isKnown = value.kind !== "unknown" && value.kind !== "unreachable"
  if (!(Page && (isKnown || row.isBare))) return <PageSkeleton />
  return <FocusedPage key={toKey(row, props)} page={Page} props={props} />
}

let isFirstPage = true

/** A page. The focus of a link that has gone with its page would leave Tab in the middle of this one. */
function FocusedPage({ page: Page, props }: { page: ComponentType<PageProps>; props: PageProps }) {
  useLayoutEffect(() => {
    const hasFocus = document.activeElement !== null && document.activeElement !== document.body
    if (!isFirstPage && !hasFocus) document.getElementById("main")?.focus({ preventScroll: true })
    isFirstPage = false
  }, [])
  return <Page {...props} />
}

/**
 * Another val is another page; another tab of the same val is the same page. What one user has seen
 * and typed is not shown to another, who may sign in after a session has ended. What belongs to one
 * owner is not shown for another. Pages that sign users in stay.
 */
function toKey(row: PageRow, { tab: _, section: __, ...props }: PageProps): string {
  const user = row.isBare ? "" : (viewer()?.id ?? "")
  const pattern = row.pattern.replace(/\/\{(?:tab|section)\}$/, "")
  const owner = row.isOfOwner ? (acting.value?.org.id ?? "") : ""
  return `${user} ${owner} ${pattern} ${Object.values(props).join("/")}`
}

/** The messages in the corner; screen readers announce them. */
function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text, action }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <Icon name={kind === "done" ? "check" : "warning"} />
          <span>{text}</span>
          {action ? (
            <button
              type="button"
              class="link-button toast-action"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          ) : null}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}

/** Asks to sign in again when the session has ended. It covers the page, so that no input is lost. */
function SessionEnded() {
  const { value } = session
  if (value.kind !== "ended") return null
  return (
    <Dialog title="You have been signed out" onClose={setTo(session, { kind: "signed-out" })}>
      <p>
        The session of {value.me.username} has ended. Sign in again to continue; nothing on this
        page is lost.
      </p>
      <SignInForm onDone={() => showDone("Signed in again")} />
      <SignInHelp />
    </Dialog>
  )
}
