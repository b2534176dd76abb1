import { CopyText } from "../../parts/buttons/copy-text.tsx"
import { Field } from "../../parts/forms/field.tsx"
import { Form } from "../../parts/forms/form.tsx"
import { Section } from "../../parts/section.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { type TestMessage, toSender } from "./test-message.ts"

/** The mail address of the file that Run starts, and the message that Run sends to it. */
export function EmailTab({
  editing,
  run,
  actions,
  isOwn,
}: Pick<ValTabProps, "editing" | "run" | "actions" | "isOwn">) {
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
          <MessageForm run={run} actions={actions} />
        </>
      ) : null}
    </div>
  )
}

function MessageForm({ run, actions }: Pick<ValTabProps, "run" | "actions">) {
  const { message, setMessage } = run
  const change = (part: Partial<TestMessage>) => setMessage({ ...message, ...part })
  const attached = message.files.map(({ name }) => name).join(", ")
  return (
    <Section title="Send a test message">
      <Form onSubmit={() => actions.start()} label="Send" busyLabel="Sending…">
        <Field label="From" hint="Any address: the message itself does not leave this server.">
          <input
            class="input"
            type="email"
            autocomplete="off"
            value={toSender(message)}
            onInput={(event) => change({ from: event.currentTarget.value })}
          />
        </Field>
        <Field label="Subject">
          <input
            class="input"
            autocomplete="off"
            maxLength={500}
            value={message.subject}
            onInput={(event) => change({ subject: event.currentTarget.value })}
          />
        </Field>
        <Field label="Text">
          <textarea
            class="input"
            value={message.text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </Field>
        <Field
          label="Attachments (optional)"
          {...(attached === "" ? {} : { hint: `Attached: ${attached}` })}
        >
          <input
            class="input"
            type="file"
            multiple
            onChange={(event) => change({ files: [...(event.currentTarget.files ?? [])] })}
          />
        </Field>
      </Form>
    </Section>
  )
}
