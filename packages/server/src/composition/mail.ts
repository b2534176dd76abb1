import { Counter, minuteMs, SharedRates, traceTask } from "@hamlet/kit"
import type { Config } from "../config/config.ts"
import { assertMailConfig, toReceivingDomain } from "../config/mail.ts"
import type { SentStats } from "../domain/claims.ts"
import { createMailbox } from "../domain/mail/inbound/receive-mail.ts"
import { createTestMails } from "../domain/mail/inbound/test-mail.ts"
import { type AttemptStatus, createEmailDelivery } from "../domain/mail/outbound/deliver-email.ts"
import { createOutgoingMail, type MailSettings } from "../domain/mail/outbound/send-email.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import { ClaimWorker } from "../jobs/claim-worker.ts"
import type { MailLogFields, MailServer } from "../mail/inbound/mail-server.ts"
import { ProcessMailReader } from "../runtime/mail-reader/mail-reader.ts"
import { createRowClaims } from "../storage/claims/row-claims.ts"
import { createEmailStore } from "../storage/mail/outbound/emails.ts"
import type { Limits } from "./accounts.ts"
import type { Foundation } from "./foundation.ts"
import type { composeRuns } from "./runs.ts"
import type { Stores } from "./stores.ts"

const inboundLimits = {
  /** Servers that a message may have passed; ordinary messages pass fewer than ten. */
  hopsMax: 30,
  /** The content of mail that one account may have stored. */
  mailboxMessagesMax: 10_000,
  mailboxBytesMax: 536_870_912,
}

/** Received mail: the mailboxes of vals, the processes that read it, and mail to try a val. */
export function composeInboundMail(
  foundation: Foundation,
  stores: Stores,
  { allowances, budgets }: Limits,
  { runs, calls, queue, queueRoom }: ReturnType<typeof composeRuns>,
) {
  const { config, now, onErrorOf } = foundation
  const { domain } = config.emails
  const { smtp, acceptsGenerated, perAccountPerMinute, nameServers } = config.mail
  const mailReader = new ProcessMailReader({
    serverName: smtp.name ?? domain ?? "localhost",
    nameServers,
    messageBytesMax: config.emails.bytesMax,
    isolation: config.isolation,
    onWeak: (message) => onErrorOf("mail reader")(new Error(message)),
  })
  const mailbox = createMailbox({
    store: stores.mails,
    objects: stores.objects,
    allowances,
    queue,
    room: queueRoom,
    rules: {
      loops:
        domain === undefined
          ? undefined
          : { domain, acceptsGenerated, hopsMax: inboundLimits.hopsMax },
      mailbox: {
        messagesMax: inboundLimits.mailboxMessagesMax,
        bytesMax: inboundLimits.mailboxBytesMax,
      },
      perAccountPerMinute,
    },
    rates: new SharedRates("mails per account", minuteMs, now, budgets),
    clock: foundation,
  })
  const testMails = createTestMails({
    calls,
    runs,
    users: stores.users,
    reader: mailReader,
    mailbox,
    domain: domain ?? "localhost",
    clock: foundation,
  })
  return { mailReader, mailbox, testMails }
}

/** The SMTP server, if the operator wants one. Its code is loaded only then. */
export async function createMailServer(
  foundation: Foundation,
  { mailReader, mailbox }: ReturnType<typeof composeInboundMail>,
  { budgets }: Limits,
): Promise<MailServer | undefined> {
  const { config, log, now, onErrorOf } = foundation
  assertMailConfig(config)
  const domain = toReceivingDomain(config)
  if (domain === undefined) return undefined
  const { smtp } = config.mail
  const { certificatePath, keyPath, ...options } = smtp
  const parts = {
    mailReader,
    mailbox: {
      ...mailbox,
      receive: traceTask(foundation, "receive mail", "consumer", mailbox.receive),
    },
    messageRates: new SharedRates("mails per address", minuteMs, now, budgets),
    now,
    onError: onErrorOf("received mail"),
    logMail({ address, ...fields }: MailLogFields) {
      log.info("mail", config.hasAddressesInLog ? { address, ...fields } : fields)
    },
  }
  const { MailServer } = await import("../mail/inbound/mail-server.ts")
  return new MailServer(parts, {
    ...options,
    domain,
    messageBytesMax: config.emails.bytesMax,
    port: smtp.port ?? 0,
    name: smtp.name ?? domain,
    certificate:
      certificatePath === undefined || keyPath === undefined
        ? undefined
        : { certificatePath, keyPath },
  })
}

