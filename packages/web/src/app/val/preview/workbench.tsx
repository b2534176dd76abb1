import { useEffect, useRef } from "preact/hooks"
import { EmptyState } from "../../../ui/page-states.tsx"
import { StatusCode } from "../../../ui/response-view.tsx"
import { Tabs } from "../../../ui/tabs.tsx"
import { toDuration } from "../../../ui/units.ts"
import { api } from "../../api.ts"
import { comebacks } from "../../data/connection.ts"
import { useResource } from "../../data/resource.ts"
import { ExchangeView } from "../../runs/exchange-view.tsx"
import { RunErrorView } from "../../runs/run-error-view.tsx"
import { session } from "../../session/session.ts"
import { RunLogs } from "../panes/run-logs.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { AddressBar } from "./address-bar.tsx"
import { ElapsedTime } from "./elapsed-time.tsx"
import { PageFrame } from "./page-frame.tsx"
import type { RequestView } from "./val-requests.ts"
import { ValResponseView } from "./val-response-view.tsx"

type Props = Pick<ValTabProps, "editing" | "isOwn" | "requests" | "recent"> & {
  readonly onGoTo: (line: number) => void
}

const panelId = "request-panel"
const labels = { page: "Page", response: "Response", logs: "Logs", error: "Error" } as const

/** Requests to an http val: an address bar over the page, the response, the logs and the error. */
export function Workbench(props: Props) {
  const { editing, isOwn, requests } = props
  const maySend = session.value.kind === "signed-in" || session.value.kind === "ended"
  const address = useFrameAddress(editing, maySend)
  useEffect(() => {
    if (requests.page.peek().number === 0 && requests.exchange.peek().kind === "none")
      void requests.loadPage()
  }, [requests])
  const back = useRef(comebacks.peek())
  useEffect(() => {
    // What the frame shows may be the browser's page about the lost connection.
    if (back.current !== comebacks.value) void requests.loadPage()
    back.current = comebacks.value
  }, [comebacks.value])
  const view = requests.view.value
  const exchange = requests.exchange.value
  const views: readonly RequestView[] = isOwn
    ? ["page", "response", "logs", "error"]
    : maySend
      ? ["page", "response"]
      : ["page"]
  const { url } =
    address.state.kind === "ready"
      ? address.state.data
      : { url: editing.val.value.links.endpoint ?? location.origin }
  const path = requests.draft.value.path
  return (
    <div class="bench">
      <AddressBar
        editing={editing}
        requests={requests}
        maySend={maySend}
        pageUrl={toPageUrl(path, url)}
      />
      <div class="bench-bar">
        <Tabs
          label="Request"
          tabs={views.map((id) => ({
            id,
            label: labels[id],
            isMarked: id === "error" && hasError(props),
          }))}
          current={view}
          panelId={panelId}
          onPick={(id) => requests.show(id)}
        />
        <Summary {...props} />
      </div>
      {exchange.kind === "sending" ? (
        <ElapsedTime startedAt={exchange.startedAt} label="Waiting for the val…" />
      ) : null}
      <div id={panelId} class="bench-panel" role="tabpanel" aria-label={labels[view]}>
        {/* The frame stays while it is hidden: its page may have a state. */}
        <PageFrame {...props} address={address} isShown={view === "page"} toUrl={toPageUrl} />
        {view === "page" ? null : (
          <div class="bench-content">
            <Content {...props} />
          </div>
        )}
      </div>
    </div>
  )
}

/** Status, duration and run of the latest request. */
function Summary({ requests }: Props) {
  const exchange = requests.exchange.value
  const run = requests.run.value
  const status =
    exchange.kind === "received" ? exchange.response.status : (run?.request?.status ?? undefined)
  const durationMs = exchange.kind === "received" ? exchange.response.durationMs : run?.durationMs
  return (
    <p class="bench-summary">
      {status === undefined || exchange.kind === "sending" ? null : (
        <StatusCode
          status={status}
          statusText={exchange.kind === "received" ? exchange.response.statusText : ""}
        />
      )}
      {durationMs === undefined || durationMs === null || exchange.kind === "sending" ? null : (
        <span class="quiet">{toDuration(durationMs)}</span>
      )}
      {run ? <a href={`/runs/${run.id}`}>Open the run</a> : null}
    </p>
  )
}

function Content({ requests, onGoTo }: Props) {
  const exchange = requests.exchange.value
  const run = requests.run.value
  const view = requests.view.value
  if (view === "response" && exchange.kind === "received")
    return <ValResponseView response={exchange.response} />
  if (view === "logs" && run) return <RunLogs key={run.id} runId={run.id} />
  if (exchange.kind === "failed")
    return (
      <p class="field-error" role="alert">
        {exchange.message}
      </p>
    )
  if (exchange.kind === "sending") return null
  if (view === "error" && run?.error)
    return (
      <section class="bench-error" aria-label="Error of the last request">
        <RunErrorView error={run.error} onGoTo={onGoTo} />
        <p>
          <a href={`/runs/${run.id}`}>See the run with its request and its logs</a>
        </p>
      </section>
    )
  if (view === "response" && run?.responseContent) return <ExchangeView run={run} />
  if (view === "error") return <p class="quiet">The last request has no error.</p>
  if (view === "logs") return <p class="quiet">The last request has not logged anything.</p>
  return (
    <EmptyState icon="external" title="Not sent from here">
      <p>The page was loaded by the browser. Send shows the status, the headers and the body.</p>
    </EmptyState>
  )
}

function hasError({ requests }: Props): boolean {
  return requests.run.value?.error != null || requests.exchange.value.kind === "failed"
}

/** A private val needs a token, which a frame cannot send: the frame gets a temporary address. */
function useFrameAddress(editing: ValTabProps["editing"], isSignedIn: boolean) {
  const { id, privacy, links } = editing.val.value
  return useResource(`${id} ${privacy} ${isSignedIn}`, async (signal) =>
    isSignedIn
      ? await api.createPreview({ val_id: id }, { signal })
      : { url: links.endpoint ?? "", expiresAt: null },
  )
}

function toPageUrl(path: string, url: string): string {
  return new URL(`/${path.trim().replace(/^[/\\]+/, "")}`, url).href
}
