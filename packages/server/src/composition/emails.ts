import type { Config } from "../config/config.ts"
import { deliverEmail } from "../domain/emails/deliver-email.ts"
import type { MailSettings } from "../domain/emails/send-email.ts"
import { OutboxWorker } from "../jobs/outbox-worker.ts"
import { createSmtpTransport } from "../runtime/emails/smtp-transport.ts"
import { Counter } from "../shared/counter.ts"
import { createEmailCodeStore } from "../storage/accounts/email-codes.ts"
import { createEmailStore } from "../storage/emails/emails.ts"
import { createOutbox } from "../storage/outbox/outbox.ts"
import type { Foundation } from "./foundation.ts"

const limits = {
  /** Longer than the transport may take for a message. */
  leaseMs: 300_000,
  renewMs: 60_000,
  /** Connections to the mail server, and those for one account. */
  atOnceMax: 4,
  perAccountMax: 2,
  pollMs: 2_000,
  /** A message that is being sent when the server stops gets this long. */
  stopMs: 5_000,
  /** The size of the emails of one account that wait or have failed, in emails of maximum size. */
  storedEmailsMax: 4,
}

/** Outgoing mail: what waits, and the worker that sends it. */
export function createEmails(foundation: Foundation) {
  const { config, db, log, now, onError } = foundation
  const outbox = createOutbox(db, {
    ...{ table: "emails", owner: "account_id", hasLanes: false },
    ...{ leaseMs: limits.leaseMs, perOwnerMax: limits.perAccountMax },
  })
  const emails = createEmailStore(db, outbox)
  const outcomes = new Counter<"sent" | "failed" | "retried">()
  const transport = openTransport(config, onError)
  let problem: string | undefined
  const delivery = transport && {
    emails,
    transport,
    now,
    onOutcome: (status: "sent" | "failed" | "retried") => outcomes.increment(status),
    onAvailability(found: string | undefined) {
      // Logged once, not with every message.
      if (found !== undefined && problem === undefined)
        log.error("mail_server_unavailable", { problem: found })
      if (found === undefined && problem !== undefined) log.info("mail_server_available")
      problem = found
    },
  }
  const worker =
    delivery &&
    new OutboxWorker({
      outbox,
      send: (claim, signal) => deliverEmail(delivery, claim, signal),
      ...{ concurrencyMax: limits.atOnceMax, pollMs: limits.pollMs },
      ...{ renewMs: limits.renewMs, stopMs: limits.stopMs },
      onError,
    })
  return {
    emails,
    emailCodes: createEmailCodeStore(db),
    mail: transport ? toSettings(config) : null,
    serverUrl: config.baseUrl,
    async readSentMail() {
      if (!worker) return undefined
      const waiting = await outbox.stats().catch(() => undefined)
      return waiting && { outcomes: outcomes.list(), waiting }
    },
    mailWorker: {
      /** Tells the other nodes and all scripts whether mail is sent, then starts to send. */
      async start() {
        await emails.setNoticeSender(worker ? config.emails.noticeAddress : null)
        worker?.start()
      },
      wake: () => worker?.wake(),
      async stop() {
        await worker?.stop()
        await transport?.stop()
      },
    },
  }
}

function openTransport({ baseUrl, emails }: Config, onError: (error: unknown) => void) {
  const { relay, relayCa: ca, noticeAddress, dkimSelector: selector, dkimKey: key } = emails
  if (!relay) return undefined
  const domain = emails.domain ?? new URL(baseUrl).hostname
  const isSigned = emails.domain !== undefined && selector !== undefined && key !== undefined
  return createSmtpTransport(
    { ...relay, ca },
    { domain, noticeAddress, dkim: isSigned ? { domain, selector, key } : undefined },
    onError,
  )
}

function toSettings({ emails }: Config): MailSettings {
  const { domain, noticeAddress, fromDomains, allowsOthers, recipientsMax, bytesMax } = emails
  const { recipientsPerDay, bytesPerDay } = emails
  return {
    senders: { domain, noticeAddress, fromDomains, allowsOthers },
    ...{ recipientsMax, bytesMax },
    allowance: {
      recipientsPerDay,
      bytesPerDay,
      storedBytesMax: bytesMax * limits.storedEmailsMax,
    },
  }
}
