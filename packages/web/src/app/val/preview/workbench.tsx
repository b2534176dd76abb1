import type { Output } from "@hamlet/contract/client"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { CodeBlock } from "../../../ui/code/code-block.tsx"
import { formatBody } from "../../../ui/code/print-json.ts"
import { EmptyState } from "../../../ui/page-states.tsx"
import { findHeader, HeaderList, StatusCode } from "../../../ui/response-view.tsx"
import { Tabs } from "../../../ui/tabs.tsx"
import { toDuration } from "../../../ui/units.ts"
import { api } from "../../api.ts"
import { comebacks } from "../../data/connection.ts"
import { useResource } from "../../data/resource.ts"
import { Picture } from "../../parts/picture.tsx"
import { ExchangeView } from "../../runs/exchange-view.tsx"
import { type GoToStack, RunErrorView } from "../../runs/run-error-view.tsx"
import { viewer } from "../../session/session.ts"
import { RunLogs } from "../panes/run-logs.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { AddressBar } from "./address-bar.tsx"
import { ElapsedTime } from "./elapsed-time.tsx"
import { PageFrame } from "./page-frame.tsx"
import { type RequestView, toValPath } from "./val-requests.ts"

type Props = Pick<ValTabProps, "editing" | "isOwn" | "requests" | "recent"> & {
  readonly onGoTo: GoToStack
}

const panelId = "request-panel"
const labels = { page: "Page", response: "Response", logs: "Logs", error: "Error" } as const

/** Requests to an http val: an address bar over the page, the response, the logs and the error. */
export function Workbench(props: Props) {
  const { editing, isOwn, requests } = props
  const maySend = viewer() !== undefined
  const endpoint = findEndpoint(editing)
  const address = useFrameAddress(editing, maySend)
  const fileId = editing.findStarted()?.id
  useEffect(() => requests.follow(fileId), [requests, fileId])
  const back = useRef(comebacks.peek())
  useEffect(() => {
    if (back.current !== comebacks.value) requests.reloadPage()
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
    address.state.kind === "ready" ? address.state.data : { url: endpoint ?? location.origin }
  const path = requests.draft.value.path
  // A file that was never saved as a web page has no address.
  if (endpoint === undefined)
    return (
      <EmptyState icon="external" title="No address yet">
        <p>The file has a web address when it is saved.</p>
      </EmptyState>
    )
  return (
    <div class="column fill bench">
      <AddressBar
        editing={editing}
        requests={requests}
        maySend={maySend}
        endpoint={endpoint}
        pageUrl={toPageUrl(path, url)}
      />
      <div class="row bench-bar">
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
      <div id={panelId} class="column fill" role="tabpanel" aria-label={labels[view]}>
        {/* The frame stays while it is hidden: its page may have a state. */}
        <PageFrame {...props} address={address} isShown={view === "page"} toUrl={toPageUrl} />
        {view === "page" ? null : (
          <div class="column fill bench-content">
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
    <p class="row push small nowrap bench-summary">
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
      <p>Send shows the status, the headers and the body of a request.</p>
    </EmptyState>
  )
}

function hasError({ requests }: Props): boolean {
  return requests.run.value?.error != null || requests.exchange.value.kind === "failed"
}

/** A private val needs a token, which a frame cannot send: the frame gets a temporary address. */
function useFrameAddress(editing: ValTabProps["editing"], isSignedIn: boolean) {
  const { id, privacy } = editing.val.value
  const place = editing.place()
  const endpoint = findEndpoint(editing)
  const key = `${id} ${privacy} ${isSignedIn} ${place.branch} ${place.file} ${endpoint}`
  return useResource(endpoint === undefined ? undefined : key, async (signal) =>
    isSignedIn
      ? await api.createPreview({ val_id: id, ...place }, { signal })
      : { url: endpoint ?? "", expiresAt: null },
  )
}

/** The public address of the file that Run starts. */
function findEndpoint(editing: ValTabProps["editing"]): string | undefined {
  const links = editing.findStarted()?.links
  return links?.alias ?? links?.endpoint
}

function toPageUrl(path: string, url: string): string {
  return new URL(toValPath(path), url).href
}

type ValResponse = Output<"sendValRequest">

/** The response of a val: its headers, and its body as text or as an image. */
function ValResponseView({ response }: { response: ValResponse }) {
  return (
    <>
      <HeaderList headers={response.headers} />
      <Body response={response} />
      {response.isTruncated ? <p class="quiet">The rest is not shown.</p> : null}
    </>
  )
}

function Body({ response: { body, isBase64, headers } }: { response: ValResponse }) {
  const type = findHeader(headers, "content-type")
  if (body === "") return <p class="quiet">No body</p>
  if (!isBase64) {
    const { text, kind } = formatBody(body, type)
    return <CodeBlock code={text} language={kind} label="Response body" isWrapped />
  }
  // SVG is left out: it may contain scripts.
  if (/^image\/(png|jpeg|gif|webp|avif)\b/.test(type))
    return <ResponsePicture base64={body} type={type} />
  return <p class="quiet">{Math.floor((body.length * 3) / 4).toLocaleString("en")} binary bytes</p>
}

/** The bytes are read once: another object would be another picture. */
function ResponsePicture({ base64, type }: { base64: string; type: string }) {
  const content = useMemo(
    () => new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], { type }),
    [base64, type],
  )
  return <Picture content={content} alt="The response of the val" />
}