const outboundLimits = {
  /** Connections to the mail server, and those for one account. */
  atOnceMax: 4,
  perAccountMax: 2,
  pollMs: 2_000,
  /** A message that is being sent when the server stops gets this long. */
  stopMs: 5_000,
  /** The size of the emails of one account that wait or have failed, in emails of maximum size. */
  storedEmailsMax: 4,
}

/** Outgoing mail: its rules, and the worker that sends what waits. */
export async function composeOutboundMail(
  foundation: Foundation,
  stores: Stores,
  { quotas }: Limits,
  liveRuns: LiveRuns,
) {
  const { config, db, nodeId, onErrorOf } = foundation
  const onError = onErrorOf("outgoing mail")
  const claims = createRowClaims(db, {
    table: "emails",
    owner: "account_id",
    hasLanes: false,
    nodeId,
    perOwnerMax: outboundLimits.perAccountMax,
  })
  const emails = createEmailStore(db, claims)
  const transport = await openTransport(config, onError)
  const outcomes = new Counter<AttemptStatus>()
  const { atOnceMax: concurrencyMax, pollMs, stopMs } = outboundLimits
  const observer = {
    onOutcome: (status: AttemptStatus) => outcomes.increment(status),
    onAvailability: createAvailabilityLog(foundation),
  }
  const worker =
    transport &&
    new ClaimWorker({
      claims,
      work: traceTask(
        foundation,
        "send mail",
        "client",
        createEmailDelivery({ store: emails, transport, observer, clock: foundation }),
      ),
      concurrencyMax,
      pollMs,
      stopMs,
      onError,
    })
  const mailWorker = {
    /** Tells the other nodes and all scripts whether mail is sent, then starts to send. */
    async start() {
      await emails.setNoticeSender(worker ? config.emails.noticeAddress : null)
      worker?.start()
    },
    wake: () => worker?.wake(),
    loseAll: () => worker?.loseAll(),
    async stop() {
      await worker?.stop()
      await transport?.stop()
    },
  }
  const settings = transport ? toSettings(config) : null
  return {
    emails,
    mailWorker,
    outgoingMail: createOutgoingMail({
      store: emails,
      settings,
      stores,
      liveRuns,
      quotas,
      sending: mailWorker,
      clock: foundation,
    }),
    /** Undefined if the server sends no mail, or cannot count what waits. */
    async readSentMail(): Promise<SentStats | undefined> {
      const waiting = worker && (await claims.stats().catch(() => undefined))
      return waiting && { outcomes: outcomes.list(), ...waiting }
    },
  }
}

/** Logs when the mail server becomes unavailable, and when it is back: not with every message. */
function createAvailabilityLog({ log }: Foundation) {
  let problem: string | undefined
  return (found: string | undefined) => {
    if (found !== undefined && problem === undefined)
      log.error("mail_server_unavailable", { problem: found })
    if (found === undefined && problem !== undefined) log.info("mail_server_available")
    problem = found
  }
}

async function openTransport({ baseUrl, emails }: Config, onError: (error: unknown) => void) {
  const { relay, relayCa: ca, noticeAddress, dkimSelector: selector, dkimKey: key } = emails
  if (!relay) return undefined
  const domain = emails.domain ?? new URL(baseUrl).hostname
  const isSigned = emails.domain !== undefined && selector !== undefined && key !== undefined
  const { createSmtpTransport } = await import("../mail/outbound/smtp-transport.ts")
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
    recipientsMax,
    bytesMax,
    allowance: {
      recipientsPerDay,
      bytesPerDay,
      storedBytesMax: bytesMax * outboundLimits.storedEmailsMax,
    },
  }
}
