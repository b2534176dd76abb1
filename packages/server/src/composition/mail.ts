import { assertMailConfig, toReceivingDomain } from "../config/mail.ts"
import type { ObjectStore } from "../domain/blobs/objects.ts"
import { readMailInput } from "../domain/mail/mail-inputs.ts"
import { ThreadMailReader } from "../mail/mail-reader.ts"
import { type MailLogFields, MailServer, type MailServerDeps } from "../mail/mail-server.ts"
import { TokenBuckets } from "../shared/token-bucket.ts"
import { createMailStore } from "../storage/mail/mails.ts"
import type { Foundation } from "./foundation.ts"

const limits = {
  /** Servers that a message may have passed; ordinary messages pass fewer than ten. */
  hopsMax: 30,
  /** The content of mail that one account may have stored. */
  mailboxMessagesMax: 10_000,
  mailboxBytesMax: 536_870_912,
}

/** Received mail: where it is stored, who may send it, and the threads that read it. */
export function createMail({ config, db, now }: Foundation, objects: ObjectStore) {
  const { domain } = config.emails
  const { smtp, acceptsGenerated, perAccountPerMinute, nameServers } = config.mail
  const mails = createMailStore(db)
  return {
    mails,
    mailInputs: { read: (messageId: string) => readMailInput({ mails, objects }, messageId) },
    mailReader: new ThreadMailReader({
      serverName: smtp.name ?? domain ?? "localhost",
      nameServers,
    }),
    mailRates: new TokenBuckets(60_000, now),
    mailRules: {
      loops:
        domain === undefined ? undefined : { domain, acceptsGenerated, hopsMax: limits.hopsMax },
      mailbox: { messagesMax: limits.mailboxMessagesMax, bytesMax: limits.mailboxBytesMax },
      perAccountPerMinute,
    },
  }
}

/** The SMTP server, if the operator wants one. */
export function createMailServer(
  { config, log }: Foundation,
  deps: Omit<MailServerDeps, "logMail">,
): MailServer | undefined {
  assertMailConfig(config)
  const domain = toReceivingDomain(config)
  if (domain === undefined) return undefined
  const { smtp } = config.mail
  const { certificatePath, keyPath, ...options } = smtp
  const server = {
    ...deps,
    logMail({ address, ...fields }: MailLogFields) {
      log.info("mail", config.hasAddressesInLog ? { address, ...fields } : fields)
    },
  }
  return new MailServer(server, {
    ...{ ...options, domain, messageBytesMax: config.emails.bytesMax },
    port: smtp.port ?? 0,
    name: smtp.name ?? domain,
    certificate:
      certificatePath === undefined || keyPath === undefined
        ? undefined
        : { certificatePath, keyPath },
  })
}
