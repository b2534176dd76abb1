import type { DKIMResult } from "mailauth"
import { dkimVerify } from "mailauth/lib/dkim/verify"
import { dmarc } from "mailauth/lib/dmarc"
import { spf } from "mailauth/lib/spf"
import type { MailAuth } from "../../domain/mail/mail.ts"
import { noMailAuth } from "../../domain/mail/receive-mail.ts"
import type { MailJob } from "./mail-job.ts"
import { createNameResolver } from "./name-resolver.ts"

/**
 * Checks the sender with SPF, DKIM and DMARC. `fromAddress` is the only address in the `From`
 * header: it is what the val reads, and what the checks must be about.
 */
export async function checkSender(job: MailJob, fromAddress: string): Promise<MailAuth> {
  const { connection, raw, serverName, nameServers } = job
  if (!connection) return noMailAuth
  const resolver = createNameResolver(nameServers)
  const { address: ip, helo, mailFrom: sender } = connection
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  const [signed, sent] = await Promise.all([
    dkimVerify(message, { resolver, sender }),
    spf({ resolver, ip, helo, sender, mta: serverName }),
  ])
  const signatures = signed.results ?? []
  // A signature of a part of the message says nothing about the rest.
  const passed = signatures.filter(({ status }) => status.result === "pass" && !status.underSized)
  const spfDomain = sent.status.result === "pass" ? (sent.domain ?? "") : ""
  const policy = await dmarc({
    resolver,
    headerFrom: signed.headerFrom,
    spfDomains: spfDomain === "" ? [] : [spfDomain],
    dkimDomains: passed.map(({ signingDomain = "" }) => ({ domain: signingDomain })),
  })
  const dmarcResult = policy === false ? "none" : policy.status.result
  // The parsers must agree on who the sender is.
  const isOne =
    signed.headerFrom?.length === 1 && signed.headerFrom[0]?.toLowerCase() === fromAddress
  const isAligned =
    dmarcResult === "pass" ||
    (dmarcResult === "none" &&
      (passed.some(({ status }) => Boolean(status.aligned)) ||
        (sender !== "" && isSameDomain(spfDomain, fromAddress))))
  return {
    spf: sent.status.result,
    dkim: toSignatureResult(signatures),
    dmarc: dmarcResult,
    isFromVerified: isOne && isAligned,
  }
}

const bestFirst: readonly string[] = ["pass", "temperror", "fail", "policy", "neutral"]

/** The best result: one valid signature is enough. */
function toSignatureResult(signatures: readonly DKIMResult[]): string {
  const results = new Set<string>(signatures.map(({ status }) => status.result))
  return bestFirst.find((result) => results.has(result)) ?? "none"
}

function isSameDomain(domain: string, address: string): boolean {
  return domain !== "" && address.endsWith(`@${domain.toLowerCase()}`)
}
