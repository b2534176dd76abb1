import { useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { Bars } from "../../ui/page-states.tsx"
import { toDuration } from "../../ui/units.ts"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { StatusBadge } from "../parts/badges.tsx"
import { CopyText } from "../parts/buttons/copy-text.tsx"
import { Field } from "../parts/forms/field.tsx"
import { Form } from "../parts/forms/form.tsx"
import { Section } from "../parts/section.tsx"
import { useFollowedRun } from "../runs/followed-run.ts"
import { isGoingOn } from "../runs/list/run-kinds.ts"
import { RunLog } from "../runs/log-view.tsx"
import { RunErrorView } from "../runs/run-error-view.tsx"
import { currentUser } from "../session/session.ts"
import type { ValTabProps } from "./val-tab-props.ts"

/** The mail address of the file that Run starts, and a form for a test message. */
export function EmailTab({ editing, isOwn }: Pick<ValTabProps, "editing" | "isOwn">) {
  const { privacy } = editing.val.value
  const started = editing.findStarted()
  const emailAddress = started?.links.email
  if (started?.type !== "email")
    return <p class="quiet">The file has a mail address when it is saved.</p>
  return (
    <div class="mail">
      {emailAddress === undefined ? (
        <p class="quiet">
          This server receives no mail: its operator has not set HAMLET_SMTP_PORT. A test message
          works all the same.
        </p>
      ) : (
        <section aria-label="Mail address">
          <p>Mail to this address runs the val:</p>
          <CopyText text={emailAddress} label="Copy the address" />
          {privacy === "private" ? (
            <p class="quiet">
              The val is private: only mail from your own confirmed address reaches it. Make it
              unlisted to receive mail from others.
            </p>
          ) : null}
        </section>
      )}
      {isOwn ? (
        <>
          <p>
            <a href="/mail/incoming">All mail that your vals have received</a>
          </p>
          <TestMessage editing={editing} />
        </>
      ) : null}
    </div>
  )
}

function TestMessage({ editing }: Pick<ValTabProps, "editing">) {
  const from = useSignal(currentUser()?.email ?? "")
  const subject = useSignal("Test")
  const text = useSignal("Hello")
  const files = useSignal<readonly File[]>([])
  const runId = useSignal<string | undefined>(undefined)
  const send = async () => {
    runId.value = undefined
    const attachments = await readAttachments(files.value)
    const { id } = await api.sendTestEmail({
      val_id: editing.val.peek().id,
      ...editing.place(),
      ...(from.value.trim() === "" ? {} : { from: from.value.trim() }),
      subject: subject.value,
      text: text.value,
      ...(attachments.length === 0 ? {} : { attachments }),
    })
    runId.value = id
  }
  return (
    <Section title="Send a test message">
      <div class="beside">
        <Form onSubmit={send} label="Send" busyLabel="Sending…">
          <Field label="From" hint="Any address: the message itself does not leave this server.">
            <input class="input" type="email" autocomplete="off" {...bindText(from)} />
          </Field>
          <Field label="Subject">
            <input class="input" autocomplete="off" maxLength={500} {...bindText(subject)} />
          </Field>
          <Field label="Text">
            <textarea class="input" {...bindText(text)} />
          </Field>
          <Field label="Attachments (optional)">
            <input
              class="input"
              type="file"
              multiple
              onChange={(event) => {
                files.value = [...(event.currentTarget.files ?? [])]
              }}
            />
          </Field>
        </Form>
        {runId.value === undefined ? null : (
          <section aria-label="Run of the test message">
            <RunSummary key={runId.value} runId={runId.value} />
          </section>
        )}
      </div>
    </Section>
  )
}

/** Reads files as the API takes attachments: in base64. */
function readAttachments(files: readonly File[]) {
  return Promise.all(
    files.map(async (file) => ({
      filename: file.name,
      content: await toBase64(file),
      ...(file.type === "" ? {} : { type: file.type }),
    })),
  )
}

async function toBase64(file: Blob): Promise<string> {
  const reader = new FileReader()
  const done = new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
  })
  reader.readAsDataURL(file)
  const url = await done
  return url.slice(url.indexOf(",") + 1)
}

/** A run that was just started: its outcome and its logs, while they arrive. */
function RunSummary({ runId }: { runId: string }) {
  const run = useFollowedRun(runId)
  return (
    <Loaded of={run} skeleton={<Bars count={3} />}>
      {(data) => (
        <div class="run-summary">
          <p class="row run-line">
            <StatusBadge status={data.status} />
            {isGoingOn(data) ? null : <span class="quiet">{toDuration(data.durationMs)}</span>}
            <a class="push small" href={`/runs/${data.id}`}>
              Open the run
            </a>
          </p>
          {data.error ? <RunErrorView error={data.error} /> : null}
          <RunLog run={data} />
        </div>
      )}
    </Loaded>
  )
}
