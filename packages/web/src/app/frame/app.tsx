import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"
import { Failure, NotFound, PageSkeleton } from "../data/page-states.tsx"
import type { PageProps } from "../page-props.ts"
import { findPage, type PageRow } from "../pages.ts"
import { session } from "../session/session.ts"
import { SessionEnded } from "../session/session-ended.tsx"
import { loadSession } from "../session/sign-in.ts"
import { SignInFirst } from "../session/sign-in-form.tsx"
import { isEmbedded } from "../settings.ts"
import { CommandPalette } from "./command-palette.tsx"
import { place } from "./location.ts"
import { Shell } from "./shell.tsx"
import { Toasts } from "./toasts.tsx"

/** The whole app: the frame, and the page that the address names. */
export function App() {
  const found = findPage(place.value.path)
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
      <SessionEnded />
      <Toasts />
    </>
  )
}

/** A page that is read once is not asked for again. */
const loaded = new Map<PageRow["load"], ComponentType<PageProps>>()

function CurrentPage({ row, props }: { row: PageRow; props: PageProps }) {
  const failure = useSignal<string | undefined>(undefined)
  const count = useSignal(0)
  const Page = loaded.get(row.load)
  useEffect(() => {
    if (Page) return
    failure.value = undefined
    row.load().then(
      (module) => {
        loaded.set(row.load, module.Page)
        count.value += 1
      },
      () => {
        failure.value =
          "This part of the app could not be loaded: the server does not answer, or has a newer version of it"
      },
    )
  }, [row, Page, count.value])
  const who = session.value
  if (row.isPersonal && who.kind === "signed-out") return <SignInFirst />
  if (failure.value !== undefined)
    return <Failure error={failure.value} onRetry={() => location.reload()} isWholePage />
  if (who.kind === "unreachable" && !row.isBare)
    return <Failure error={who.message} onRetry={() => void loadSession()} isWholePage />
  // What a page shows depends on who looks at it: it is not begun before that is known.
  if (!Page || (who.kind === "unknown" && !row.isBare)) return <PageSkeleton />
  return <Page key={toKey(row, props)} {...props} />
}

/** Another val is another page; another tab of the same val is not. */
function toKey(row: PageRow, { tab: _, section: __, ...props }: PageProps): string {
  return `${row.pattern.replace(/\/\{(?:tab|section)\}$/, "")} ${Object.values(props).join("/")}`
}
