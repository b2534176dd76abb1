import { CopyButton } from "../../ui/copy-button.tsx"
import { HeaderList } from "../../ui/response-view.tsx"
import { toBytes } from "../../ui/units.ts"
import type { RunDetail } from "./followed-run.ts"
import { toPath } from "./list/run-title.ts"

type Message = NonNullable<RunDetail["requestContent"]>
type Exchange = Pick<RunDetail, "request" | "requestContent" | "responseContent">

/** The request that started a run and the response of the val, as far as they are kept. */
export function ExchangeView({ run }: { readonly run: Exchange }) {
  const { request, requestContent } = run
  if (!request) return null
  return (
    <div class="exchange">
      <MessageView
        title={`${request.method} ${toPath(request.url)}`}
        label="Request"
        message={requestContent}
      />
      <RecordedResponse run={run} />
    </div>
  )
}

/** The response of the val alone. */
export function RecordedResponse({ run }: { readonly run: Exchange }) {
  const status = run.request?.status ?? null
  return (
    <MessageView
      title={status === null ? "No response" : `Response ${status}`}
      label="Response"
      message={run.responseContent}
    />
  )
}

function MessageView(props: {
  readonly title: string
  readonly label: string
  readonly message: Message | null
}) {
  const { title, label, message } = props
  return (
    <section class="message" aria-label={label}>
      <h2 class="breaks message-title">{title}</h2>
      {message === null ? (
        <p class="quiet">Headers and body are not kept.</p>
      ) : (
        <>
          <HeaderList headers={message.headers} />
          <Body message={message} label={label} />
        </>
      )}
    </section>
  )
}

function Body({ message, label }: { readonly message: Message; readonly label: string }) {
  const { body, bytes, isBinary, isTruncated } = message
  const size = bytes === null ? "" : `, ${toBytes(bytes)}`
  if (isBinary) return <p class="quiet">Binary body{size}</p>
  if (body === null)
    return <p class="quiet">{isTruncated ? `The body is not kept${size}` : "No body"}</p>
  if (body === "") return <p class="quiet">Empty body</p>
  return (
    <>
      <div class="message-body">
        <CopyButton text={() => body} label={`Copy the body of the ${label.toLowerCase()}`} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area needs keyboard access */}
        <section tabIndex={0} aria-label={`Body of the ${label.toLowerCase()}`}>
          <pre>{body}</pre>
        </section>
      </div>
      {isTruncated ? (
        <p class="quiet">
          {bytes === null
            ? "The beginning of it is kept."
            : `The beginning of ${toBytes(bytes)} is kept.`}
        </p>
      ) : null}
    </>
  )
}
