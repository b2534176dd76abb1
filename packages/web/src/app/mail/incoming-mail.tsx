import type { Output } from "@hamlet/contract/client"
import { toBytes } from "../../ui/units.ts"
import { Section } from "../parts/section.tsx"

type Mail = NonNullable<Output<"getRun">["email"]>

/** The mail that started a run, and what the checks of its sender found. */
export function IncomingMail({ mail }: { mail: Mail }) {
  const { from, to, subject, bytes, attachments, isTest, auth } = mail
  const { spf, dkim, dmarc, isFromVerified } = auth
  const checks = `SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}`
  return (
    <Section title={isTest ? "Test message" : "Incoming mail"}>
      <dl class="facts">
        <Fact name="From" text={isTest || isFromVerified ? from : `${from} (not verified)`} />
        <Fact name="To" text={to} />
        <Fact name="Subject" text={subject ?? "(no subject)"} />
        <Fact name="Size" text={toBytes(bytes)} />
        {attachments > 0 ? <Fact name="Attachments" text={String(attachments)} /> : null}
        {isTest ? null : <Fact name="Sender checks" text={checks} />}
      </dl>
    </Section>
  )
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  )
}
