import { dmarc } from "mailauth/lib/dmarc"
import { spf } from "mailauth/lib/spf"
import type { MailConnection } from "../../domain/mail/inbound/mail.ts"
import { serveJobs } from "../../shared/threads/serve-jobs.ts"
import { createNameResolver } from "./name-resolver.ts"
import { recordNames, type SenderFindings, type SenderNames } from "./sender-records.ts"

/** A sender that name servers are asked about. */
export interface LookupJob {
  readonly connection: MailConnection
  readonly names: SenderNames
  /** The name of this server. */
  readonly serverName: string
  /** Name servers; undefined for those of the machine. */
  readonly nameServers: readonly string[] | undefined
}

/**
 * Checks SPF, and finds the records that the checks of DKIM and DMARC need. It is done before the
 * message is read, since the process that reads it has no network. Which signatures are valid is
 * not known yet, so this asks about all of them.
 */
async function lookUpSender(job: LookupJob): Promise<SenderFindings> {
  const { connection, names, serverName, nameServers } = job
  const resolver = createNameResolver(nameServers)
  const recorded = recordNames(resolver)
  const { address: ip, helo, mailFrom: sender } = connection
  const [sent] = await Promise.all([
    spf({ resolver, ip, helo, sender, mta: serverName }),
    // What is wrong with a key is recorded.
    ...names.keyNames.map((name) => recorded(name, "TXT").catch(() => {})),
  ])
  const { result } = sent.status
  const domain = result === "pass" ? (sent.domain ?? "") : ""
  await dmarc({
    resolver: recorded,
    headerFrom: [...names.headerFrom],
    spfDomains: domain === "" ? [] : [domain],
    dkimDomains: names.signingDomains.map((signing) => ({ domain: signing })),
  })
  return { spf: { result, domain }, records: recorded.list() }
}

serveJobs<LookupJob, SenderFindings>(async (job) => ({ result: await lookUpSender(job) }))
